package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// queued is the application that waits and that a fact is about.
func queued(l *Ledger, id api.AppID) (*App, error) {
	a, err := l.app(id, partState)
	if err != nil {
		return nil, err
	}
	if !a.Queued() {
		return nil, fmt.Errorf("application %s is %s", id, a.Outcome.State)
	}
	return a, nil
}

// Started: an application waits no longer, and has executors.
type Started struct {
	App api.AppID
	Seats
	Mode Mode
	Judgement
	// Matched has it matched to the profile of its name as it is now.
	Matched bool
	// Waited is for how long it was queued.
	Waited time.Duration
}

func (f Started) apply(l *Ledger) error {
	a, err := queued(l, f.App)
	if err != nil {
		return err
	}
	if err := f.Judgement.check(); err != nil {
		return err
	}
	if err := f.Seats.check(l, a); err != nil {
		return err
	}
	if stored := l.profiles.find(a.Tenant.Owner.User, a.Promise.Profile); f.Matched && stored == nil {
		return fmt.Errorf("profile %s is not there", a.Promise.Profile)
	} else if f.Matched {
		useProfile(l, stored)
		a.Profile = l.profiles.draw(stored.Planned()).forRun(l.cfg.Beta)
		l.batch.change(a, partProfile)
	}
	l.waiting = nil
	l.changed.touch(PartApps | PartWaiting)
	a.Outcome.State = api.AppRunning
	f.Seats.take(l, a)
	a.Promise.Mode, a.Promise.Judgement = f.Mode, f.Judgement
	return nil
}

// QueueLearnt: the policy of the queue has learnt something, which is kept for it under a
// key. State is the policy's own. Of too many keys of profiles the one goes that was learnt last longest ago.
type QueueLearnt struct {
	Key   string
	State []byte
}

func (f QueueLearnt) apply(l *Ledger) error {
	most := mostLearntBytes
	if f.Key == NodesKey {
		most = mostNodesBytes
	}
	if len(f.State) == 0 || len(f.State) > most {
		return fmt.Errorf("%d bytes under %q", len(f.State), f.Key)
	}
	l.learnt[f.Key], l.taught[f.Key] = f.State, l.changed.seq+1
	if len(l.learnt) > mostLearnt {
		keys := slices.DeleteFunc(slices.Collect(maps.Keys(l.learnt)), func(key string) bool {
			return key == DeadlinesKey || key == NodesKey
		})
		oldest := slices.MinFunc(keys, func(a, b string) int {
			return cmp.Or(cmp.Compare(l.taught[a], l.taught[b]), cmp.Compare(a, b))
		})
		delete(l.learnt, oldest)
		delete(l.taught, oldest)
		l.batch.put(queueKey(oldest), nil)
	}
	l.batch.put(queueKey(f.Key), f.State)
	return nil
}

// QueuePolicySet: an operator wants the queue to be served by that policy; nil is as the planner is configured.
type QueuePolicySet struct{ Policy *api.QueuePolicy }

func (f QueuePolicySet) apply(l *Ledger) error { //nolint:unparam // A fact.
	l.wishes.policy = f.Policy
	l.changed.touch(PartRules)
	return nil
}
