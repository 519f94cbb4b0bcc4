package command

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/cli/config"
)

// page collects what a daemon prints.
type page struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// await returns the last line with what once there are n of them.
func (p *page) await(t *testing.T, what string, n int) string {
	t.Helper()
	tick, limit := time.NewTicker(5*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		if text := p.String(); strings.Count(text, what) >= n {
			rest := text[strings.LastIndex(text, what):]
			line, _, _ := strings.Cut(rest, "\n")
			return line
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%q: not %d times within a minute:\n%s", what, n, p.String())
		}
	}
}

// hangUp sends this process SIGHUP, which somebody has caught.
func hangUp(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}

// A planner that runs takes what may change live, names what needs a restart, and with a fault
// anywhere changes nothing.
func TestAPlannerReloadsItsConfiguration(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("planner: {"+text+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PACER_CREDENTIALS_DIR", dir)
	write("max-pool: 4")
	out, log := &page{}, &page{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- RunPlanner(ctx, []string{"--config", file, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--state-dir", filepath.Join(dir, "state"), "--log-level", "info"},
			strings.NewReader(""), out, log)
	}()
	out.await(t, "planner ready", 1)

	write("max-pool: 3, history: 7, max-nodes: 3, queue-rule: flexible, queue: sjf, queue-size: time-units, admission: pythia, late: refuse")
	hangUp(t)
	if line := log.await(t, "SIGHUP: changed", 1); !strings.Contains(line, ": planner.max-pool, planner.queue-rule, planner.queue, planner.queue-size, planner.admission, planner.late\"") {
		t.Error(line)
	}
	if line := log.await(t, "SIGHUP: needs a restart", 1); !strings.Contains(line, ": planner.max-nodes, planner.history\"") {
		t.Error(line)
	}

	write("max-pool: 0, profiles: 0, placement: lottery, queue-rule: luck, queue: lifo, admission: oracle, late: never")
	hangUp(t)
	if line := log.await(t, "nothing is changed", 1); !strings.Contains(line, "max-pool") || !strings.Contains(line, "profiles") || !strings.Contains(line, "lottery") || !strings.Contains(line, "luck") || !strings.Contains(line, "lifo") || !strings.Contains(line, "oracle") || !strings.Contains(line, "never") {
		t.Errorf("not all faults: %s", line)
	}
	write("driver-lots: 1s, max-pool: much, driver-lost: 90s")
	hangUp(t)
	if line := log.await(t, "nothing is changed", 2); !strings.Contains(line, "driver-lots") || !strings.Contains(line, "planner.max-pool: ") || !strings.Contains(line, "is fixed: 60s") {
		t.Errorf("not all faults: %s", line)
	}

	// What failed has changed nothing: what holds is what was taken first.
	write("max-pool: 3, queue-rule: flexible, queue: sjf, queue-size: time-units, admission: pythia, late: refuse")
	hangUp(t)
	log.await(t, "SIGHUP: the configuration is what it was", 1)
	cancel()
	if code := <-ended; code != ExitOK {
		t.Errorf("exit %d:\n%s", code, log.String())
	}
}

// The log level changes with the file, unless a flag says it.
func TestALoggerFollowsTheReloadedLevel(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	level := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("log: {level: "+text+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	level("error")
	log := &page{}
	sh := NewShell("planner", nil, io.Discard, log)
	sh.ConfigPath = file
	cfg, follows, err := sh.daemonConfig(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &reloader{cfg: cfg, level: follows, log: cfg.Planner.Logger, sections: []string{"log."}, read: sh.Config,
		check: func(config.Config) error { return nil }, apply: func(context.Context, config.Config) error { return nil }}
	cfg.Planner.Logger.Info("not said")
	level("debug")
	r.reload(t.Context())
	cfg.Planner.Logger.Debug("said")
	if text := log.String(); strings.Contains(text, "not said") || !strings.Contains(text, "msg=said") {
		t.Error(text)
	}
}

func TestSIGHUPEndsWhatIsToEndByIt(t *testing.T) {
	ctx, stop := endsOnHangup(t.Context())
	defer stop()
	hangUp(t)
	<-ctx.Done()
}
