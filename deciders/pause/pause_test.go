package pause_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/deciders/pause"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

func paused(is bool) ledger.Fact {
	return pause.TargetsPaused{OfApp: ledger.OfApp{App: "app-1"}, Paused: is, Known: 0.4}
}

// Facts of pauses: whether targets are paused after them, for how long they were, and how their application runs.
func TestFactsOfPauses(t *testing.T) {
	for _, x := range []struct {
		name   string
		before []ledger.Fact // One every ten seconds, from 10 s on.
		paused bool
		until  units.Seconds // At the last ten seconds after them.
		runs   string
	}{
		{"never", nil, false, 0, "paced"},
		{"paused", []ledger.Fact{paused(true)}, true, 10, "paused"},
		{"and back", []ledger.Fact{paused(true), paused(false)}, false, 10, "paced"},
		{"paused twice", []ledger.Fact{paused(true), paused(false), paused(true)}, true, 20, "paused"},
		{"said again", []ledger.Fact{paused(true), paused(true)}, true, 20, "paused"},
		{"let go", []ledger.Fact{paused(true), ledger.ModeSet{App: "app-1", Mode: ledger.Released}}, true, 0, "released"},
		{"without a gate", []ledger.Fact{paused(true), ledger.GateSet{App: "app-1", Gate: ledger.Gate{Late: true}}}, true, 20, "released"},
		{"another deadline", []ledger.Fact{paused(true), ledger.DeadlineGiven{App: "app-1", Deadline: 300}}, true, 20, "paused"},
	} {
		c := ledgertest.New(t, "a")
		c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
		a := c.App("app-1", "p", 200, "a")
		for i, f := range x.before {
			c.To(units.Seconds(10 * (i + 1)))
			c.Know(f)
		}
		at := units.Seconds(10 * (len(x.before) + 1))
		if pause.Paused(a) != x.paused || pause.Until(a, at) != x.until || a.Pacing() != x.runs {
			t.Errorf("%s: %v, for %v, %s", x.name, pause.Paused(a), pause.Until(a, at), a.Pacing())
		}
		if fault := c.Audit(); fault != "" {
			t.Errorf("%s: %s", x.name, fault)
		}
	}
	c := ledgertest.New(t, "a")
	if err := c.Record(paused(true)); err == nil || !strings.Contains(err.Error(), "application app-1 is not there") {
		t.Errorf("an application of nobody is paused: %v", err)
	}
	c.App("app-1", "q", 0, "a")
	if line := c.Know(paused(true)).Changes[0].Line(); line.Text != "app-1 has all cores for now: 40 % of what is left of it is known" || line.Fields[1] != "app-1" {
		t.Errorf("%+v", line)
	}
}
