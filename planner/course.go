package planner

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/pause"
	"github.com/sparkpacer/pacer/deciders/schedule"
	"github.com/sparkpacer/pacer/ledger"
)

// course sees to what running applications have before them, by their profiles and by what they show.
type course struct{ *core }

// ready gives the stages of a that have become ready their deadlines, in order of id.
func (c course) ready(a *ledger.App) {
	ready := c.said.ready
	slices.SortFunc(ready, ledger.CompareStages)
	extra := false // Stages that run beside them have other times.
	for _, s := range ready {
		known, moved := c.match(a, s)
		if extra = extra || moved; !known || !a.Paced() || s.Done != nil {
			continue
		}
		extra = extra || s.Estimated() || a.Profile.Beside(s)
		if extra || pause.Paused(a) {
			c.apply(pause.Weigh(c.outlook, a)...)
		}
		c.apply(schedule.Ready(c.outlook, a, s))
	}
	if extra && len(a.Opened()) > 1 {
		c.retarget(a) // Stages that run beside it share the time with it.
	}
}

// match finds the annotation of a stage that has become ready, in order of id, and reports whether there is
// one. A stage that the profile lacks is extra work: what it takes is estimated. Moved says that the run
// is of another variant from now on.
func (c course) match(a *ledger.App, s *ledger.Stage) (known, moved bool) {
	if a.Profile == nil {
		return false, false
	}
	inOrder := !a.Profile.Match.Reordered()
	if !c.record(ledger.StageMatched{App: a.ID, Stage: s.Key()}) {
		return false, false
	}
	if place, is := a.Profile.Rivals.Better(); is {
		moved = c.record(ledger.VariantTaken{App: a.ID, Place: place, Stage: s.Key()})
	}
	if moved && a.Promise.Mode == ledger.Paced {
		c.say(a.ID, fmt.Sprintf("stage %d (%s) shows another variant of profile %q: it is planned for that", s.Key().Stage,
			s.Ready.Name, a.Promise.Profile))
	}
	c.ordered(a, inOrder)
	for _, o := range a.Opened() {
		if o.Annotation == ledger.Unmatched && ledger.CompareStages(o, s) < 0 {
			c.add(a, o) // It is not what it was taken for: this one is.
		}
	}
	return s.Annotation != ledger.Unmatched || c.add(a, s), moved
}

// ordered tells the user of a that its run, which was in order until now, is in another one. Running stages were
// planned with the other belief.
func (c course) ordered(a *ledger.App, inOrder bool) {
	if !inOrder || a.Promise.Mode != ledger.Paced || !a.Profile.Match.Reordered() {
		return
	}
	c.say(a.ID, estimate.Order(a))
	c.retarget(a)
}

// add has a stage that a's profile lacks be extra work, and reports whether it is.
func (c course) add(a *ledger.App, s *ledger.Stage) bool {
	first := !slices.ContainsFunc(a.Order, (*ledger.Stage).Estimated)
	if !c.record(ledger.StageAdded{App: a.ID, Stage: s.Key(), Extra: estimate.Extra(a, s)}) {
		return false
	}
	if first && a.Promise.Mode == ledger.Paced {
		c.say(a.ID, fmt.Sprintf("stage %d (%s) is not in profile %q: what it takes is estimated", s.Key().Stage, s.Ready.Name,
			a.Promise.Profile))
	}
	return true
}

// queryEnded takes out of a's course what is left of a SQL query that has ended: what runs has its time.
func (c course) queryEnded(a *ledger.App, execution int64) {
	left := a.Profile.Match.Leaves(execution)
	if c.record(ledger.QueryEnded{App: a.ID, Execution: execution, Left: left}) && left {
		c.retarget(a)
	}
}

// estimated looks at what stages that the profile lacks have shown since they were planned: their
// application's targets come back, and follow.
func (c course) estimated(a *ledger.App) {
	if !a.Paced() || !slices.ContainsFunc(a.Opened(), (*ledger.Stage).Estimated) {
		return
	}
	if pause.Paused(a) {
		c.apply(pause.Weigh(c.outlook, a)...)
		return
	}
	if slices.ContainsFunc(a.Opened(), func(s *ledger.Stage) bool { return estimate.Drifted(a, s) }) {
		c.retarget(a)
	}
}
