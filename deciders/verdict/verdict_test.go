package verdict_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

func outlook(c *ledgertest.Cluster) *estimate.Outlook {
	return estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesTogether, MaxPool: 4}.Outlook(c.View())
}

// The chain's profile takes 68 s at all cores.
func TestJudge(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	seating := placement.Seating{Seats: []placement.Seat{{Node: c.View().Node("a"), Executors: 1}, {Node: c.View().Node("b"), Executors: 1}}, Cores: 8, Slots: 8}
	for name, w := range map[string]struct {
		mode     ledger.Mode
		launch   api.Mode
		profile  bool
		deadline units.Seconds
		want     api.Verdict
		gated    bool
		says     string
	}{
		"off":           {ledger.Off, api.ModeOff, false, 100, api.VerdictNone, true, "nothing is judged"},
		"without end":   {ledger.Unpaced, "", false, 0, api.VerdictNone, true, "a session without an end"},
		"no profile":    {ledger.Recording, "", false, 100, api.VerdictUnknown, true, "there is no profile"},
		"no deadline":   {ledger.Recording, "", false, 0, api.VerdictNone, true, "the run is recorded"},
		"feasible":      {ledger.Paced, "", true, 120, api.VerdictFeasible, true, "deadline 2m0s is feasible: all cores would finish in 68s"},
		"tight":         {ledger.Paced, "", true, 73, api.VerdictTight, true, "is tight"},
		"infeasible":    {ledger.Paced, "", true, 50, api.VerdictInfeasible, false, "the earliest feasible deadline is"},
		"observed":      {ledger.Paced, api.ModeObserve, true, 120, api.VerdictFeasible, true, "nothing is held back"},
		"just a wonder": {ledger.Recording, "", true, 0, api.VerdictNone, true, "no deadline: all cores would finish in 68s"},
	} {
		a := &ledger.App{Promise: ledger.Promise{Profile: "p", Start: c.Now, Deadline: w.deadline, Mode: w.mode},
			Tenant: ledger.Tenant{Launch: api.Launch{Mode: w.launch}}, Outcome: ledger.Outcome{State: api.AppRunning}}
		if w.profile {
			a = &ledger.App{Promise: a.Promise, Tenant: a.Tenant, Outcome: a.Outcome, Profile: c.View().Judged("", "p")}
		}
		v := verdict.Policy{}.Judge(outlook(c), a, seating, c.Now)
		if v.Verdict != w.want || !strings.Contains(v.Reason, w.says) || (v.Gate == ledger.Gate{}) != w.gated {
			t.Errorf("%s: %+v, want %s and %q", name, v, w.want, w.says)
		}
		if w.want == api.VerdictInfeasible && v.Earliest < 68 {
			t.Errorf("%s: the earliest deadline is %v", name, v.Earliest)
		}
	}
	pacing := verdict.Policy{}
	pacing.PaceInfeasible = true
	a := &ledger.App{Promise: ledger.Promise{Profile: "p", Start: c.Now, Deadline: 50, Mode: ledger.Paced}, Outcome: ledger.Outcome{State: api.AppRunning}, Profile: c.View().Judged("", "p")}
	if v := pacing.Judge(outlook(c), a, seating, c.Now); v.Verdict != api.VerdictInfeasible || v.Gate.Infeasible {
		t.Errorf("with infeasible deadlines paced: %+v", v)
	}
}

// A deadline is named as its user has given it, and doubted where it is many times what it takes; a
// run without a profile hears which is nearest.
func TestAVerdictInItsUsersWords(t *testing.T) {
	c := ledgertest.New(t, "a", "b") // On 15 January 2027, 08:00 UTC.
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("sales north")})
	seating := placement.Seating{Seats: []placement.Seat{{Node: c.View().Node("a"), Executors: 1}, {Node: c.View().Node("b"), Executors: 1}}, Cores: 8, Slots: 8}
	for _, w := range []struct {
		profile  string
		deadline units.Seconds
		moment   bool
		says     string
	}{
		{"sales north", 120, false, "deadline 2m0s is feasible: all cores would finish in 68s"},
		{"sales north", 680 * 2, false, "deadline 22m40s is feasible: all cores would finish in 68s; that is 20 times what it takes, and it holds its memory until then"},
		{"sales north", 75, true, "due Friday 15 January 10:01:15 is tight: all cores would finish in 68s"},
		{"sales north", 72 * 86400, true, "due Sunday 28 March 10:00 is feasible: all cores would finish in 68s; that is "},
		{"sales north", 320 * 86400, true, "due Wednesday 1 December 2027 10:00 is feasible"},
		{"sales south", 120, true, `due Friday 15 January 10:02 is unknown to be feasible: there is no profile "sales south" yet; this run takes all cores and records it; the nearest is "sales north": --pacer-profile would plan with that`},
		{"sales nord", 0, false, `the run is recorded as profile "sales nord"; the nearest is "sales north"`},
		{"wordcount", 0, false, `the run is recorded as profile "wordcount"`},
	} {
		mode := ledger.Paced
		if c.View().Profile("", w.profile) == nil {
			mode = ledger.Recording
		}
		a := &ledger.App{Promise: ledger.Promise{Profile: w.profile, Start: c.Now, Deadline: w.deadline, ByMoment: w.moment, Mode: mode},
			Tenant: ledger.Tenant{UTCOffset: 7200}, Outcome: ledger.Outcome{State: api.AppRunning}, Profile: c.View().Judged("", w.profile)}
		v := verdict.Policy{}.Judge(outlook(c), a, seating, c.Now)
		if !strings.Contains(v.Reason, w.says) || strings.HasSuffix(w.says, "in 68s") && !strings.HasSuffix(v.Reason, w.says) || w.profile == "wordcount" && strings.Contains(v.Reason, "nearest") {
			t.Errorf("%+v: %q", w, v.Reason)
		}
	}
}

// From where an application stands its verdict is another one.
func TestAgain(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	a := c.App("app-1", "p", 120, "a", "b")
	p := verdict.Policy{}
	if v := p.Again(outlook(c), a, ledger.Gate{}); v.Verdict != api.VerdictFeasible || (v.Gate != ledger.Gate{}) {
		t.Errorf("at the start: %+v", v)
	}
	c.To(80)
	if v := p.Again(outlook(c), a, ledger.Gate{}); v.Verdict != api.VerdictInfeasible || !v.Gate.Infeasible || v.Earliest < 140 || !strings.Contains(v.Reason, "all cores from now on") {
		t.Errorf("with nothing done after 80 s of 120: %+v", v)
	}
	if v := p.Again(outlook(c), a, ledger.Gate{Late: true}); !v.Gate.Late {
		t.Errorf("the gate that was given is gone: %+v", v)
	}
	c.Know(ledger.ModeSet{App: a.ID, Mode: ledger.Unpaced})
	if v := p.Again(outlook(c), a, ledger.Gate{}); v.Verdict != api.VerdictUnknown {
		t.Errorf("unpaced: %+v", v)
	}
}

// An application whose deadline seemed infeasible is paced once what is done leaves 3 % of
// the time to spare, and not before.
func TestTightened(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	a := c.App("app-1", "p", 60, "a", "b")
	c.Know(ledger.GateSet{App: a.ID, Gate: ledger.Gate{Infeasible: true}})
	p := verdict.Policy{}
	if levers := p.Repace(outlook(c), a); levers != nil {
		t.Errorf("at the start: %+v", levers)
	}
	s := c.Ready(a, 1, "read", 3000, "1", "2")
	c.To(5) // A quarter of what the profile says.
	c.Done(a, s, 60, 1)
	levers := p.Repace(outlook(c), a)
	if v := levers[0].(ledger.Judged); len(levers) != 1 || v.Verdict != api.VerdictTight && v.Verdict != api.VerdictFeasible {
		t.Errorf("15 s ahead of its profile: %+v", levers)
	}
	c.Know(ledger.GateSet{App: a.ID, Gate: ledger.Gate{Late: true}})
	if levers = p.Repace(outlook(c), a); levers != nil {
		t.Errorf("past its deadline: %+v", levers)
	}
}
