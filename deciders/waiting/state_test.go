package waiting_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// comes has an application wait, which is last.
func comes(c *ledgertest.Cluster, id api.AppID) *ledger.App {
	c.Know(ledger.Registered{ID: id, Name: string(id), Serial: c.View().Serial() + 1, Queued: true,
		Tenant:  ledger.Tenant{Submission: "of " + string(id), Launch: api.Launch{Heap: units.GiB}},
		Promise: ledger.Promise{Profile: string(id), Start: c.Now, Mode: ledger.Recording, Judgement: ledger.Judgement{Verdict: api.VerdictNone}}})
	return c.View().App(id)
}

// Facts say where an application waits, and some cannot be true.
func TestFactsOfPlaces(t *testing.T) {
	const impossible = true
	start := ledgertest.Start
	last := waiting.State{Since: start, Place: 2, Of: 2}
	placed := waiting.State{Since: start, Place: 1, Of: 2, Start: start.Add(time.Minute), Latest: start.Add(time.Hour), Node: "a", Why: "no room", Idle: "one is idle"}
	with := func(s waiting.State) ledger.Fact {
		return waiting.Placed{OfApp: ledger.OfApp{App: "second"}, Wait: s}
	}
	for _, x := range []struct {
		name       string
		fact       ledger.Fact
		impossible bool
		has        waiting.State
	}{
		{"placed", with(placed), false, placed},
		{"behind the last", with(waiting.State{Place: 3, Of: 2}), impossible, last},
		{"beside more than wait", with(waiting.State{Place: 1, Of: 3}), impossible, last},
		{"nowhere", with(waiting.State{}), impossible, last},
		{"since later", with(waiting.State{Place: 1, Of: 2, Since: start.Add(time.Hour)}), impossible, last},
		{"until before all time", with(waiting.State{Place: 1, Of: 2, Latest: -1}), impossible, last},
		{"on no node", with(waiting.State{Place: 1, Of: 2, Node: "z"}), impossible, last},
		{"it runs", waiting.Placed{OfApp: ledger.OfApp{App: "runs"}, Wait: placed}, impossible, last},
		{"the clock is read", ledger.ClockRead{App: "second", Ahead: 3}, false, waiting.State{Since: start.Add(-3 * time.Second), Place: 2, Of: 2}},
		{"it starts", ledger.Started{App: "second", Seats: ledger.Seats{Nodes: []string{"a"}, Cores: 4}, Mode: ledger.Recording, Judgement: ledger.Judgement{Verdict: api.VerdictNone}}, false, waiting.State{Waited: 5}},
		{"it ends", ledger.RunEnded{App: "second", State: api.AppFailed, At: 5}, false, waiting.State{Waited: 5}},
		{"another one ends", ledger.RunEnded{App: "first", State: api.AppFailed, At: 5}, false, last},
	} {
		c := ledgertest.New(t, "a", "b")
		c.App("runs", "p", 0, "a")
		comes(c, "first")
		a := comes(c, "second")
		if got := waiting.Of(a); got != last {
			t.Fatalf("one that comes waits at %+v", got)
		}
		c.To(5)
		err := c.Record(x.fact)
		if (err != nil) != x.impossible || waiting.Of(a) != x.has {
			t.Errorf("%s: %v, %+v", x.name, err, waiting.Of(a))
		}
		e := c.Close()
		if fault := c.Audit(); fault != "" || x.impossible && len(e.Pairs) > 0 {
			t.Errorf("%s: %s, saved %v", x.name, fault, e.Pairs)
		}
		if q := a.Queue(); (q != nil) != a.Queued() || x.name == "placed" && *q != (api.Queue{Place: 1, Of: 2, Start: 60, Latest: 3600, Why: "no room; one is idle"}) {
			t.Errorf("%s: its user is told %+v", x.name, q)
		}
		if got := waiting.Of(a).Took(a, c.Now); got != 5 && x.has.Since == start || !a.Queued() && got != 5 {
			t.Errorf("%s: it has waited %v", x.name, got)
		}
	}
}

// Gifts are known of the application that gives while the other one waits, where it has started, and by the name of
// another executor no more.
func TestGifts(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	gives, waits := c.App("gives", "p", 0, "a", "b"), comes(c, "waits")
	c.To(3)
	c.Know(ledger.ExecutorLeaving{App: gives.ID, ID: "2", For: waits.ID, Node: "b"})
	gift := waiting.Gift{ID: "2", For: waits.ID, At: 3}
	if given := waiting.Given(c.View())[waits.ID]; len(given) != 1 || given[0].Gift != gift || given[0].Executor() != gives.Executor("2") || !slices.Equal(waiting.Gifts(gives), []waiting.Gift{gift}) {
		t.Fatalf("given %+v, gives %+v", given, waiting.Gifts(gives))
	}
	for name, f := range map[string]waiting.Stayed{"another executor": {ID: "1", For: waits.ID}, "for another one": {ID: "2", For: "other"}, "no executor": {ID: "7", For: waits.ID}} {
		f.OfApp = ledger.OfApp{App: gives.ID}
		if err := c.Record(f); err == nil {
			t.Errorf("%s has stayed", name)
		}
	}
	turns := c.View().Version(ledger.PartTurns)
	c.Know(waiting.Stayed{OfApp: ledger.OfApp{App: gives.ID}, ID: "2", Node: "b", For: waits.ID, After: time.Minute})
	if g, _ := waiting.GiftOf(gives, "2"); !g.Stayed || c.View().Version(ledger.PartTurns) <= turns {
		t.Errorf("%+v stays, and turns are of fact %d, before %d", g, c.View().Version(ledger.PartTurns), turns)
	}
	c.Know(ledger.Started{App: waits.ID, Seats: ledger.Seats{Nodes: []string{"a"}, Cores: 4}, Mode: ledger.Recording, Judgement: ledger.Judgement{Verdict: api.VerdictNone}})
	if g, given := waiting.GiftOf(gives, "2"); !given || g.For != waits.ID || waiting.Given(c.View()) != nil {
		t.Errorf("%+v once it has started, given %+v", g, waiting.Given(c.View()))
	}
	if c.Know(ledger.ExecutorLeaving{App: gives.ID, ID: "1"}); len(waiting.Gifts(gives)) != 1 {
		t.Errorf("of a node that drains: %+v", waiting.Gifts(gives))
	}
}
