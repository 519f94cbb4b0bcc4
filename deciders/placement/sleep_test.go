package placement

import (
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// Facts of nodes that sleep: what they make of one, and which cannot be true.
func TestFactsOfSleep(t *testing.T) {
	now := ledgertest.Start.Add(7 * units.Seconds(1).Duration())
	woken := Sleep{Until: now.Add(awakeFor)}
	slept := func(node string, asleep bool) ledger.Fact {
		return NodeSlept{OfNode: ledger.OfNode{Node: node}, Asleep: asleep, Why: "so it is"}
	}
	for _, x := range []struct {
		name       string
		before     []ledger.Fact
		fact       ledger.Fact
		impossible bool
		has        Sleep
		draining   bool
	}{
		{"sleeps", nil, slept("a", true), false, Sleep{Asleep: true}, true},
		{"wakes", []ledger.Fact{slept("a", true)}, slept("a", false), false, woken, false},
		{"sleeps again", []ledger.Fact{slept("a", true), slept("a", false)}, slept("a", true), false, Sleep{true, woken.Until}, true},
		{"drained in its sleep", []ledger.Fact{slept("a", true)}, ledger.NodeDrained{Node: "a", Draining: true}, false, woken, true},
		{"undrained in its sleep", []ledger.Fact{slept("a", true)}, ledger.NodeDrained{Node: "a"}, false, woken, false},
		{"drained awake", nil, ledger.NodeDrained{Node: "a", Draining: true}, false, Sleep{}, true},
		{"lost in its sleep", []ledger.Fact{slept("a", true)}, ledger.NodeLost{Node: "a"}, false, Sleep{Asleep: true}, true},
		{"sleeps already", []ledger.Fact{slept("a", true)}, slept("a", true), true, Sleep{Asleep: true}, true},
		{"is awake", nil, slept("a", false), true, Sleep{}, false},
		{"an operator drains it", []ledger.Fact{ledger.NodeDrained{Node: "a", Draining: true}}, slept("a", true), true, Sleep{}, true},
		{"the last one", []ledger.Fact{slept("b", true)}, slept("a", true), true, Sleep{}, false},
		{"a lost one", []ledger.Fact{ledger.NodeLost{Node: "a"}}, slept("a", true), true, Sleep{}, false},
		{"a node of nobody", nil, slept("x", true), true, Sleep{}, false},
		{"others have room", nil, NodeSpare{OfNode: ledger.OfNode{Node: "a"}}, false, Sleep{}, false},
	} {
		c := ledgertest.New(t, "a", "b")
		c.To(7)
		c.Know(x.before...)
		v := c.View()
		a, growth := v.Node("a"), v.Version(ledger.PartGrowth)
		drained := a.Draining()
		err := c.Record(x.fact)
		if (err != nil) != x.impossible || SleepOf(a) != x.has || a.Draining() != x.draining || Wakes(a) != (x.has.Asleep && a.Here()) {
			t.Errorf("%s: %v, %+v, draining: %v", x.name, err, SleepOf(a), a.Draining())
		}
		if listed := slices.Contains(v.Draining(), a); listed != x.draining || slices.Contains(v.Live(), a) != (!x.draining && a.Here()) {
			t.Errorf("%s: it is listed as draining: %v", x.name, listed)
		}
		if drained != x.draining && v.Version(ledger.PartGrowth) == growth {
			t.Errorf("%s: nobody learns that there are other nodes to grow on", x.name)
		}
		e := c.Close()
		if fault := c.Audit(); fault != "" || x.impossible && len(e.Pairs) > 0 {
			t.Errorf("%s: %s, saved %v", x.name, fault, e.Pairs)
		}
	}
}
