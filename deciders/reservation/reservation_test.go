package reservation_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/reservation"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// by is the policy of that admission.
func by(admission string) reservation.Policy {
	return reservation.Policy{Admission: admission, Policy: estimate.Policy{Equations: dag.Default(),
		Branches: estimate.BranchesTogether, MaxPool: 4}}
}

// taught is a cluster in which two runs have ended that needed that part of what they could use.
func taught(t testing.TB, rate float64, nodes ...string) *ledgertest.Cluster {
	c := ledgertest.New(t, nodes...)
	var state []byte
	for range 2 {
		state = assign.Policy{Rule: assign.Pythia}.Learn(state, assign.Outcome{Units: 100, Most: 100, Work: 100 * 100 * rate,
			Deadline: 100, Met: true})
	}
	c.Know(ledger.QueueLearnt{Key: ledger.DeadlinesKey, State: state})
	return c
}

// know records levers.
func know(c *ledgertest.Cluster, levers []ledger.Lever) {
	c.Helper()
	for _, l := range levers {
		c.Know(l)
	}
}

func near(a, b units.Cores) bool { return math.Abs(float64(a-b)) < 1e-9 }

// PYTHIA's example: rate 0.5, a deadline of 200 s.
func TestWhatIsReserved(t *testing.T) {
	for _, x := range []struct {
		at    units.Seconds
		cores units.Cores
		says  string
	}{
		{0, 4, "deadline 3m20s: 4.0 of 8.0 cores are reserved: deadlines here needed at most 0.50 of what they could use, 2 runs"},
		{60, 5.75, "5.8 of 8.0"},
		{100, 8, "8.0 of 8.0"},
		{101, 0, "deadline 3m20s would need 8.1 cores from now, all can give 8.0"},
		{200, 0, ""},
	} {
		c := taught(t, 0.5, "a", "b")
		a := c.App("app-1", "p", 200, "a", "b")
		c.To(x.at)
		know(c, by(assign.Pythia).Decide(by("").Outlook(c.View()), false))
		if r := reservation.Of(a); !near(r.Cores, x.cores) || r.Dropped != (x.at == 101) || !strings.Contains(a.Promise.Reason, x.says) {
			t.Errorf("at %v: %+v, %q", x.at, r, a.Promise.Reason)
		}
		if again := by(assign.Pythia).Decide(by("").Outlook(c.View()), false); len(again) > 0 {
			t.Errorf("at %v: decided again: %+v", x.at, again)
		}
	}
	c := taught(t, 0.5, "a")
	c.App("app-1", "p", 200, "a")
	if levers := by(assign.Open).Decide(by("").Outlook(c.View()), false); len(levers) > 0 {
		t.Errorf("open: %+v", levers)
	}
}

// Until two runs have ended all that is left is kept, and called what is free; those that come later wait.
func TestBeforeAnythingIsKnown(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	first, second := c.App("app-1", "p", 100, "a"), c.App("app-2", "q", 90, "a", "b")
	c.To(1)
	know(c, by(assign.Justice).Decide(by("").Outlook(c.View()), false))
	// Per time left the first has the least.
	if reservation.Of(first).Cores != 4 || reservation.Of(second).Held() != 0 {
		t.Errorf("%+v, %+v", reservation.Of(first), reservation.Of(second))
	}
	if s := first.Promise.Reason; s != "deadline 1m40s is unknown to be feasible: it keeps the 4.0 cores that are free now, "+
		"since nobody knows what deadlines here need after 0 runs" || !reservation.Of(first).Free {
		t.Error(s)
	}
	if _, _, known, reserved := by(assign.Justice).State(c.View()); known || reserved != 0 {
		t.Errorf("%v cores are called reserved", reserved)
	}
}

// What is promised of a profile is nobody's to reserve, and what is reserved is in everybody's forecast.
func TestReservationsArePromises(t *testing.T) {
	c := taught(t, 1, "a", "b")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("known")})
	known := c.App("app-1", "known", 35, "a", "b")
	promised := by("").Outlook(c.View()).Least(known)
	if promised <= 4 {
		t.Fatalf("the known one needs %v cores of 8: the test looks for the wrong thing", promised)
	}
	waits, fits := c.App("app-2", "p", 100, "a", "b"), c.App("app-3", "q", 100, "a", "b")
	c.Know(ledger.Capped{App: fits.ID, Cores: 1}) // It can use 2 cores.
	know(c, by(assign.Pythia).Decide(by("").Outlook(c.View()), false))
	if reservation.Of(waits).Held() != 0 || !near(reservation.Of(fits).Held(), 2) || reservation.Of(waits).Dropped {
		t.Errorf("beside %v: %+v and %+v", promised, reservation.Of(waits), reservation.Of(fits))
	}
	p := by(assign.Open)
	for _, x := range p.Outlook(c.View()).Promised(known, known.Seats()) {
		if x.App != fits.ID || !near(x.Cores, 2) || x.Until != 100 {
			t.Errorf("promised beside the known one: %+v", x)
		}
	}
	if fits.Band() != api.BandPromised || waits.Band() != api.BandShared {
		t.Error(fits.Band(), waits.Band())
	}
}

// Where a node gives less, those that are due first keep theirs; the other one waits again.
func TestANodeGivesLess(t *testing.T) {
	c := taught(t, 0.5, "a", "b")
	late, early := c.App("app-1", "p", 100, "a", "b"), c.App("app-2", "q", 90, "a", "b")
	know(c, by(assign.Pythia).Decide(by("").Outlook(c.View()), false))
	if reservation.Of(late).Held() != 4 || reservation.Of(early).Held() != 4 {
		t.Fatalf("%+v, %+v", reservation.Of(late), reservation.Of(early))
	}
	says := ledgertest.Status("b", 2)
	says.Offered = 2
	c.Know(ledger.NodeSaid{Status: says}, ledger.Resized{App: late.ID, Cores: 6, Slots: 6},
		ledger.Resized{App: early.ID, Cores: 6, Slots: 6})
	levers := by(assign.Pythia).Decide(by("").Outlook(c.View()), true)
	if open := by(assign.Open).Decide(by("").Outlook(c.View()), true); len(open) != 1 {
		t.Errorf("what is reserved stays within what there is, whatever comes later: %+v", open)
	}
	if know(c, levers); len(levers) != 1 || reservation.Of(late).Held() != 0 || reservation.Of(early).Held() != 4 {
		t.Errorf("%+v: %+v, %+v", levers, reservation.Of(late), reservation.Of(early))
	}
	if s := late.Promise.Reason; !strings.Contains(s, "its nodes give less than they gave") {
		t.Error(s)
	}
	c.To(90)
	for _, f := range by(assign.Pythia).Over(c.View()) {
		c.Know(f)
	}
	if r := reservation.Of(early); r.Held() != 0 || r.Cores != 4 || early.Band() != api.BandShared {
		t.Errorf("it is due: %+v", r)
	}
}

// A promise that has come since, or grows, ends no reservation, though both together are more than there is for now.
func TestAPromiseEndsNoReservation(t *testing.T) {
	c := taught(t, 0.5, "a", "b")
	a := c.App("app-1", "p", 30, "a", "b")
	know(c, by(assign.Pythia).Decide(by("").Outlook(c.View()), false))
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("known")})
	known := c.App("app-2", "known", 35, "a", "b")
	if n := by("").Outlook(c.View()).Least(known); n <= 4 {
		t.Fatalf("the known one needs %v cores of 8: the test looks for the wrong thing", n)
	}
	if levers := by(assign.Pythia).Decide(by("").Outlook(c.View()), false); len(levers) > 0 || reservation.Of(a).Held() != 4 {
		t.Errorf("%+v: %+v", levers, reservation.Of(a))
	}
}

// Another deadline, and whoever lets it go, end a reservation.
func TestWhatEndsAReservation(t *testing.T) {
	c := taught(t, 0.5, "a")
	a := c.App("app-1", "p", 100, "a")
	know(c, by(assign.Pythia).Decide(by("").Outlook(c.View()), false))
	c.Know(ledger.DeadlineGiven{App: a.ID, Deadline: 200})
	if reservation.Of(a) != (reservation.State{}) {
		t.Errorf("another deadline: %+v", reservation.Of(a))
	}
	know(c, by(assign.Pythia).Decide(by("").Outlook(c.View()), false))
	c.Know(ledger.ModeSet{App: a.ID, Mode: ledger.Released})
	if reservation.Of(a).Held() != 0 || reservation.Of(a).Cores != 2 {
		t.Errorf("released: %+v", reservation.Of(a))
	}
	if err := c.Record(reservation.Reserved{OfApp: ledger.OfApp{App: a.ID}, State: reservation.State{Cores: 1}}); err == nil {
		t.Error("cores are reserved for one that was released")
	}
}

// Runs that finish teach at their end, those that are late, too: when they are due their work is not known.
func TestWhoTeaches(t *testing.T) {
	for _, x := range []struct {
		name string
		code int
		kill bool
		want bool
	}{{"finished", 0, false, true}, {"failed", 1, false, false}, {"killed", 0, true, false}} {
		c := ledgertest.New(t, "a")
		a := c.App("app-1", "p", 50, "a")
		if x.kill {
			c.Know(ledger.KillAsked{App: a.ID, By: "somebody"})
		}
		c.To(40)
		s := c.Ready(a, 0, "read", 100, "1")
		c.Done(a, s, 60, 1)
		c.Know(ledger.ContextStopped{App: a.ID, At: 40, Deadline: 50})
		if _, ok := by(assign.Pythia).Learn(c.View(), a); ok {
			t.Error("one teaches of which nobody knows how it ended")
		}
		c.Know(ledger.Exited{App: a.ID, At: 40, By: api.EndedByExit, Code: x.code})
		state, ok := by(assign.Pythia).Learn(c.View(), a)
		if ok != x.want {
			t.Errorf("%s: teaches %v", x.name, ok)
			continue
		}
		if l, err := assign.ReadLearnt(state); ok && (err != nil || !l.Met || l.Runs != 1 || !near(units.Cores(l.Most), 0.3)) {
			t.Errorf("%s: %+v, %v: want a rate of 60 / 50 / 4", x.name, l, err)
		}
	}
	c := ledgertest.New(t, "a")
	a := c.App("app-1", "p", 50, "a")
	s := c.Ready(a, 0, "read", 100, "1")
	c.Done(a, s, 60, 1)
	c.To(50)
	if _, ok := by(assign.Pythia).Learn(c.View(), a); ok {
		t.Error("one that runs on teaches a part of its work")
	}
	over := by(assign.Pythia).Over(c.View())
	if len(over) != 1 || over[0].Why != "" {
		t.Fatalf("due: %+v", over)
	}
	c.Know(over[0])
	c.To(60)
	s = c.Ready(a, 1, "write", 100, "1")
	c.Done(a, s, 20, 1)
	c.Know(ledger.ContextStopped{App: a.ID, At: 60, Deadline: 50}, ledger.Exited{App: a.ID, At: 60, By: api.EndedByExit})
	state, ok := by(assign.Pythia).Learn(c.View(), a)
	if l, err := assign.ReadLearnt(state); !ok || err != nil || l.Met || !near(units.Cores(l.Most), 0.4) {
		t.Errorf("late: %v, %+v, %v: want a rate of 80 / 50 / 4", ok, l, err)
	}
}

// What was learnt by another release is told, and begins anew.
func TestAnotherVersion(t *testing.T) {
	key := "queue/"
	l, err := ledger.New(ledger.Config{}, []api.Pair{{Key: key, Value: []byte(`{"v":99}`)}})
	if err != nil {
		t.Fatal(err)
	}
	faults := l.Close().Faults
	if len(faults) != 1 || !strings.Contains(faults[0].Error(), "begins anew") || l.View().Learnt(ledger.DeadlinesKey) != nil {
		t.Errorf("%v", faults)
	}
}

// Whoever comes and goes: what is reserved and promised is never more than a node offers at the moment it is given,
// nothing that is promised of a profile is taken, and the order of applications does not count.
func TestReservationsFit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := taught(t, rapid.Float64Range(0.01, 1).Draw(r, "rate"), "a", "b", "c")
		p := by(rapid.SampledFrom([]string{assign.Pythia, assign.Justice}).Draw(r, "admission"))
		c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("known")})
		nodes := []string{"a", "b", "c"}
		for n := range rapid.IntRange(1, 12).Draw(r, "steps") {
			c.To(units.Seconds(5 * n))
			on := nodes[rapid.IntRange(0, 2).Draw(r, "from"):]
			name := rapid.SampledFrom([]string{"known", "p"}).Draw(r, "profile")
			c.App(api.AppID(fmt.Sprintf("app-%02d", n)), name, units.Seconds(rapid.IntRange(5, 300).Draw(r, "deadline")), on...)
			for _, f := range p.Over(c.View()) {
				c.Know(f)
			}
			had := held(c.View())
			know(c, p.Decide(by("").Outlook(c.View()), false))
			for id, cores := range held(c.View()) {
				a := c.View().App(id)
				if had[id] > 0 {
					if had[id] != cores {
						r.Fatalf("%s had %v cores reserved and has %v", id, had[id], cores)
					}
					continue
				}
				for _, x := range p.Outlook(c.View()).Promised(a, a.Seats()) {
					if x.From < a.Promise.Deadline {
						cores += x.Cores
					}
				}
				if offered := units.Cores(4 * len(a.Seats())); cores > offered+1e-6 {
					r.Fatalf("%v cores are promised of the %v of %s", cores, offered, id)
				}
			}
			for _, node := range nodes {
				all := units.Cores(0)
				for _, t := range c.View().Allocations(node) {
					all += t.App.Reserved() / units.Cores(len(t.App.Seats()))
				}
				if all > 4+1e-6 {
					r.Fatalf("%v cores of node %s are reserved", all, node)
				}
			}
		}
	})
}

func held(v ledger.View) map[api.AppID]units.Cores {
	all := make(map[api.AppID]units.Cores)
	for a := range v.Running() {
		if reservation.Of(a).Held() > 0 {
			all[a.ID] = reservation.Of(a).Held()
		}
	}
	return all
}
