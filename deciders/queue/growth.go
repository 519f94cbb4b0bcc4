package queue

import (
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
)

// Share is on how many nodes an application may have executors by the rule of the queue.
type Share struct {
	// Nodes is 0 where the rule says nothing of the application, which counts as 1. More says that it may have more than
	// before, and that nobody has looked since whether it can.
	Nodes int  `json:"nodes,omitempty"`
	More  bool `json:"more,omitempty"`
}

var shares = ledger.Register(ledger.Facet[*ledger.App, Share]{Name: "share", Passing: true, After: Share.after})

// ShareOf is a's.
func ShareOf(a *ledger.App) Share { return shares.Of(a) }

// after is s after a fact: it was looked whether the application can have more.
func (s Share) after(_ ledger.View, _ *ledger.App, f ledger.Fact) (Share, bool) {
	if _, looked := f.(ledger.SeatsLooked); !looked || !s.More {
		return s, false
	}
	return Share{Nodes: s.Nodes}, true
}

// Shared: the rule of the queue lets an application have executors on so many nodes.
type Shared struct {
	ledger.OfApp
	ledger.Pulled
	Nodes int
}

// Line is what it says.
func (Shared) Line() ledger.Line { return ledger.Line{Name: "share of nodes set"} }

// Apply says what a has from now on.
func (f Shared) Apply(_ ledger.View, _ *ledger.App, s *Share) error {
	if f.Nodes < 0 {
		return fmt.Errorf("%d nodes", f.Nodes)
	}
	*s = Share{Nodes: f.Nodes, More: s.More && f.Nodes > 0 || f.Nodes > s.Nodes}
	return nil
}

// Divide says on how many nodes each application that runs may have executors now, where that is another number.
func (p Policy) Divide(o *estimate.Outlook) (levers []ledger.Lever) {
	nodes := p.Shares(o)
	for a := range o.View.Running() {
		if n := nodes[a.ID]; n != ShareOf(a).Nodes {
			levers = append(levers, Shared{OfApp: ledger.OfApp{App: a.ID}, Nodes: n})
		}
	}
	return levers
}

// Shares are on how many nodes each application that runs may have executors by p's rule, nil where it bounds none.
func (p Policy) Shares(o *estimate.Outlook) map[api.AppID]int {
	if p.Backfills() {
		return nil
	}
	b := p.newBook(o, slices.Clone(o.View.Waiting()))
	for _, a := range b.line {
		b.enter(a, o.View.Judged(a.Tenant.Owner.User, a.Promise.Profile))
	}
	b.sort()
	shares, s := make(map[api.AppID]int), b.assign()
	for i := range s.Serving {
		id := api.AppID(s.Serving[i].ID)
		shares[id] = s.granted(id)
	}
	return shares
}

const (
	// calm is for how long an application that has given back gets nothing, and keeps what it has got since it started.
	calm = 2 * time.Minute
	// worthwhile is what has to be left of a run for more executors: a start costs 6 to 8 core-seconds.
	worthwhile = time.Minute
)

// Grows reports whether a, which runs, may get executors on more nodes now: it has given none back a moment ago, and
// does not end in a moment.
func Grows(o *estimate.Outlook, a *ledger.App) bool {
	now := a.At(o.View.Now())
	for _, g := range waiting.Gifts(a) {
		if (now - g.At).Duration() < calm {
			return false
		}
	}
	end := o.Predicted(a)
	return end == 0 || (end-now).Duration() >= worthwhile
}
