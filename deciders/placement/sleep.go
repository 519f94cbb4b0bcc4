package placement

import (
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Sleep says whether a node drains because others have room for all that it has, and not because an operator wants
// that, and until when it does not sleep again.
type Sleep struct {
	Asleep bool          `json:"asleep,omitempty"`
	Until  units.Instant `json:"awake_until,omitempty"`
}

var sleep = ledger.Register(ledger.Facet[*ledger.Node, Sleep]{Name: "sleep", After: Sleep.after, Drains: Sleep.drains,
	Was: ledger.Member[Sleep]("sleep")})

// SleepOf is n's.
func SleepOf(n *ledger.Node) Sleep { return sleep.Of(n) }

// Wakes reports whether n sleeps, and would take executors if it was woken.
func Wakes(n *ledger.Node) bool { return sleep.Of(n).Asleep && n.Here() }

func (s Sleep) drains() bool { return s.Asleep }

// awakeFor is how long a node that was woken does not sleep again.
const awakeFor = 10 * time.Minute

// after is s after a fact: a node that an operator drains, or has take executors again, is awake.
func (s Sleep) after(v ledger.View, _ *ledger.Node, f ledger.Fact) (Sleep, bool) {
	if _, drained := f.(ledger.NodeDrained); !drained || !s.Asleep {
		return s, false
	}
	return Sleep{Until: v.Now().Add(awakeFor)}, true
}

// NodeSlept: a node that others have room for drains until it is woken, or is woken and stays awake for awakeFor. A
// node that an operator drains neither sleeps nor wakes.
type NodeSlept struct {
	ledger.OfNode
	ledger.Pulled
	Asleep bool
	Why    string
}

// Line is what it says.
func (f NodeSlept) Line() ledger.Line {
	if f.Asleep {
		return f.Says("node asleep", "node %s drains and sleeps: %s", f.Node, f.Why)
	}
	return f.Says("node awake", "node %s takes executors again: %s", f.Node, f.Why)
}

// Apply says whether n sleeps from now on.
func (f NodeSlept) Apply(v ledger.View, n *ledger.Node, s *Sleep) error {
	switch {
	case f.Asleep && (!n.Live() || len(v.Live()) < 2):
		return fmt.Errorf("node %s cannot sleep: it takes no executors, or no other one does", f.Node)
	case !f.Asleep && !s.Asleep:
		return fmt.Errorf("node %s does not sleep", f.Node)
	case f.Asleep:
		s.Asleep = true
	default:
		*s = Sleep{Until: v.Now().Add(awakeFor)}
	}
	return nil
}

// NodeSpare: others have room for all that a node has, which stays awake as the planner is configured.
type NodeSpare struct {
	ledger.OfNode
	Why string
}

// Line is what it says.
func (f NodeSpare) Line() ledger.Line {
	return f.Says("node spare", "node %s may sleep: %s", f.Node, f.Why)
}
