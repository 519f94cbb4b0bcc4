package queue

import (
	"cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Policy says who starts.
type Policy struct {
	// Rule, Order and Size are each one of those of package assign; "" is its default.
	Rule, Order, Size string
	// Late says what becomes of deadlines that cannot be kept, with a name of package assign; "" is its default.
	Late string
	// Places says where applications get executors, Verdicts how they are judged.
	Places   placement.Policy
	Verdicts verdict.Policy
	// Findings are those of applications that wait, nil to find them each time.
	Findings *Findings
}

// What is the fate of an application that waits.
type What int

// Start gives it its seats, Wait its place, Refuse ends it. GiveBack is of one that runs: it gives what it has on
// a node to one that waits.
const (
	Start What = iota
	Wait
	Refuse
	GiveBack
)

// Choice is what is decided on an application.
type Choice struct {
	App  *ledger.App
	What What
	// Judgement is its verdict if that is done.
	Judgement ledger.Judgement
	// Seating is what it gets (Start), Cap the most cores of a node that go with it, 0 for no
	// cap. Mode is how it runs then, Matched that it is matched to the profile of its name.
	Seating placement.Seating
	Cap     units.Cores
	Mode    ledger.Mode
	Matched bool
	// Wait is its place (Wait, Refuse).
	Wait waiting.State
	// Err says why it is refused; it has a kind.
	Err error
	// Node is where App gives its executors back, For the application that gets their memory (GiveBack).
	Node string
	For  api.AppID
}

// Newcomer is an application that has come and is not in the ledger (waiting.Coming).
type Newcomer struct {
	App *ledger.App
	// Profile is the profile of its name, nil for none.
	Profile *ledger.Profile
	// NoWait has it refused where it would have to wait.
	NoWait bool
}

// rule is p as package assign has it.
func (p Policy) rule() assign.Policy {
	return assign.Policy{Rule: p.Rule, Order: p.Order, Size: p.Size}
}

// Backfills reports whether p's rule is the default, by which free memory alone says who starts.
func (p Policy) Backfills() bool { return p.Rule == "" || p.Rule == assign.Backfill }

// takesBack reports whether p's rule has applications give back.
func (p Policy) takesBack() bool {
	return p.Rule == assign.Flexible || p.Rule == assign.FlexiblePreemptive
}

// Patience is after how long an application without a deadline comes before those that are
// due later, and how long before its latest start one with a deadline counts as due then.
const Patience = assign.Patience

// due is when a has to have ended, or counts as having to. An application that has to start soon would otherwise be
// passed until too late by all that come and are due before it ends.
func due(now units.Instant, a *ledger.App) units.Instant {
	switch latest := waiting.Of(a).Latest; {
	case a.Promise.Deadline <= 0:
		return since(a).Add(Patience)
	case latest > 0 && latest <= now.Add(Patience):
		return latest
	}
	return a.Instant(a.Promise.Deadline)
}

// since is when a came.
func since(a *ledger.App) units.Instant {
	if w := waiting.Of(a); w.Waits() {
		return w.Since
	}
	return a.Promise.Start
}

// edf is earliest deadline first, or latest start where that is near, then arrival. An id that was brought along is no
// earlier arrival, whatever it says.
func edf(now units.Instant, a, b *ledger.App) int {
	return cmp.Or(cmp.Compare(due(now, a), due(now, b)), cmp.Compare(since(a), since(b)),
		cmp.Compare(brought(a), brought(b)), cmp.Compare(a.ID, b.ID))
}

// brought is 1 for an application that waits by an id which its driver has brought along, else 0.
func brought(a *ledger.App) int {
	if waiting.Of(a).Resumed {
		return 1
	}
	return 0
}
