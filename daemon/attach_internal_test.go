package daemon

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor/attached"
	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/node/meter"
)

const attachedGroup = "/hadoop-yarn/container_1700000000000_0001_01_000002"

var attachedLaunch = api.Launch{DriverURL: "spark://d@h:1", Attach: (&api.Attach{Manager: api.ManagerYARN, App: "application_1_0001",
	Secret: strings.Repeat("5e", 16)}).On("b1")}

// attachmentOn is an attachment to the processes of a fake /proc.
func attachmentOn(t *testing.T) (a *attachment, proc string) {
	t.Helper()
	tree, proc := cgrouptest.New(t, cgrouptest.V1Separate), t.TempDir()
	tree.SetQuota(t, attachedGroup, 150000, 100000)
	tree.Use(t, attachedGroup, 0, 0)
	others, err := cgroup.OpenOthers(tree.Root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = others.Close() })
	r, err := attached.New(attached.Config{Groups: others, Root: tree.Root, Parent: "pacer/node-n", State: t.TempDir(), Boot: "b1", CPUs: 4, Proc: proc})
	if err != nil {
		t.Fatal(err)
	}
	return newAttachment(r, nil, slog.New(slog.NewTextHandler(io.Discard, nil)), nil), proc
}

// runExecutor has a fake process show the command line of executor 1, and the page of a where that is not nil.
func runExecutor(t *testing.T, proc string, pid int, a *api.Attach) (page string) {
	t.Helper()
	dir := filepath.Join(proc, strconv.Itoa(pid))
	page = filepath.Join(t.TempDir(), attached.PageName("1"))
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	err = errors.Join(err, os.MkdirAll(filepath.Join(dir, "fd"), 0o755))
	for name, text := range map[string]string{
		"cmdline": strings.Join([]string{"java", "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend", "--driver-url", "spark://d@h:1",
			"--executor-id", "1", "--cores", "2", "--app-id", "application_1_0001"}, "\x00") + "\x00",
		"stat":      fmt.Sprintf("%d (java) S 1 %d %d 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 30 0 99 1 1\n", pid, pid, pid),
		"status":    fmt.Sprintf("Name:\tjava\nUid:\t0\t0\t0\t%d\nCpus_allowed_list:\t0-3\n", os.Getuid()),
		"cgroup":    "5:cpuacct:" + attachedGroup + "\n4:cpu:" + attachedGroup + "\n",
		"mountinfo": string(mounts),
	} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	if a != nil {
		err = errors.Join(err, progress.Create(page, -1, -1))
		w, writerErr := progress.NewWriter(page, pid)
		if err = errors.Join(err, writerErr); err == nil {
			w.Prove(a.Proof("1", pid, 99))
			w.Publish(&meter.Page{At: 1})
			err = errors.Join(w.Close(), os.Symlink(page, filepath.Join(dir, "fd", "5")))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// A driver that names executors without end has no more of them sought than a machine has, and keeps nobody else's out.
func TestAttackExecutorsAreNamedWithoutEnd(t *testing.T) {
	a, _ := attachmentOn(t)
	refused := 0
	for i := range 2 * mostSought {
		if err := a.Start(t.Context(), node.Key{App: "app-evil", ID: api.ExecutorID(strconv.Itoa(i + 1))}, attachedLaunch, false); err != nil {
			if refused++; api.KindOf(err) != api.KindInvalid {
				t.Fatal(err)
			}
		}
	}
	if refused != mostSought || len(a.sought) != mostSought {
		t.Errorf("%d are refused, %d sought", refused, len(a.sought))
	}
	if err := a.Start(t.Context(), node.Key{App: "app-hers", ID: "1"}, attachedLaunch, false); err != nil {
		t.Errorf("another application: %v", err)
	}
}

// What is not found is looked for less and less often.
func TestAttackWhatIsNotThereIsSoughtForever(t *testing.T) {
	now, b, looks := time.Unix(1, 0), backoff{}, 0
	for range 4 * 3600 {
		if b.due(now, seekEvery, seekLast) {
			looks++
		}
		now = now.Add(seekEvery)
	}
	if looks < 200 || looks > 240 {
		t.Errorf("%d looks in an hour", looks)
	}
}

// An executor is not given up as another application's before it has had time to come, whatever others show.
func TestAttackAProcessShowsAnotherSecretFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, proc := attachmentOn(t)
		other := *attachedLaunch.Attach
		other.Secret = strings.Repeat("0", api.LeastSecret)
		runExecutor(t, proc, 4300, &other)
		key := node.Key{App: "app-hers", ID: "1"}
		if err := a.Start(t.Context(), key, attachedLaunch, false); err != nil {
			t.Fatal(err)
		}
		if got := a.List(nil); len(got) != 0 {
			t.Fatalf("it is shown as %+v", got)
		}
		runExecutor(t, proc, 4242, attachedLaunch.Attach)
		time.Sleep(2 * time.Second)
		if !a.find(t.Context(), key, a.sought[key]) {
			t.Fatal("it is not found")
		}
		if got := a.List(nil); len(got) != 1 || got[0].PID != 4242 || got[0].Exited {
			t.Fatalf("it is shown as %+v", got)
		}
		// What shows another secret for long is refused to who has asked for it.
		stranger := node.Key{App: "app-strange", ID: "1"}
		launch := attachedLaunch
		launch.Attach = (&api.Attach{Manager: api.ManagerYARN, App: "application_1_0001", Secret: strings.Repeat("ab", 16)}).On("b1")
		if err := a.Start(t.Context(), stranger, launch, false); err != nil {
			t.Fatal(err)
		}
		s := a.sought[stranger]
		if a.find(t.Context(), stranger, s) {
			t.Error("it is refused at once")
		}
		time.Sleep(doubtFor)
		if !a.find(t.Context(), stranger, s) {
			t.Error("it is sought still")
		}
		if got := a.List(nil); len(got) != 2 || !got[0].Refused && !got[1].Refused {
			t.Errorf("shown are %+v", got)
		}
	})
}

// The loop opens no page: it has what was opened beside it, and asks for another one where that is cut.
func TestAttackTheLoopWaitsForAPage(t *testing.T) {
	a, proc := attachmentOn(t)
	path := runExecutor(t, proc, 4242, attachedLaunch.Attach)
	key := node.Key{App: "app-hers", ID: "1"}
	if err := a.Start(t.Context(), key, attachedLaunch, false); err != nil {
		t.Fatal(err)
	}
	var got meter.Page
	if err := (pagesOf{a}).Read(key, &got); err != nil || got.At != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	x := a.get(key)
	if x.wanted.Load() {
		t.Error("it wants a page")
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if err := (pagesOf{a}).Read(key, &got); !errors.Is(err, progress.ErrTruncated) || !x.wanted.Load() {
		t.Fatalf("it wants one: %v, %v", x.wanted.Load(), err)
	}
	if err := os.RemoveAll(filepath.Join(proc, "4242", "fd")); err != nil { // To look at it would be another error.
		t.Fatal(err)
	}
	for range 3 {
		if err := (pagesOf{a}).Read(key, &got); !errors.Is(err, errNoPage) {
			t.Fatalf("error %v", err)
		}
	}
	runExecutor(t, proc, 4242, attachedLaunch.Attach)
	a.open(x)
	if err := (pagesOf{a}).Read(key, &got); err != nil {
		t.Error(err)
	}
	if err := a.Stop(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if pagesOf.Forget(pagesOf{a}, key); x.page != nil || len(a.gone) != 0 {
		t.Error("its page is open still")
	}
}

// An executor whose container may use less than its cores is planned with that, and its node says so once.
func TestALimitBelowTheCoresIsSaid(t *testing.T) {
	a, proc := attachmentOn(t)
	var said strings.Builder
	a.log = slog.New(slog.NewTextHandler(&said, nil))
	runExecutor(t, proc, 4300, attachedLaunch.Attach)
	if err := a.Start(t.Context(), node.Key{App: "app-1", ID: "1"}, attachedLaunch, false); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(said.String(), "below its cores"); n != 1 || !strings.Contains(said.String(), "limit=1.50 cores=2.00") {
		t.Errorf("%d lines of %s", n, said.String())
	}
}
