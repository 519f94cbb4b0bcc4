package planner

import (
	"errors"
	"maps"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// Turn gathers what steps ask for and says in which order it takes effect: what is to be
// saved is saved first, all in one piece, then Plans and Directives are sent, then
// requests are answered. The caller of an Engine takes its actions into a Turn and ends it, after one step or after
// several. The zero value is empty; a Turn is used again after its end. It is not safe for concurrent use.
type Turn struct {
	unsaved    []api.Pair
	plans      map[string]api.Plan
	directives map[api.AppID]api.Directive
	replies    []Reply
	questions  []Action
}

// Take adds what a step has returned. Plans and Directives are whole values: a newer one
// replaces the one that waits.
func (t *Turn) Take(actions []Action) {
	for _, action := range actions {
		switch a := action.(type) {
		case Save:
			t.unsaved = append(t.unsaved, a.Changes...)
		case PublishPlan:
			if t.plans == nil {
				t.plans = map[string]api.Plan{}
			}
			t.plans[a.Plan.Node] = a.Plan
		case PublishDirective:
			if t.directives == nil {
				t.directives = map[api.AppID]api.Directive{}
			}
			t.directives[a.App] = a.Directive
		case Reply:
			t.replies = append(t.replies, a)
		case Answer:
			t.questions = append(t.questions, a)
		}
	}
}

// End calls save with all changes, if there are any, and returns what is to be carried out
// then, in this order: Dropped, PublishPlan by node, PublishDirective by application, Reply,
// Answer. Plans come before replies, for a driver that reads its reply may rely on them.
//
// A change that the store will never take (api.RefusedError) is Dropped: it would
// keep all others back for ever.
//
// When save fails, End returns its error, and refusals with KindTransient in the place of
// the replies that promise something: nothing is promised that is not stored. Changes, Plans
// and Directives wait for the next end.
func (t *Turn) End(save func([]api.Pair) error) ([]Action, error) {
	var actions []Action
	for len(t.unsaved) > 0 {
		err := save(t.unsaved)
		if err == nil {
			t.unsaved = t.unsaved[:0]
			break
		}
		if !t.drop(err) {
			t.unsaved = newest(t.unsaved)
			return append(actions, t.answers(readOnly(err))...), err
		}
		actions = append(actions, Dropped{Err: err})
	}
	if len(t.plans)+len(t.directives)+len(t.replies)+len(t.questions) == 0 {
		return actions, nil // Most statuses of nodes ask for nothing.
	}
	for _, node := range slices.Sorted(maps.Keys(t.plans)) {
		actions = append(actions, PublishPlan{Plan: t.plans[node]})
	}
	for _, app := range slices.Sorted(maps.Keys(t.directives)) {
		actions = append(actions, PublishDirective{App: app, Directive: t.directives[app]})
	}
	clear(t.plans)
	clear(t.directives)
	return append(actions, t.answers(nil)...), nil
}

// drop leaves out the changes that the store has refused for their own sake, and reports whether
// there were any.
func (t *Turn) drop(err error) bool {
	var refused *api.RefusedError
	if !errors.As(err, &refused) {
		return false
	}
	before := len(t.unsaved)
	t.unsaved = slices.DeleteFunc(t.unsaved, func(c api.Pair) bool { return slices.Contains(refused.Keys, c.Key) })
	return len(t.unsaved) < before
}

// answers are the replies that wait, with refusals that say fault in the place of those that
// promise something if there is one.
func (t *Turn) answers(fault *api.Error) []Action {
	var actions []Action
	for _, r := range t.replies {
		if fault != nil && !r.Reads {
			r.Body = refusal(r.Body, fault)
		}
		actions = append(actions, r)
	}
	actions = append(actions, t.questions...)
	t.replies, t.questions = t.replies[:0], nil
	return actions
}

// newest keeps the last change of each key, so that a store that fails for long
// does not make the list grow.
func newest(changes []api.Pair) []api.Pair {
	last := make(map[string]int, len(changes))
	for i, c := range changes {
		last[c.Key] = i
	}
	kept := changes[:0]
	for i, c := range changes {
		if last[c.Key] == i {
			kept = append(kept, c)
		}
	}
	return kept
}
