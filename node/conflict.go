package node

import (
	"fmt"

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

// conflict is what the engine knows of another writer of an executor's quota. The
// zero value is peace.
type conflict struct {
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

func (c *control) aimsAt() aim {
	if c == nil {
		return aim{}
	}
	return aim{true, c.target.StageKey, c.target.Rev}
}

// YieldState is somebody else's quota that is yielded to, for State: a restarted
// engine goes on yielding if it is still in force.
type YieldState struct {
	// Quota is theirs, -1 for none.
	Quota units.Cores `json:"quota"`
	Under aim         `json:"under"`
}

func (x *executor) saveYield() *YieldState {
	if !x.conflict.yields {
		return nil
	}
	s := &YieldState{Quota: x.quota, Under: x.conflict.under}
	if s.Quota.IsUnlimited() {
		s.Quota = -1
	}
	return s
}

func (x *executor) restoreYield(s *YieldState) {
	x.conflict = conflict{said: true, foreign: true, yields: true, under: s.Under}
	if x.quota = s.Quota; s.Quota < 0 {
		x.quota = units.Unlimited
	}
}

// contest takes in that x's quota is somebody else's value.
func (e *Engine) contest(x *executor, writer string) {
	k := &x.conflict
	e.counters.Conflicts++
	if !k.said {
		e.event(x.contested(writer, e.cfg.Conflict))
	}
	k.said, k.foreign, k.calm = true, true, 0
	switch {
	case e.cfg.Conflict == Yield:
		k.yields, k.under = true, x.ctl.aimsAt()
		e.mustSave = true
	case k.written > 0:
		k.hold = min(firstHold<<(k.written-1), lastHold)
		if x.ctl != nil {
			x.ctl.resync = true // What is in force for that long is theirs (Eq 19).
		}
	}
}

func (x *executor) contested(writer string, how Conflict) Event {
	ev := Event{Kind: EventQuotaConflict, Key: x.key}
	if x.ctl != nil {
		ev = x.ctl.event(EventQuotaConflict, "")
	}
	if writer == "" {
		writer = "somebody else"
	}
	then := "writing ours again"
	if how == Yield {
		then = "leaving it until the stage ends"
	}
	ev.Detail = fmt.Sprintf("%s cores written by %s: %s", x.quota, writer, then)
	return ev
}

// rest takes in that a sample has shown the value that the engine counts on.
func (k *conflict) rest() {
	if !k.said {
		return
	}
	k.hold = max(0, k.hold-1)
	if k.foreign {
		return
	}
	if k.calm++; k.calm >= peace {
		*k = conflict{}
	}
}

// settle ends yielding when control aims at something else than it did: the stage
// has ended, was released, or has a new target.
func (k *conflict) settle(now *control) {
	if k.yields && (now.aimsAt() != k.under || (now != nil && now.ready == 0)) {
		*k = conflict{}
	}
}

// writes reports whether a quota may be written now, and takes in that it will.
func (k *conflict) writes() bool {
	switch {
	case !k.foreign:
		return true
	case k.yields || k.hold > 0:
		return false
	}
	k.foreign = false
	k.written = min(k.written+1, 8)
	return true
}
