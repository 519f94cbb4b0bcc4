package testenv_test

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/testenv"
	"github.com/sparkpacer/pacer/units"
)

// profile is the stored one of that name.
func profile(e *testenv.Env, name string) api.Profile {
	e.T.Helper()
	r, err := e.Ask(api.VerbProfile, api.ControlRequest{Profile: name})
	if err != nil || len(r.Profiles) != 1 {
		e.T.Fatalf("profile %s: %+v, %v", name, r.Profiles, err)
	}
	return r.Profiles[0]
}

// A node has memory for one executor: the second application is queued, starts when the
// first one ends, and both end well. The second's profile is what it takes without the wait.
func TestAQueuedApplicationStartsWhenTheFirstEnds(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		e.StartPlanner()
		n := e.StartNode(testenv.NodeSpec{Name: "n1", Cores: 2, Memory: 2 * units.GiB})
		first, second := testenv.Chain("first", 2, 20), testenv.Chain("second", 2, 20)
		first.Exit, second.Exit = 0.5, 0.5
		x := submit(e, first)
		e.Pass(3 * time.Second)
		y := submit(e, second)
		if q := y.Reply().Directive.Queued; q == nil || q.Place != 1 || e.App(y.ID()).State != api.AppQueued || len(n.Executors()) != 1 {
			t.Fatalf("the second one has %+v, executors %v", q, n.Executors())
		}
		one, two := x.Wait(), y.Wait()
		for _, a := range []api.AppDetail{one, two} {
			if a.State != api.AppFinished || len(a.Stages) != 2 {
				t.Errorf("%s is %s with %d stages, %v", a.Name, a.State, len(a.Stages), a.Notices)
			}
		}
		if two.FirstLaunch < one.Duration-3 {
			t.Errorf("the second one's first task was launched after %v, and the first one had ended after %v", two.FirstLaunch, one.Duration-3)
		}
		alone, queued := profile(e, "first"), profile(e, "second")
		if alone.HeadContended || alone.Contended || queued.Contended || !queued.HeadContended {
			t.Errorf("of the first: %+v, of the second: %+v", alone, queued)
		}
		near := func(what string, got, want units.Seconds) {
			t.Helper()
			if got < want-1 || got > want+1 {
				t.Errorf("%s: %v, of one that was alone %v", what, got, want)
			}
		}
		near("head", queued.Head, alone.Head)
		near("in all", queued.Duration, alone.Duration)
		for i, s := range queued.Stages {
			near("stage", s.Duration, alone.Stages[i].Duration)
			near("gap", s.Gap, alone.Stages[i].Gap)
		}
		near("tail", queued.Tail, alone.Tail)
		near("exit", queued.Exit, alone.Exit)

		// The next one starts at once: its head is the application's.
		third := submit(e, second).Wait()
		if p := profile(e, "second"); p.HeadContended || p.Head > third.FirstLaunch || third.FirstLaunch > p.Head+0.1 {
			t.Errorf("head %v, contended %v, after a run with %v", p.Head, p.HeadContended, third.FirstLaunch)
		}
	})
}
