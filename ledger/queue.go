package ledger

import (
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
func (v View) Waiting() []*App {
	if v.l.waiting == nil {
		v.l.waiting = slices.DeleteFunc(slices.Clone(v.Apps()), func(a *App) bool { return !a.Queued() })
	}
	return v.l.waiting
}

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
