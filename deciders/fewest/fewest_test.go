package fewest_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/fewest"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

const app = api.AppID("app-1")

// attached is an application of one core for each executor, of which so many are there, on a node of 64 cores.
func attached(t *testing.T, deadline units.Seconds, has int, bounds api.Attach) (*ledgertest.Cluster, *ledger.App) {
	c := ledgertest.New(t)
	s := ledgertest.Status("a", 1)
	s.Attach, s.Hosts, s.Host, s.Offered, s.Total = true, []string{"h"}, "h", 64, 64
	bounds.Manager, bounds.App = api.ManagerYARN, "application_1"
	c.Know(ledger.NodeJoined{Node: "a", Incarnation: "a-1"}, ledger.NodeSaid{Status: s}, ledger.ProfileSaved{Body: ledgertest.Chain("p")},
		ledger.Registered{ID: app, Name: "p", Serial: 1, Matched: true, Tenant: ledger.Tenant{Cores: 1, Slots: 1, Launch: api.Launch{Cores: 1, Attach: &bounds}},
			Promise: ledger.Promise{Profile: "p", Start: ledgertest.Start, Deadline: deadline, Mode: ledger.Paced}})
	for i := range has {
		c.Know(ledger.ExecutorAttached{App: app, ID: api.ExecutorID(string(rune('1' + i))), Node: "a", Attached: ledger.Attached{Host: "h", Cores: 1}})
	}
	if has > 0 {
		c.Know(ledger.Resized{App: app, Cores: units.Cores(has), Slots: has})
	}
	return c, c.View().App(app)
}

func outlook(c *ledgertest.Cluster) *estimate.Outlook {
	return estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesAuto, MaxPool: 4}.Outlook(c.View())
}

// The chain works 170 core-seconds, and its driver takes 8 s beside that.
func TestTheFewestThatKeepTheDeadline(t *testing.T) {
	for _, k := range []struct {
		name     string
		deadline units.Seconds
		bounds   api.Attach
		want     int
	}{
		{"the more time, the fewer", 1000, api.Attach{}, 1},
		{"a minute passes before they come", 200, api.Attach{}, 2},
		{"the less time, the more", 160, api.Attach{}, 3},
		{"at least what the user wants", 1000, api.Attach{Least: 3, Most: 9}, 3},
		{"at most what the user allows", 160, api.Attach{Most: 2}, 2},
		{"those that bring nothing are not asked for", 70, api.Attach{}, 4},
	} {
		c, a := attached(t, k.deadline, 0, k.bounds)
		if got := fewest.First(outlook(c), a); got != k.want {
			t.Errorf("%s: %d executors, want %d", k.name, got, k.want)
		}
	}
}

func wanted(t *testing.T, levers []ledger.Lever) (w placement.ExecutorsWanted, leave []api.ExecutorID) {
	t.Helper()
	for _, l := range levers {
		switch f := l.(type) {
		case placement.ExecutorsWanted:
			w = f
		case ledger.ExecutorLeaving:
			leave = append(leave, f.ID)
		}
	}
	return w, leave
}

func TestMoreWhenLateAndFewerWhenIdle(t *testing.T) {
	// Two are there, and the first stage stands still: it asks for more.
	c, a := attached(t, 200, 2, api.Attach{Most: 8})
	c.Know(placement.ExecutorsWanted{OfApp: ledger.OfApp{App: app}, Count: 2})
	if got := fewest.Decide(outlook(c), a); len(got) != 0 {
		t.Fatalf("in time it wants %+v", got)
	}
	c.To(100)
	w, leave := wanted(t, fewest.Decide(outlook(c), a))
	if w.Count <= 2 || w.Says == "" || len(leave) > 0 || !slices.Equal(w.On, []string{"h"}) {
		t.Fatalf("late it wants %+v, and %v leave", w, leave)
	}

	// Eight are there where two do: six go after half a minute, the newest first.
	c, a = attached(t, 300, 8, api.Attach{Most: 8})
	c.Know(placement.ExecutorsWanted{OfApp: ledger.OfApp{App: app}, Count: 8})
	if w, leave = wanted(t, fewest.Decide(outlook(c), a)); !w.Spare || w.Count != 8 || len(leave) > 0 {
		t.Fatalf("at once it wants %+v, and %v leave", w, leave)
	}
	c.Know(w)
	c.To(29)
	if got := fewest.Decide(outlook(c), a); len(got) != 0 {
		t.Fatalf("after 29 s it wants %+v", got)
	}
	c.To(31)
	w, leave = wanted(t, fewest.Decide(outlook(c), a))
	if w.Count < 1 || w.Count >= 8 || len(leave) != 8-w.Count || leave[0] != "8" {
		t.Fatalf("after 31 s it wants %+v, and %v leave", w, leave)
	}
	// Nobody leaves who is asked for again, and what is little worth does not go.
	c.To(250)
	if _, leave = wanted(t, fewest.Decide(outlook(c), a)); len(leave) > 0 {
		t.Fatalf("at the end %v leave", leave)
	}
}

// One whose end nobody can foretell has what its user has asked for.
func TestNobodyKnowsHowMany(t *testing.T) {
	c, a := attached(t, 300, 1, api.Attach{})
	c.Know(placement.ExecutorsWanted{OfApp: ledger.OfApp{App: app}, Count: 4}, ledger.ModeSet{App: app, Mode: ledger.Unpaced})
	if w, _ := wanted(t, fewest.Decide(outlook(c), a)); w.App != app || w.Count != 0 {
		t.Fatalf("it wants %+v", w)
	}
	c.Know(placement.ExecutorsWanted{OfApp: ledger.OfApp{App: app}})
	if got := fewest.Decide(outlook(c), a); len(got) != 0 || fewest.First(outlook(c), a) != 0 {
		t.Fatalf("it wants %+v", got)
	}
}

// Fewer executors would be held back: one that is to show what it does at all cores, or whose queries and jobs have a
// bound, has what its user has asked for.
func TestWhoseJobsHaveABoundIsGivenNoFewer(t *testing.T) {
	for name, bound := range map[string]func(a *ledger.App){
		"its last paced run failed": func(a *ledger.App) { a.Profile.Body.Habit.Suspected = 2 },
		"a paced run failed":        func(a *ledger.App) { a.Profile.Body.Habit.FailedAt = 2 },
		"its user says so":          func(a *ledger.App) { a.Tenant.Launch.JobMost = 60 },
	} {
		c, a := attached(t, 1000, 0, api.Attach{})
		bound(a)
		if got := fewest.First(outlook(c), a); got != 0 {
			t.Errorf("%s: %d executors", name, got)
		}
	}
}

// Whatever the deadline and the bounds, what is wanted is within these, and more time never wants more.
func TestWithinTheBounds(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		least := rapid.IntRange(0, 5).Draw(t, "least")
		most := rapid.IntRange(max(1, least), 9).Draw(t, "most")
		deadline := units.Seconds(rapid.IntRange(1, 600).Draw(t, "deadline"))
		has := rapid.IntRange(0, 9).Draw(t, "has")
		c, a := attached(outer, deadline, has, api.Attach{Least: least, Most: most})
		first := fewest.First(outlook(c), a)
		if first < max(1, least) || first > most {
			t.Fatalf("%d executors, of %d to %d", first, least, most)
		}
		for range 20 {
			c.To(units.Seconds(rapid.IntRange(0, 700).Draw(t, "at")))
			for _, l := range fewest.Decide(outlook(c), a) {
				if w, ok := l.(placement.ExecutorsWanted); ok && (w.Count < max(1, least) || w.Count > most) {
					t.Fatalf("wants %+v, of %d to %d", w, least, most)
				}
				c.Know(l)
			}
			if stay := len(a.Alive()) - leaving(a); has > 0 && stay < 1 {
				t.Fatalf("all leave")
			}
		}
	})
}

func leaving(a *ledger.App) (n int) {
	for _, x := range a.Alive() {
		if x.Leaving {
			n++
		}
	}
	return n
}
