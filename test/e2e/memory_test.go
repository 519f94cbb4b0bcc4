package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

// TestMemoryMoves caches blocks off the heap in an application that is alone on its node, and
// so has all memory that the heaps leave. Another one comes: the first is shrunk to half of
// that, its blocks are evicted, and its queries go on. When the other one has gone it grows
// back. No executor is restarted, and all answers are the same.
func TestMemoryMoves(t *testing.T) {
	realenv.RequireSpark(t)
	t.Parallel()
	const (
		heap, overhead = 512 * units.MiB, 384 * units.MiB
		memory         = 2052 * units.MiB
		alone          = memory - heap - overhead
		beside         = (memory - 2*(heap+overhead)) / 2
	)
	s := realenv.StartUp(t, "--set", "node.memory="+memory.String())
	stop := filepath.Join(t.TempDir(), "stop")
	small := []string{"--conf", "spark.sql.shuffle.partitions=4", "--conf", "spark.executor.memory=512m", "--conf", "spark.pacer.memory.floor=128m"}
	run := s.Submit(append(small, "--name", "offheap", "testdata/offheap.py", stop, "3000000")...)

	first := awaitTasks(t, s, run).ID
	// grown waits until the first application's executor has that much, and has gone on.
	grown := func(what string, want units.Bytes) api.ExecutorMemory {
		t.Helper()
		var m api.ExecutorMemory
		s.Await(what, patience, func() bool {
			app := s.App(first)
			if len(app.Executors) != 1 || app.State != api.AppRunning {
				t.Fatalf("%s: it is %s: %+v", what, app.State, app.Executors)
			}
			m = app.Executors[0].Memory
			return m.OffHeap == want && m.Owed == 0
		})
		rounds := strings.Count(run.Answer(), "round")
		s.Await("another round of queries", patience, func() bool { return strings.Count(run.Answer(), "round") > rounds })
		return m
	}
	bounded := false
	if m := grown("the application to have all memory", alone); m.Fixed || m.Heap <= 0 || m.Limit != 0 && m.Limit != memory {
		t.Errorf("alone: %+v", m)
	} else if bounded = m.Limit != 0; !bounded {
		t.Log("its group has no memory limit on this machine")
	}
	other := s.Submit(append(small, "--name", "other", "testdata/chain.py", "0.5")...)
	shrunk := grown("the application to shrink to its share", beside)
	if shrunk.Evicted < 20*units.MiB {
		t.Errorf("%v were evicted of some 200 MiB", shrunk.Evicted)
	}
	// The limit comes down after that, while this is told.
	if bounded && (shrunk.Limit < heap+overhead+beside || shrunk.Limit > memory) {
		t.Errorf("its limit is %v with %v off the heap", shrunk.Limit, shrunk.OffHeap)
	}
	if code := other.Wait(patience); code != 0 {
		t.Fatalf("the other one: exit %d", code)
	}
	grown("the application to grow back", alone)
	if err := os.WriteFile(stop, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if code := run.Wait(patience); code != 0 {
		t.Fatalf("exit %d", code)
	}
	if got := strings.Count(run.Answer(), "RESULT"); got != 1 {
		t.Errorf("%d different answers:\n%s", got, run.Answer())
	}
	var app api.AppDetail
	s.Await("the run to be finished", patience, func() bool { app = s.App(first); return app.State == api.AppFinished })
	if len(app.Executors) != 1 {
		t.Errorf("executors %+v", app.Executors)
	}
	_, said := s.Pacer("apps", "show", string(first))
	if !strings.Contains(said, "memory: moved ") {
		t.Errorf("it says\n%s", said)
	}
	t.Logf("it moved %d times in %v, %v evicted, %v spilled", app.Executors[0].Memory.Moves, app.Executors[0].Memory.Moving, shrunk.Evicted, app.Executors[0].Memory.Spilled)
}
