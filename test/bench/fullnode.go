package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

// fullSize is how many executors the node has, fullTime how long its ticks
// are watched.
const (
	fullSize = 200
	fullTime = 30 * time.Second
)

// The child's environment: the planner's address, its own for metrics, its state, and where
// the operator's credential is.
const fullPlanner, fullHTTP, fullState, fullCredentials = "PACER_FULL_PLANNER", "PACER_FULL_HTTP", "PACER_FULL_STATE",
	"PACER_FULL_CREDENTIALS"

// fullName is the node's name; the child has the parent's id in it.
func fullName(pid int) string { return fmt.Sprintf("full-%d", pid) }

// runFullNode is the node controller of fullNode, in a process of its own so that its
// memory can be told.
func runFullNode(ctx context.Context) error {
	n := fakeNode(fullName(os.Getppid()), os.Getenv(fullPlanner), os.Getenv(fullHTTP), os.Getenv(fullState), fullSize)
	n.Owners = []daemon.Owner{owner(os.Getenv(fullCredentials))}
	n.Ready = func(line string) { fmt.Println(line) }
	return daemon.Node(ctx, n)
}

// fullNode measures a node controller with 200 executors of one application, each
// at work on a stage of its own: real cgroup files, real pages, no processes. The
// tick is the whole of it, from the list of executors to the last quota written,
// after half a second in which all of it has left the CPU's caches; the encoding
// of statuses and saves goes on beside it and is not in it. Both CPUs have to be
// free for a figure that means something: the tick reads from two sides.
func fullNode(t testing.TB, add adder) {
	r, planner := startPlanner(t, fullSize, peers{})
	state := t.TempDir()
	r.state = state
	env := []string{fullPlanner + "=" + planner, fullHTTP + "=" + r.http, fullState + "=" + state, fullCredentials + "=" +
		r.owner.Dir}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := realenv.Start(t, env, self, fullChild)
	child.Await("ready", 20*time.Second)
	r.node = fullName(os.Getpid())
	t.Cleanup(func() {
		child.Stop()
		left := r.below()
		cgrouptest.Clear(t, left)
		if err := left.Remove(context.Background()); err != nil {
			t.Error(err)
		}
	})

	reply := r.register(sideBySide(fullSize), 7200)
	if n := len(reply.Directive.Executors); n != fullSize {
		t.Fatalf("%d executors, want %d", n, fullSize)
	}
	pages := &fullPages{}
	var events []api.Event
	for i, x := range reply.Directive.Executors {
		pages.open(t, executor.Layout{Root: filepath.Join(state, "work")}, r.app, x.ID, i)
		events = append(events, api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: x.ID}}, ready(i, x.ID))
	}
	pages.publish(t)
	r.send(events...)
	groups := r.below()
	for _, x := range reply.Directive.Executors {
		r.awaitQuota(r.groupOf(groups, x.ID), true)
	}
	spent, ticks := loopTime(t, r)
	select {
	case <-time.After(fullTime):
	case <-child.Done():
		t.Fatal("the node controller ended")
	}
	later, more := loopTime(t, r)
	add("node.tick_us.200", benchline.One(1e6*(later-spent)/(more-ticks)), "us")
	add("rss.node_mib.200", benchline.One(residentMiB(t, child.PID())), "MiB")
}

// sideBySide is a profile of n stages that depend on nothing.
func sideBySide(n int) api.Profile {
	p := chain(n)
	p.Name = "bench-full-node"
	for i := range p.Stages {
		p.Stages[i].Job = 0
	}
	return p
}

// fullPages are the executors' pages, all written by one goroutine.
type fullPages struct{ writers []*progress.Writer }

func (c *fullPages) open(t testing.TB, layout executor.Layout, app api.AppID, id api.ExecutorID, pid int) {
	t.Helper()
	paths, err := layout.Paths(app, id)
	if err != nil {
		t.Fatal(err)
	}
	realenv.Await(t, "a handle", func() bool { _, err := os.Stat(paths.Handle); return err == nil })
	w, err := progress.NewWriter(paths.Page, 100000+pid)
	if err != nil {
		t.Fatal(err)
	}
	c.writers = append(c.writers, w)
}

// publish shows, every 100 ms until the test ends, a stage whose two running
// tasks use the CPU that their quota gives.
func (c *fullPages) publish(t testing.TB) {
	began := monotonic()
	showing(t, func() {
		now := monotonic()
		for i, w := range c.writers {
			key, used := api.StageKey{Stage: i}, units.Work(now.Sub(began).Seconds()/10)
			w.Publish(&meter.Page{At: now,
				Stages: []meter.Stage{{Key: key, Running: 2, RunningCPU: used}},
				Tasks: []meter.Task{{Stage: key, Partition: 0, Weight: 1, CPU: used / 2},
					{Stage: key, Partition: 1, Weight: 1, CPU: used / 2}}})
		}
	}, c.writers...)
}

var loopLine = regexp.MustCompile(`(?m)^pacer_control_loop_duration_seconds_(sum|count) (\S+)$`)

// loopTime reads from a node's metrics how long all its ticks took, in seconds,
// and how many they were.
func loopTime(t testing.TB, r *rig) (seconds, count float64) {
	t.Helper()
	ask, err := http.NewRequest(http.MethodGet, "http://"+r.http+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(daemon.NodeTokenPath(r.state))
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	reply, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, m := range loopLine.FindAllSubmatch(body, -1) {
		if values[string(m[1])], err = strconv.ParseFloat(string(m[2]), 64); err != nil {
			t.Fatal(err)
		}
	}
	if values["count"] == 0 {
		t.Fatalf("no ticks in %s", body)
	}
	return values["sum"], values["count"]
}
