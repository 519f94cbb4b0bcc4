package recording_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/recording"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// used has node a say what the neighbour's executor has used in all.
func used(c *ledgertest.Cluster, neighbour *ledger.App, cpu units.Work) {
	s := ledgertest.Status("a", 2)
	s.Executors = []api.ExecutorStatus{{App: neighbour.ID, ID: "1", State: api.ExecutorRunning, CPU: cpu}}
	c.Know(ledger.NodeSaid{Status: s})
}

// learn records the run of an application whose driver has exited so long after its
// context's stop.
func learn(t *testing.T, c *ledgertest.Cluster, a *ledger.App, exit units.Seconds, want string) api.Profile {
	t.Helper()
	c.Know(ledger.Exited{App: a.ID, At: a.Outcome.Stopped + exit, By: api.EndedByExit})
	how, p, err := recording.Record(c.View(), a)
	if err != nil || how != want {
		t.Fatalf("%q, %v, want %q", how, err, want)
	}
	return p
}

// startBeside is an application of which the first 5 s pass beside a neighbour; then it runs
// alone, and its first stage is ready after 7 s.
func startBeside(t *testing.T, c *ledgertest.Cluster) *ledger.App {
	t.Helper()
	neighbour := c.App("app-0", "neighbour", 0, "a")
	a := c.App("app-1", "p", 0, "a", "b")
	c.To(5)
	used(c, neighbour, 10)
	goOn(c, a)
	return a
}

// A run that starts beside others and goes on alone teaches its times, but its head counts
// only until one has started alone.
func TestAStartBesideOthersIsNotTheHead(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	first := learn(t, c, startBeside(t, c), 1, recording.Recorded)
	if first.Contended || !first.HeadContended || first.Head != 7 || first.Stages[0].Duration != 18 {
		t.Fatalf("the first run: %+v", first)
	}
	c.Know(ledger.ProfileSaved{Body: first})
	alone := c.App("app-2", "p", 0, "a", "b")
	goOn(c, alone)
	p := learn(t, c, alone, 1, recording.Merged)
	if p.HeadContended || p.Head != 2 {
		t.Errorf("after one alone: head %v, contended %v", p.Head, p.HeadContended)
	}

	c = ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: p})
	if p = learn(t, c, startBeside(t, c), 1, recording.Merged); p.HeadContended || p.Head != 2 {
		t.Errorf("merged: head %v, contended %v", p.Head, p.HeadContended)
	}

	c = ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Diamond("p")})
	p = learn(t, c, startBeside(t, c), 1, recording.Founded)
	if v := p.Variants[0]; v.HeadContended || v.Head != 2 || len(v.Stages) != 2 || v.Duration != 31 {
		t.Errorf("a variant where a head is known: %+v", v)
	}
}

// exitBeside is an application beside whose driver's exit, of 3 s, a neighbour uses cores.
func exitBeside(t *testing.T, c *ledgertest.Cluster) *ledger.App {
	t.Helper()
	neighbour := c.App("app-0", "neighbour", 0, "a")
	a := run(t, c, 0)
	used(c, neighbour, 1)
	c.To(33)
	used(c, neighbour, 9)
	return a
}

// An exit beside others counts only until one was alone.
func TestAnExitBesideOthersIsNotTheExit(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	first := learn(t, c, exitBeside(t, c), 3, recording.Recorded)
	if first.Contended || !first.ExitContended || first.Exit != 3 {
		t.Fatalf("the first run: %+v", first)
	}
	c.Know(ledger.ProfileSaved{Body: first})
	alone := c.App("app-2", "p", 0, "a", "b")
	goOn(c, alone)
	c.To(64)
	p := learn(t, c, alone, 1, recording.Merged)
	if d := cmp.Diff([]units.Seconds{1}, p.Exits); d != "" || p.ExitContended || p.Exit != 1 {
		t.Errorf("after one alone: %+v", p)
	}

	c = ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: p})
	if p = learn(t, c, exitBeside(t, c), 3, recording.Merged); p.ExitContended || p.Exit != 1 || len(p.Exits) != 1 {
		t.Errorf("merged: exit %v of %v", p.Exit, p.Exits)
	}
}

// An exit is judged by who ran then: of a run beside others that were gone by then it counts.
func TestAnExitAloneIsLearntOfARunBesideOthers(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	neighbour := c.App("app-0", "neighbour", 0, "a")
	a := c.App("app-1", "p", 0, "a", "b")
	c.To(2)
	s := c.Ready(a, 1, "read", 3000, "1", "2")
	c.To(15)
	used(c, neighbour, 50)
	c.To(20)
	c.Done(a, s, 60, 2.1)
	c.Know(ledger.ContextStopped{App: a.ID, At: 20})
	if p := learn(t, c, a, 1, recording.Recorded); !p.Contended || p.HeadContended || p.ExitContended || p.Exit != 1 {
		t.Errorf("%+v", p)
	}
}

// What an application waited in the queue is in no time of its profile.
func TestAWaitInTheQueueIsNotLearnt(t *testing.T) {
	queued := func(c *ledgertest.Cluster) *ledger.App {
		c.To(1)
		c.Know(ledger.Registered{ID: "app-1", Name: "p", Serial: 1, Matched: c.View().Profile("", "p") != nil,
			Tenant:  ledger.Tenant{Submission: "s", Launch: api.Launch{Heap: units.GiB}, Cores: 8, Slots: 8},
			Promise: ledger.Promise{Profile: "p", Start: ledgertest.Start, Mode: ledger.Recording}, Queued: true})
		c.To(61)
		c.Know(ledger.Started{App: "app-1", Seats: ledger.Seats{Nodes: []string{"a", "b"}, Cores: 8, Slots: 8}, Mode: ledger.Recording,
			Judgement: ledger.Judgement{Verdict: api.VerdictNone}})
		a := c.View().App("app-1")
		goOn(c, a)
		return a
	}
	c := ledgertest.New(t, "a", "b")
	first := learn(t, c, queued(c), 1, recording.Recorded)
	// A second until it registered, and two from its start to its first stage.
	if first.Head != 3 || !first.HeadContended || first.Tail != 0 || first.Stages[0].Duration != 18 || first.Stages[1].Duration != 10 || first.Duration != 32 || first.Exit != 1 {
		t.Fatalf("the first run: %+v", first)
	}
	alone := first
	alone.Head, alone.HeadContended = 9, false
	c = ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: alone})
	if p := learn(t, c, queued(c), 1, recording.Merged); p.Head != 9 || p.HeadContended || p.Contended || p.Duration != 38 {
		t.Errorf("merged: %+v", p)
	}
}

// A run that was capped, or whose nodes came or went, teaches its work and not how long
// that took.
func TestACappedRunTeachesItsWork(t *testing.T) {
	capped := func(c *ledgertest.Cluster) *ledger.App {
		a := c.App("app-1", "p", 0, "a", "b")
		c.Know(ledger.Capped{App: a.ID, Cores: 1})
		goOn(c, a)
		return a
	}
	c := ledgertest.New(t, "a", "b")
	first := learn(t, c, capped(c), 1, recording.Recorded)
	if !first.Contended || first.Stages[0].CoreSeconds != 60 || first.HeadContended {
		t.Fatalf("the first run: %+v", first)
	}
	old := first
	old.Contended, old.Stages = false, append([]api.ProfileStage(nil), first.Stages...)
	old.Stages[0].CoreSeconds, old.Stages[0].Duration = 40, 5
	c = ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: old})
	if p := learn(t, c, capped(c), 1, recording.Merged); p.Contended || p.Stages[0].CoreSeconds != 50 || p.Stages[0].Duration != 5 || p.Runs != 2 {
		t.Errorf("merged: %+v", p)
	}
	c = ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Diamond("p")})
	if v := learn(t, c, capped(c), 1, recording.Founded).Variants[0]; !v.Contended || v.Stages[0].CoreSeconds != 60 {
		t.Errorf("of another shape: %+v", v)
	}
}
