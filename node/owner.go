package node

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

const (
	// firstHold and lastHold bound how many ticks somebody else's quota is left
	// in force when ours did not last: 2 s, then doubled, 32 s at most with the
	// default interval.
	firstHold, lastHold = 4, 64
	// peace is after how many ticks with our own quota in force a conflict is
	// over: 10 s with the default interval.
	peace = 20
)

// owner says whose an executor's quota is, ours or another writer's. The zero value is
// ours, unchallenged.
type owner struct {
	// said says that it has begun and was told. foreign says that the other's
	// value is in force.
	said, foreign bool
	// written is how often ours was written over theirs, hold how many ticks more
	// it must not be, calm for how many ours has been in force.
	written, hold, calm int
	// yields says that theirs stays in force for as long as control aims at under.
	yields bool
	under  aim
}

// aim is a target of control; the zero value is none.
type aim struct {
	Any   bool         `json:"any"`
	Stage api.StageKey `json:"stage"`
	Rev   uint64       `json:"rev"`
}

// YieldState is somebody else's quota that is yielded to, for State: a restarted
// engine goes on yielding if it is still in force.
type YieldState struct {
	// Quota is theirs, -1 for none.
	Quota units.Cores `json:"quota"`
	Under aim         `json:"under"`
}

// state returns what is to be remembered while quota is in force, nil unless it is
// yielded to.
func (o *owner) state(quota units.Cores) *YieldState {
	if !o.yields {
		return nil
	}
	s := &YieldState{Quota: quota, Under: o.under}
	if s.Quota.IsUnlimited() {
		s.Quota = -1
	}
	return s
}

// restore returns the owner that s was, and its quota.
func (s *YieldState) restore() (owner, units.Cores) {
	quota := s.Quota
	if quota < 0 {
		quota = units.Unlimited
	}
	return owner{said: true, foreign: true, yields: true, under: s.Under}, quota
}

// contest takes in that another's value is in force while control aims at under. news
// says that a conflict begins, resync that theirs stays in force for a while, so that
// control has to go on from it (Eq 19).
func (o *owner) contest(how Conflict, under aim) (news, resync bool) {
	news = !o.said
	o.said, o.foreign, o.calm = true, true, 0
	switch {
	case how == Yield:
		o.yields, o.under = true, under
	case o.written > 0:
		o.hold = min(firstHold<<(o.written-1), lastHold)
		return news, true
	}
	return news, false
}

// confirm takes in that a sample has shown the value that the engine counts on.
func (o *owner) confirm() {
	if !o.said {
		return
	}
	o.hold = max(0, o.hold-1)
	if o.foreign {
		return
	}
	if o.calm++; o.calm >= peace {
		*o = owner{}
	}
}

// retarget ends yielding when control aims at something else than it did, or done: the
// stage has ended, was released, or has a new target.
func (o *owner) retarget(now aim, done bool) {
	if o.yields && (now != o.under || done) {
		*o = owner{}
	}
}

// writes reports whether a quota may be written now, and takes in that it will.
func (o *owner) writes() bool {
	switch {
	case !o.foreign:
		return true
	case o.yields || o.hold > 0:
		return false
	}
	o.foreign = false
	o.written = min(o.written+1, 8)
	return true
}
