package ledger

import (
	"maps"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// Effects are what the facts since the last Close make necessary. They are the caller's.
type Effects struct {
	// Changes are those facts, in order: what a standby, an audit or a live stream reads.
	Changes []Change
	// Pairs have to be in the store before anything else here takes effect.
	Pairs []api.Pair
	// Again are Plans in force that their nodes seem not to have heard of, Plans and
	// Directives are new ones.
	Again      []api.Plan
	Directives []Directed
	Plans      []api.Plan
	// Faults say what could not be encoded, which will be missing after a restart, and what could
	// not be read after one.
	Faults []error
}

// Directed is the Directive of an application.
type Directed struct {
	App       api.AppID
	Directive api.Directive
}

// Close makes Plans, Directives and the store's records follow from the facts since it
// was called last.
func (l *Ledger) Close() Effects {
	b := &l.batch
	if len(b.apps)+len(b.nodes)+len(b.pairs)+len(b.again)+len(b.faults) == 0 && l.counters() == l.batch.saved {
		changes := b.changes
		b.changes = nil
		return Effects{Changes: changes} // Most statuses of nodes change nothing.
	}
	var e Effects
	for _, name := range b.again {
		if n := l.nodes[name]; n != nil {
			e.Again = append(e.Again, l.View().Plan(n))
		}
	}
	concerned := b.concerned(l.apps)
	var touched []*App
	for _, a := range concerned {
		if !l.batch.isNew(a, partPlans) {
			continue
		}
		touched = append(touched, a)
		if l.direct(a) && !a.Over() {
			e.Directives = append(e.Directives, Directed{a.ID, a.Directive})
		}
		for _, x := range a.Tenant.Executors {
			b.nodes[x.Node] = true
			if t := l.View().Allocation(a, x.Node); t != nil {
				t.entry = nil
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.nodes)) {
		n := l.nodes[name]
		switch {
		case n == nil || !l.compare(n):
		case l.untold(n):
			n.Published = 0 // It is told at its first status.
		default:
			e.Plans = append(e.Plans, l.View().Plan(n))
		}
	}
	for _, a := range touched {
		if held := a.Held(); held != a.Promise.Held {
			a.Promise.Held = held
			l.batch.change(a, partRecord)
		}
	}
	for _, a := range concerned {
		l.batch.saveApp(a)
	}
	clear(concerned) // Their room is kept, they are not: some are over.
	l.saveCounters()
	e.Changes, e.Pairs, e.Faults = b.changes, b.pairs, b.faults
	clear(b.nodes)
	b.number++
	b.changes, b.pairs, b.again, b.faults = nil, nil, b.again[:0], nil
	return e
}
