package verdict

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// grants is how long an application's cluster manager has to give it what it asks for before it is judged by what it
// has.
const grants units.Seconds = 60

// Granted has the verdict on an attached application follow what its cluster manager has given it: as soon as that is
// all that it asks for, or after a while. It stays held back.
func (p Policy) Granted(o *estimate.Outlook, a *ledger.App) []ledger.Lever {
	t, has := placement.AttachmentOf(a), stay(a)
	if t.Wanted == 0 || has == 0 || !a.Paced() || has < t.Wanted && a.At(o.View.Now()) < t.Asked+grants {
		return nil
	}
	return p.held(o, a, "by the executors that it has: ")
}

// Reason explains the verdict on a: with what another cluster manager has given it, where one starts its executors.
func Reason(a *ledger.App) string {
	if grant := grant(a); grant != "" {
		return a.Promise.Reason + "; " + grant
	}
	return a.Promise.Reason
}

// grant says what an attached application's cluster manager has given it, and what of that is not guaranteed; "" for
// one that asks for nothing and has nothing.
func grant(a *ledger.App) string {
	attach, has, wanted := a.Tenant.Launch.Attach, stay(a), placement.AttachmentOf(a).Wanted
	if attach == nil || !a.Running() || has+wanted == 0 {
		return ""
	}
	said := fmt.Sprintf("%s has given it %d executors", attach.Manager, has)
	switch {
	case has == 0:
		said = fmt.Sprintf("%d executors are asked of %s", wanted, attach.Manager)
	case wanted > 0:
		said = fmt.Sprintf("%s has given it %d of %d executors", attach.Manager, has, wanted)
	}
	if slices.ContainsFunc(a.Alive(), func(x *ledger.Executor) bool { return x.Attached.Unguarded }) {
		said += ", unguarded: others on their nodes may take what they are promised"
	}
	return said
}

// stay is how many executors a has that do not leave.
func stay(a *ledger.App) (n int) {
	for _, x := range a.Alive() {
		if !x.Leaving {
			n++
		}
	}
	return n
}
