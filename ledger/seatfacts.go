package ledger

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Resized: what an application's nodes offer has changed.
type Resized struct {
	App   api.AppID
	Cores units.Cores
	Slots int
}

func (f Resized) apply(l *Ledger) error {
	a, err := l.app(f.App)
	if err != nil {
		return err
	}
	if err := amounts("a size", float64(f.Cores), float64(f.Slots)); err != nil {
		return err
	}
	a.Tenant.Cores, a.Tenant.Slots = f.Cores, f.Slots
	a.touch()
	return nil
}

// Seated: an application has got executors on nodes, one for each name in their order:
// at its registration, or since, when Grown.
type Seated struct {
	App   api.AppID
	Nodes []string
	// OffHeap is what an executor has off the heap, where it is not grown.
	OffHeap units.Bytes
	Grown   bool
}

func (f Seated) apply(l *Ledger) error {
	a, err := l.app(f.App)
	if err != nil {
		return err
	}
	for _, node := range f.Nodes {
		if _, err := l.node(node); err != nil {
			return err
		}
	}
	if !f.Grown {
		a.Tenant.Launch.OffHeap = f.OffHeap
	}
	for _, node := range f.Nodes {
		l.add(a, node)
	}
	a.Tenant.Pool += len(f.Nodes)
	a.Tenant.Resized = a.Tenant.Resized || f.Grown
	return nil
}

// SeatsLooked: it was looked whether an application may have more executors.
type SeatsLooked struct{ App api.AppID }

func (f SeatsLooked) apply(l *Ledger) error {
	a, err := l.app(f.App)
	if err != nil {
		return err
	}
	a.Clocks.Grown = l.growth
	return nil
}

// PendingSet: these nodes' executors are still to be replaced.
type PendingSet struct {
	App   api.AppID
	Nodes []string
}

func (f PendingSet) apply(l *Ledger) error {
	a, err := l.app(f.App)
	if err != nil {
		return err
	}
	a.Tenant.Pending, a.keep.record = f.Nodes, true
	return nil
}

// ReplacementSent: an executor on Node takes the place of one that was lost. Replacements
// from before Since do not count any more.
type ReplacementSent struct {
	App   api.AppID
	Node  string
	Since units.Instant
}

func (f ReplacementSent) apply(l *Ledger) error {
	a, err := l.app(f.App)
	if err != nil {
		return err
	}
	if _, err := l.node(f.Node); err != nil {
		return err
	}
	t := &a.Tenant
	t.Replaced = slices.DeleteFunc(t.Replaced, func(at units.Instant) bool { return at < f.Since })
	t.Replaced = append(t.Replaced, l.now)
	l.add(a, f.Node)
	return nil
}

// ReplacementStopped: no executor of an application is replaced any more.
type ReplacementStopped struct{ App api.AppID }

func (f ReplacementStopped) apply(l *Ledger) error {
	a, err := l.app(f.App)
	if err != nil {
		return err
	}
	a.Tenant.GaveUp, a.Tenant.Pending = true, nil
	a.touch()
	return nil
}
