package daemon

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/executor"
)

func TestAnArchiveIsDueOnAnIdleNodeOrAfterALongWait(t *testing.T) {
	w := wishes{dropped: map[string]bool{}}
	start := time.Unix(1000, 0)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	a, b := executor.Archive{Key: "a"}, executor.Archive{Key: "b"}
	expect := func(d time.Duration, idle bool, key string, yields bool) {
		t.Helper()
		got, y, ok := w.due(at(d), idle)
		if got.Key != key || ok != (key != "") || y != yields {
			t.Errorf("after %v: %q (yields %v), want %q (%v)", d, got.Key, y, key, yields)
		}
	}
	expect(0, true, "", false)
	w.add(a, at(time.Second))
	w.add(b, at(2*time.Second))
	w.add(a, at(3*time.Second))
	expect(archiveQuiet-time.Second, true, "", false)
	expect(archiveQuiet, true, "a", true)
	expect(archiveQuiet+time.Second, false, "", false)
	expect(archiveQuiet+2*time.Second, true, "", false)
	expect(2*archiveQuiet+2*time.Second, true, "a", true)
	w.drop("a")
	w.add(a, at(time.Minute))
	expect(2*archiveQuiet+3*time.Second, true, "b", true)
	expect(archivePatience, false, "", false)
	expect(archivePatience+2*time.Second, false, "b", false)
	w.drop("b")
	expect(2*archivePatience, true, "", false)
}

// archiveBench is a node of which only the archives are real: making one takes a minute.
type archiveBench struct {
	*archives
	busy  atomic.Bool
	fault error
	begun atomic.Int32
	made  atomic.Int32
	said  bytes.Buffer
}

func newArchiveBench(t *testing.T) (*archiveBench, api.Launch) {
	t.Helper()
	t.Setenv("SPARK_HOME", "")
	dir := t.TempDir()
	for _, name := range []string{"spark/jars/spark-core_2.13-4.3.0.jar", "java/bin/java", "java/lib/server/libjvm.so", "pacer.jar"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b := &archiveBench{}
	b.archives = newArchives(executor.NodeSettings{Jar: filepath.Join(dir, "pacer.jar"), Archives: filepath.Join(dir, "archive")},
		slog.New(slog.NewTextHandler(&b.said, nil)), func() bool { return !b.busy.Load() },
		func(ctx context.Context, _ executor.Archive) error {
			b.begun.Add(1)
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(time.Minute):
				b.made.Add(1)
				return b.fault
			}
		})
	return b, api.Launch{SparkHome: filepath.Join(dir, "spark"), JavaHome: filepath.Join(dir, "java"), SparkVersion: "4.3.0"}
}

// during runs the archives' actor for a while in virtual time.
func (b *archiveBench) during(t *testing.T, f func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.run(ctx) }()
	f()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestExecutorsThatComeInterruptAMaking(t *testing.T) {
	b, launch := newArchiveBench(t)
	synctest.Test(t, func(t *testing.T) {
		b.asks = make(chan executor.Archive, 16)
		b.during(t, func() {
			b.busy.Store(true)
			b.seen(launch, executor.Credential{})
			time.Sleep(time.Minute)
			if n := b.begun.Load(); n != 0 {
				t.Errorf("%d makings beside executors", n)
			}
			b.busy.Store(false)
			time.Sleep(archiveQuiet + 10*time.Second)
			if n := b.begun.Load(); n != 1 {
				t.Errorf("%d makings on an idle node, want 1", n)
			}
			b.busy.Store(true)
			time.Sleep(2 * time.Minute)
			if n := b.made.Load(); n != 0 {
				t.Error("the making went on beside executors")
			}
			b.busy.Store(false)
			time.Sleep(archiveQuiet + 2*time.Minute)
		})
	})
	if b.begun.Load() != 2 || b.made.Load() != 1 || !strings.Contains(b.said.String(), "class-data archive made") {
		t.Errorf("%d begun, %d made: %s", b.begun.Load(), b.made.Load(), b.said.String())
	}
}

func TestAFailedArchiveIsSaidOnceAndNotTriedAgain(t *testing.T) {
	b, launch := newArchiveBench(t)
	b.fault = errors.New("no class of that name")
	synctest.Test(t, func(t *testing.T) {
		b.asks = make(chan executor.Archive, 16)
		b.during(t, func() {
			for range 5 {
				b.seen(launch, executor.Credential{})
				time.Sleep(5 * time.Minute)
			}
		})
	})
	if n := strings.Count(b.said.String(), "no class of that name"); b.begun.Load() != 1 || n != 1 {
		t.Errorf("%d makings, said %d times: %s", b.begun.Load(), n, b.said.String())
	}
}

func TestWhyThereCanBeNoArchiveIsSaidOnce(t *testing.T) {
	b, launch := newArchiveBench(t)
	launch.ClassPath = []string{t.TempDir()}
	for range 3 {
		b.seen(launch, executor.Credential{})
	}
	if n := strings.Count(b.said.String(), "directory "+launch.ClassPath[0]); n != 1 || len(b.asks) != 0 {
		t.Errorf("said %d times, %d asked for: %s", n, len(b.asks), b.said.String())
	}
}

func TestArchivesCanBeSwitchedOff(t *testing.T) {
	c := NodeConfig{State: "/state"}
	for setting, want := range map[string]string{"": "/state/archive", NoArchives: "", "/shared": "/shared"} {
		if c.Archives = setting; c.ArchiveDir() != want {
			t.Errorf("%q: %q, want %q", setting, c.ArchiveDir(), want)
		}
	}
	var none *archives
	none.seen(api.Launch{}, executor.Credential{}) // A node without archives asks for none.
}
