package ledger

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// DeadlinesKey is that of what is learnt of deadlines (QueueLearnt). No profile has it, and it is never dropped for
// others.
const DeadlinesKey = ""

// NodesKey is that of what is learnt of executors that share nodes (QueueLearnt), by which nodes sleep. No profile has
// it, it is never dropped for others, and it may take more bytes than what is learnt of one profile.
const NodesKey = "\x00nodes"

// Waiting are the applications that are queued, in order of id.
func (v View) Waiting() []*App { return v.l.waiting }

// Learnt is what a policy of the queue has last learnt under that key, nil for nothing.
func (v View) Learnt(key string) []byte { return v.l.learnt[key] }

// QueuePolicy is the policy that an operator wants of the queue, nil where the planner's configuration counts.
func (v View) QueuePolicy() *api.QueuePolicy { return v.l.wishes.policy }

// Bounds of what policies of the queue keep: keys, and bytes of each.
const (
	mostLearnt      = 1000
	mostLearntBytes = 4096
	mostNodesBytes  = 80 << 10 // Of NodesKey: all pairs of states there are.
)

// enqueue has a wait.
func enqueue(l *Ledger, a *App, w Wait) {
	a.Outcome.State, a.Wait = api.AppQueued, &w
	i, _ := slices.BinarySearchFunc(l.waiting, a.ID, compareApp)
	l.waiting = slices.Insert(slices.Clone(l.waiting), i, a)
	l.changed.touch(PartWaiting)
}

// dequeue has a wait no longer, if it did.
func dequeue(l *Ledger, a *App) {
	if i, found := slices.BinarySearchFunc(l.waiting, a.ID, compareApp); found {
		l.waiting = slices.Delete(slices.Clone(l.waiting), i, i+1)
		l.changed.touch(PartWaiting)
	}
	if a.Wait != nil {
		a.Tenant.Waited = max(0, a.At(l.now)-max(0, a.At(a.Wait.Since)))
	}
	a.Wait, a.Given = nil, nil
}

func compareApp(a *App, id api.AppID) int { return cmp.Compare(a.ID, id) }

// givenTo are the executors that applications were asked to give back for that one, in order of application and id.
func givenTo(apps map[api.AppID]*App, id api.AppID) (all []Given) {
	for _, a := range apps {
		for _, x := range a.Tenant.Executors {
			if x.For == id {
				all = append(all, Given{a.ID, x.ID, x.Node})
			}
		}
	}
	slices.SortFunc(all, func(x, y Given) int {
		return cmp.Or(cmp.Compare(x.App, y.App), api.CompareExecutors(x.ID, y.ID))
	})
	return all
}
