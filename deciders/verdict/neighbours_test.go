package verdict_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// Who comes gets what those have not been promised who are there. The chain's profile takes
// 68 s at all cores: one that is due after 120 s needs about half of them.
func TestJudgeBesideOthers(t *testing.T) {
	for name, w := range map[string]struct {
		change   ledger.Fact // Of the other one.
		deadline units.Seconds
		want     api.Verdict
		says     string
	}{
		"room for both":     {nil, 220, api.VerdictFeasible, "deadline 3m40s is feasible beside another: all that is left would finish in"},
		"it catches up":     {nil, 80, api.VerdictTight, "deadline 1m20s is tight beside another: all that is left would finish in 77s"},
		"room for one":      {nil, 76, api.VerdictInfeasible, "alone it would be feasible, but app-1 has been promised"},
		"never":             {nil, 40, api.VerdictInfeasible, "the earliest feasible deadline is"},
		"the other is late": {ledger.GateSet{App: "app-1", Gate: ledger.Gate{Late: true}}, 80, api.VerdictFeasible, "is feasible beside another: all cores would finish in 68s"},
		"it is released":    {ledger.ModeSet{App: "app-1", Mode: ledger.Released}, 80, api.VerdictFeasible, "beside another"},
		"it has ended":      {ledger.ContextStopped{App: "app-1", At: 1}, 80, api.VerdictFeasible, "deadline 1m20s is feasible: all cores"},
	} {
		c := ledgertest.New(t, "a", "b")
		c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
		c.App("app-1", "p", 120, "a", "b")
		if w.change != nil {
			c.Know(w.change)
		}
		seating := placement.Seating{Seats: []placement.Seat{{Node: c.View().Node("a"), Executors: 1}, {Node: c.View().Node("b"), Executors: 1}}, Cores: 8, Slots: 8}
		a := &ledger.App{ID: "app-2", Promise: ledger.Promise{Profile: "p", Start: c.Now, Deadline: w.deadline, Mode: ledger.Paced},
			Outcome: ledger.Outcome{State: api.AppRunning}, Profile: c.View().Judged("", "p")}
		v := verdict.Policy{}.Judge(outlook(c), a, seating, c.Now)
		if v.Verdict != w.want || !strings.Contains(v.Reason, w.says) {
			t.Errorf("%s: %s: %s; want %s and %q", name, v.Verdict, v.Reason, w.want, w.says)
		}
		if v.Verdict == api.VerdictInfeasible && v.Earliest <= w.deadline {
			t.Errorf("%s: the earliest deadline is %v", name, v.Earliest)
		}
	}
}

// A verdict is the likeliest variant's, and names one that would take longer.
func TestAVerdictNamesALongerVariant(t *testing.T) {
	with := func(durations ...units.Seconds) api.Profile {
		p := ledgertest.Chain("p")
		for _, d := range durations {
			v := ledgertest.Chain("p")
			v.Stages[2].Duration, v.Duration = d, 38+d
			p.Variants = append(p.Variants, v)
		}
		return p
	}
	contended := with(30)
	contended.Variants[0].Contended, contended.Variants[0].Duration = true, 900 // Beside others: its work tells.
	for says, body := range map[string]api.Profile{
		"feasible: all cores would finish in 68s":                              with(),
		"would finish in 68s; that is":                                         with(20, 36),
		"; its other variant takes 100s":                                       with(62),
		"; another variant of it takes 138s":                                   with(62, 100, 20),
		"deadline 16m40s is feasible: all cores would finish in 68s; that is ": contended,
	} {
		c := ledgertest.New(t, "a", "b")
		c.Know(ledger.ProfileSaved{Body: body})
		seating := placement.Seating{Seats: []placement.Seat{{Node: c.View().Node("a"), Executors: 1}, {Node: c.View().Node("b"), Executors: 1}}, Cores: 8, Slots: 8}
		a := &ledger.App{ID: "app-2", Promise: ledger.Promise{Profile: "p", Start: c.Now, Deadline: 1000, Mode: ledger.Paced},
			Outcome: ledger.Outcome{State: api.AppRunning}, Profile: c.View().Judged("", "p")}
		got := verdict.Policy{}.Judge(outlook(c), a, seating, c.Now).Reason
		if !strings.Contains(got, says) || strings.Contains(got, "variant") != strings.Contains(says, "variant") {
			t.Errorf("%s, want %q", got, says)
		}
	}
}

// One that was infeasible beside another stays so while that runs, and is paced when it has
// ended in time.
func TestTightenedWhenAnotherEnds(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	c.App("app-1", "p", 120, "a", "b")
	a := c.App("app-2", "p", 78, "a", "b")
	c.Know(ledger.GateSet{App: a.ID, Gate: ledger.Gate{Infeasible: true}})
	p := verdict.Policy{}
	if levers := p.Repace(outlook(c), a); levers != nil {
		t.Errorf("beside the other: %+v", levers)
	}
	c.Know(ledger.ContextStopped{App: "app-1", At: 1})
	if levers := p.Repace(outlook(c), a); len(levers) != 1 || levers[0].(ledger.Judged).Verdict != api.VerdictFeasible {
		t.Errorf("alone: %+v", levers)
	}
}

// One that was infeasible is paced beside another whose deadline can be kept only with a tenth of
// its time to spare: what it takes beyond its prediction is the other's, for it is due first.
func TestTightenedBesideAnotherWithTimeToSpare(t *testing.T) {
	for deadline, want := range map[units.Seconds]int{80: 0, 84: 0, 90: 1} {
		c := ledgertest.New(t, "a", "b")
		c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
		c.App("app-1", "p", 120, "a", "b")
		a := c.App("app-2", "p", deadline, "a", "b")
		c.Know(ledger.GateSet{App: a.ID, Gate: ledger.Gate{Infeasible: true}})
		if levers := (verdict.Policy{}).Repace(outlook(c), a); len(levers) != want {
			t.Errorf("%v: %+v, want %d", deadline, levers, want)
		}
	}
}
