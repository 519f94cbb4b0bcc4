package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// change gives parts of a, which are other ones, the version of the batch. The next snapshot copies
// a anew, and Close looks at it.
func (b *batch) change(a *App, what parts) {
	a.copies = copies{}
	a.Clocks.Changes++
	if a.versions.batch != b.number {
		a.versions.batch = b.number
		b.apps = append(b.apps, a)
	}
	a.versions.set(what, b.number)
}

// changeStage gives s, of an application that changes, the version of the batch.
func (b *batch) changeStage(s *Stage) { s.versions.changed, s.copied = b.number, nil }

// changeNode has Close compare n's Plan, and do what its parts ask for.
func (b *batch) changeNode(n *Node, what nodeParts) {
	b.nodes[n.Node] = true
	if what&nodeState != 0 {
		n.book.changed = b.number
	}
	if what&nodeAnew != 0 {
		n.book.renewed = b.number
	}
}

// isNew reports whether one of the parts of a has changed in the batch at hand.
func (b *batch) isNew(a *App, what parts) bool { return a.versions.newer(what, b.number-1) }

// put has Close save a value under a key; nil removes it.
func (b *batch) put(key string, value []byte) {
	b.pairs = append(b.pairs, api.Pair{Key: key, Value: value})
}

// aside takes records out of what is read at a start, because of err. It returns an error where no
// planner can do without them. Their applications, nodes and profiles are not lost with them: nodes and drivers say
// what they have, and profiles are recorded anew.
func (b *batch) aside(what string, err error, records ...api.Pair) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", what, err)
	if errors.Is(err, errLayout) {
		return err
	}
	for _, r := range records {
		b.put(asidePrefix+r.Key, r.Value)
		b.put(r.Key, nil)
	}
	b.faults = append(b.faults, fmt.Errorf("it cannot be read and is set aside, under %s: %w",
		asidePrefix, err))
	return nil
}

// concerned returns the applications that have changed and are not history, in order of
// id.
func (b *batch) concerned(apps map[api.AppID]*App) []*App {
	concerned := slices.DeleteFunc(b.apps, func(a *App) bool { return apps[a.ID] != a })
	b.apps = b.apps[:0]
	slices.SortFunc(concerned, func(a, b *App) int { return cmp.Compare(a.ID, b.ID) })
	return concerned
}

// dropTargets takes the targets of all stages away.
func (b *batch) dropTargets(a *App) {
	for _, s := range a.Order {
		b.drop(a, s)
	}
}

// drop takes a stage's targets away: its executors have all cores then.
func (b *batch) drop(a *App, s *Stage) {
	if len(s.Targets) > 0 {
		s.Targets = nil
		b.changeStage(s)
		b.change(a, partTargets)
	}
}
