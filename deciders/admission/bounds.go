package admission

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// mostLiving is how many applications of a user run or wait at once where no bound says another
// number: more is a mistake, and costs everybody who looks and waits.
const mostLiving = 2000

// Bounded returns a KindDenied error that names the bound of by which the tenant t, a
// newcomer, would pass with that many executors, or waiting for them. An application that
// waits may start at any moment: it counts as one that runs, with one executor. Beyond mostLiving
// it is a KindTransient error.
func Bounded(v ledger.View, by api.Principal, t ledger.Tenant, executors int, waits bool) error {
	b := by.Bounds
	living, waiting, memory := has(v, by)
	living, memory = living+1, memory+takes(&t, executors)
	if waits {
		waiting++
	}
	class := cmp.Or(t.Class, api.ClassDeadline)
	switch {
	case len(b.Classes) > 0 && !slices.Contains(b.Classes, class):
		return passes(by, "classes", "class %s, of %v", class, b.Classes)
	case b.Running > 0 && living > b.Running:
		return passes(by, "running", "%d applications, at most %d", living, b.Running)
	case b.Running == 0 && by.Kind == api.PrincipalUser && living > mostLiving:
		return api.Errorf(api.KindTransient, "%d applications of user %s run or wait: more are taken when some have ended",
			living-1, by.Name)
	case b.Queued > 0 && waiting > b.Queued:
		return passes(by, "queued", "%d applications that wait, at most %d", waiting, b.Queued)
	case b.Memory > 0 && memory > b.Memory:
		return passes(by, "memory", "%v of executors, at most %v", memory, b.Memory)
	}
	return nil
}

// takes is what memory t takes with so many executors, or waiting for them.
func takes(t *ledger.Tenant, executors int) units.Bytes {
	if t.Nodes.Lone() {
		return t.Nodes.Lodged()
	}
	return t.Claim()*units.Bytes(max(1, executors)) + t.Nodes.Lodged()
}

// Most is how many executors of the tenant t, a newcomer, the bound of by's memory leaves; false where there
// is no bound.
func Most(v ledger.View, by api.Principal, t ledger.Tenant) (executors int, bounded bool) {
	if by.Bounds.Memory <= 0 || t.Claim() <= 0 {
		return 0, false
	}
	_, _, memory := has(v, by)
	return int(max(0, by.Bounds.Memory-memory-t.Nodes.Lodged()) / t.Claim()), true
}

// has is how many applications of by there are, how many of these wait, and what memory they take.
func has(v ledger.View, by api.Principal) (living, waiting int, memory units.Bytes) {
	for _, a := range v.Apps() {
		if a.Over() || a.Tenant.Owner.User != by.Name {
			continue
		}
		living++
		memory += takes(&a.Tenant, len(a.Alive()))
		if a.Queued() {
			waiting++
		}
	}
	return living, waiting, memory
}

func passes(by api.Principal, bound, format string, args ...any) error {
	return api.Errorf(api.KindDenied, "the bound %s of user %s: "+format+" (`pacer auth list -o json` shows it)",
		append([]any{bound, by.Name}, args...)...)
}
