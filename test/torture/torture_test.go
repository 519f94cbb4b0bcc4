package torture

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/cli/sparkrun"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
)

var (
	minutes = flag.Float64("minutes", 0, "how long TestTorture runs; 0 skips it")
	seed    = flag.Uint64("seed", 0, "seed of the schedule; 0 draws one")
	gap     = flag.Duration("gap", 3*time.Second, "mean time between two faults")
	file    = flag.String("tally", "../../out/torture.jsonl", "where the counts go")
)

// atOnce is how many applications run at a time.
const atOnce = 3

func TestMain(m *testing.M) {
	// They halve the CPU time of drivers, which compute nothing.
	if err := os.Setenv("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"); err != nil {
		panic(err)
	}
	code := m.Run()
	if os.Getenv("PACER_TEST_SPARK") != "" {
		realenv.Remove()
	}
	os.Exit(code)
}

func endless() context.Context { return context.Background() }

// world is a cluster with applications that are tormented.
type world struct {
	c    *cluster
	h    *history
	over chan struct{} // Closed when nothing is to last any longer.

	mu    sync.Mutex
	apps  []*application
	tally Tally
}

func newWorld(c *cluster) *world { return &world{c: c, h: newHistory(), over: make(chan struct{})} }

// current are the applications that run.
func (w *world) current() []*application {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*application
	for _, a := range w.apps {
		if a.running() {
			out = append(out, a)
		}
	}
	return out
}

// TestTorture runs three applications at a time, each with a deadline, on a cluster to which a
// schedule of faults happens, and adds what it counts to a file.
func TestTorture(t *testing.T) {
	realenv.RequireSpark(t)
	if *minutes <= 0 {
		t.Skip("takes as long as is asked for: make torture ARGS='-minutes 30'")
	}
	drawn := *seed
	if drawn == 0 {
		drawn = uint64(time.Now().UnixNano()) % 1_000_000
	}
	length := time.Duration(*minutes * float64(time.Minute))
	want := wanted(t)
	c := newCluster(t, 3)
	undisturbed := c.record(want)
	t.Logf("seed %d; undisturbed it takes %.1f s and %.1f core-seconds, %.1f of them in tasks", drawn, undisturbed.took, undisturbed.work, undisturbed.tasks)
	w := newWorld(c)
	schedule := Draw(drawn, length, *gap, c.names)
	for _, f := range schedule {
		t.Log(f)
	}
	var users sync.WaitGroup
	for i := range atOnce {
		users.Go(func() { w.user(i, drawn, length, want, undisturbed) })
	}
	var faults sync.WaitGroup
	for _, f := range schedule {
		w.pause(time.Until(w.h.began.Add(f.At)))
		faults.Go(func() {
			if w.carryOut(f) {
				w.count(f)
			}
		})
	}
	faults.Wait()
	users.Wait()
	w.end()
	w.keep(drawn)
}

func (w *world) count(f Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tally.Count(f)
}

// wanted is the workload's answer.
func wanted(t *testing.T) string {
	t.Helper()
	body, err := os.ReadFile(answer)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(body))
}

// user submits one application after the other until the schedule is over.
func (w *world) user(number int, seed uint64, length time.Duration, want string, u undisturbed) {
	deadlines := drawDeadlines(seed, number)
	for n := 0; time.Since(w.h.began) < length; n++ {
		// Its part of the capacity, undisturbed, and its start beside the others'.
		least := Margin * (u.idle + u.work*atOnce/(cores*float64(len(w.c.names))))
		a, err := w.c.submit(nameOf(number, n), time.Duration(least*deadlines()*float64(time.Second)))
		if err != nil {
			w.c.t.Error(err)
			return
		}
		w.mu.Lock()
		w.apps = append(w.apps, a)
		w.mu.Unlock()
		w.h.begin(a)
		hung := !poll(a.deadline*2+3*time.Minute, func() bool { return !a.running() })
		if hung {
			_ = a.run.Stop(grace)
		}
		w.h.end(a)
		w.judge(a, want, u, hung)
		w.pause(again)
	}
}

// judge judges an application that has ended.
func (w *world) judge(a *application, want string, u undisturbed, hung bool) {
	j := Judge(a.ended(w.h, want, u, hung))
	w.mu.Lock()
	w.tally.Take(j)
	w.mu.Unlock()
	if j.Ending == Lost || j.Ending == Wrong || j.Possible && j.Late {
		w.c.t.Errorf("%v: %s, possible %v, late %v: %s\n%s", a, j.Ending, j.Possible, j.Late, j.Why, sparkrun.Tail(a.run.Output(), 3000))
		return
	}
	w.c.t.Logf("%5.1f s %v: %s, possible %v, late %v: %s", time.Since(w.h.began).Seconds(), a, j.Ending, j.Possible, j.Late, j.Why)
}

// end stops the cluster and looks for what is left.
func (w *world) end() {
	t, c := w.c.t, w.c
	if !poll(time.Minute, func() bool { return len(c.executors("")) == 0 }) {
		for _, p := range c.executors("") {
			t.Errorf("a minute after the last application: %v", p)
			w.tally.Orphans++
		}
	}
	for _, node := range c.names {
		c.nodes[node].stop()
	}
	for _, p := range c.planners {
		p.stop()
	}
	c.nats.stop()
	for _, node := range c.names {
		if err := syscall.Unmount(c.work(node), 0); err != nil {
			t.Errorf("unmount the disk of %s: %v", node, err)
		}
	}
	var left []string
	poll(10*time.Second, func() bool {
		left = c.leftovers()
		return len(left) == 0
	})
	for _, what := range left {
		t.Errorf("left: %s", what)
	}
	w.tally.Orphans += len(left)
}

// keep writes the tally.
func (w *world) keep(seed uint64) {
	t := w.c.t
	w.tally.Date, w.tally.Seed, w.tally.Took = time.Now().UTC(), seed, time.Since(w.h.began)
	var err error
	if w.tally.Sources, err = benchline.Sources("../.."); err == nil {
		err = Add(*file, w.tally)
	}
	if err != nil {
		t.Error(err)
	}
	t.Logf("%+v", w.tally)
}

// keepLogs copies the daemons' logs to out where a test has failed.
func keepLogs(t *testing.T, c *cluster) {
	if !t.Failed() {
		return
	}
	logs, _ := filepath.Glob(filepath.Join(c.dir, "*.log"))
	to := filepath.Join("..", "..", "out", "torture", filepath.Base(c.dir)+time.Now().Format("-150405"))
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Error(err)
		return
	}
	for _, log := range logs {
		if body, err := os.ReadFile(log); err == nil {
			_ = os.WriteFile(filepath.Join(to, filepath.Base(log)), body, 0o644)
		}
	}
	t.Logf("logs are in %s", to)
}
