package node

import (
	"fmt"
	"math"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// farthest bounds the time that a target may leave: what is further away never
// comes, and Instants do not overflow.
const farthest = 365 * 24 * time.Hour

// control is one target in force on one executor.
type control struct {
	target api.StageTarget
	x      *executor
	record *record
	// start and deadline anchor the target's Remaining on this clock; from is
	// the weight done at start.
	start, deadline units.Instant
	from            float64
	// held is until when the target's Hold counts.
	held   units.Instant
	meter  meter.Meter
	width  width
	chains []float64 // Scratch of left.

	// law is nil until the first division has said what c of Eq 7 is granted.
	law *controller.Controller
	// at is the page timestamp of the last step.
	at units.Instant
	// active says that it takes part in the division of this tick; everActive
	// that it has in an earlier one.
	active, everActive bool
	// ready is what runnable was when the executor was last woken.
	ready int
	// good is when law last took an input; released says that it has refused them
	// for too long: all cores until the target changes.
	good     units.Instant
	released bool
	// resync asks to go on from what is in force (Eq 19); retarget that law has
	// not yet been told of a new Rev.
	resync, retarget bool
	erring           bool
	// request is rc, grant is cc, told what law takes for granted.
	request, grant, told units.Cores
	// spent is the CPU time that the stage has used since the last step.
	spent units.Work
	out   controller.Output
}

func (c *control) event(kind EventKind, detail string) Event {
	return Event{Kind: kind, Key: c.x.key, Stage: c.target.StageKey, HasStage: true, Detail: detail}
}

// aimsAt names c's target, for one who yields until it changes; nil has none.
func (c *control) aimsAt() aim {
	if c == nil {
		return aim{}
	}
	return aim{true, c.target.StageKey, c.target.Rev}
}

// checkTarget says what makes t impossible to control.
func checkTarget(t *api.StageTarget) error {
	bad := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) || v < 0 }
	switch {
	case bad(t.Weight) || t.Weight == 0:
		return fmt.Errorf("weight is %v, want a finite number > 0", t.Weight)
	case t.Tasks <= 0:
		return fmt.Errorf("tasks is %d, want > 0", t.Tasks)
	case math.IsNaN(float64(t.Remaining)):
		return fmt.Errorf("remaining_s is %v", float64(t.Remaining))
	case !(t.Reading >= 0 && t.Reading <= 1):
		return fmt.Errorf("reading is %v, want 0 to 1", float64(t.Reading))
	case !(t.FixedPart >= 0 && t.FixedPart < 1):
		return fmt.Errorf("fixed part is %v, want 0 or more, below 1", float64(t.FixedPart))
	case bad(float64(t.Work)) || bad(t.Records) || bad(float64(t.InitCores)) || bad(float64(t.LongestTask)) ||
		bad(float64(t.TaskCores)) || bad(float64(t.TaskCost)) || bad(float64(t.Hold)) || bad(float64(t.HoldFor)):
		return fmt.Errorf(
			"core_seconds, records, init_cores, hold_cores, hold_s, longest_task_s, task_cores or task_cost_core_seconds is " +
				"not a finite number >= 0")
	}
	return nil
}

// anchor fixes what was left of a deadline at that moment on this clock.
func anchor(now units.Instant, remaining units.Seconds) units.Instant {
	return now.Add(min(max(remaining.Duration(), -farthest), farthest))
}

// aim takes t as the target, from now on, with its time left anchored at sent.
func (c *control) aim(t api.StageTarget, now, sent units.Instant) {
	c.target, c.released = t, false
	c.start, c.deadline = now, anchor(sent, t.Remaining)
	c.width.expect(max(t.TaskCores, c.x.room.taskCores))
	c.meter.Bound(t.Weight)
	c.from = c.meter.Done()
}

// hold takes over at what t holds the executor, if at all, and for how long: that
// changes without a new Rev, and the law goes on after it.
func (c *control) hold(t *api.StageTarget, sent units.Instant) {
	c.target.Hold, c.target.HoldFor = t.Hold, t.HoldFor
	c.held = anchor(sent, t.HoldFor)
}

// leastWork is the least work, in core-seconds, of which a rate says something: with next to
// none it would be no finite number, which a saved state cannot have.
const leastWork = 1e-9

// rate is Kf: the weight done per core-second. Where the planner does not know
// the work, Eq 6 says what it must have taken it for.
func (c *control) rate() float64 {
	work := float64(c.target.Work)
	if work < leastWork {
		work = float64(c.target.InitCores) * max(0, c.deadline.Sub(c.start).Seconds())
	}
	if work < leastWork {
		return 0
	}
	return c.target.Weight / work
}

func (c *control) aimed() controller.Target {
	return controller.Target{Start: c.start, Deadline: c.deadline, Weight: c.target.Weight, Rate: c.rate(),
		Init: c.target.InitCores, Done: c.from}
}

// runnable is how many tasks could run on the executor now: those that run, or
// those that are left and find a slot. 0 means that the share is done. Tasks is how
// many a share has by their mean; one whose tasks are heavier is begun before.
func (c *control) runnable() int {
	running := max(0, c.record.running)
	ready := min(c.x.room.atOnce, c.target.Tasks-c.record.finished)
	if ready > running && !c.meter.AllBegun(&c.target) {
		return ready
	}
	return running
}

// usable is how many cores the tasks that could run can use. How many the tasks of a new stage can use shows when they
// have what the planner gives them.
func (c *control) usable() units.Cores {
	usable := units.Cores(c.ready) * max(1, c.width.Most)
	if c.ready > 0 && c.width.Seen < widthSteps {
		usable = max(usable, min(c.target.InitCores, units.Cores(c.x.room.slots)))
	}
	return usable
}

// each is how many cores a task is taken to use: until that has been seen, as many as it may.
func (c *control) each() units.Cores {
	if c.ready > 0 && c.width.Seen < widthSteps {
		return c.usable() / units.Cores(c.ready)
	}
	return c.width.Now
}

// priorPart is the part of a share that its predicted CPU time is worth against what it has used
// so far: a JVM's first tasks use more than the others.
const priorPart = 0.1

// saves is how much less of what is left of the share its CPU time is than predicted, by what it has used so far for
// what is done. Held back, tasks use less than with all cores, with which the profile was made. 0 where they use more.
func (c *control) saves() units.Work {
	predicted, used := c.target.Work, c.record.cpu
	done := units.Work(units.Fraction(c.meter.Done() / c.target.Weight).Clamp())
	whole := (used + priorPart*predicted) / (done + priorPart)
	return max(0, predicted-used-whole*(1-done))
}

// longest is what the stage's longest task weighs by the Plan, 0 where it does not say.
func (c *control) longest() float64 {
	if c.target.LongestTask == 0 {
		return 0
	}
	return float64(c.target.LongestTask) * c.rate()
}

// left is what is left for each slot, nothing where that is not known.
func (c *control) left(longest float64) []float64 {
	c.chains = c.meter.Chains(c.chains, &c.target, c.record.finished+c.record.running, c.x.room.atOnce, longest)
	return c.chains
}

// longestAlike is the weight up to which a stage's longest task is like the others: a
// JVM's first tasks take up to three times as long, for its code is not compiled.
const longestAlike = 3

// alike reports whether no task of the share is known to be large, nor predicted.
func (c *control) alike(longest float64) bool {
	return c.meter.Alike() && longest > 0 && longest <= longestAlike
}

// first is the request before a controller's first step: Eq 7, or all that can
// be used when the planner gives no cores or the deadline has passed.
func (c *control) first(limit units.Cores) units.Cores {
	if c.target.InitCores <= 0 || c.deadline <= c.start {
		return limit
	}
	return c.target.InitCores
}

// inForce is the value from which control goes on after it was interrupted. It is the unrounded grant if that is what
// is in force, else the quota in force (limit, if a write failed where there was none). Where quotas were lifted
// nothing is in force, and the work left over the time left (Eq 6 anew) is the best start.
func (c *control) inForce(now units.Instant, cfg *Config, limit units.Cores) units.Cores {
	quota := c.x.quota
	inForce := quota
	if quota.IsUnlimited() {
		inForce = limit
	}
	switch {
	case c.grant > 0 && math.Abs(float64(c.grant-inForce)) < float64(cfg.Quantum):
		return c.grant
	case !quota.IsUnlimited() || c.x.refused:
		return inForce
	}
	left := c.deadline.Sub(now).Seconds() * cfg.Controller.Phi
	if rate := c.rate(); rate > 0 && left > 0 {
		return min(limit, units.Cores((c.target.Weight-c.meter.Done())/rate/left))
	}
	return limit
}

// sample fills s with how c stood in this tick.
func (c *control) sample(r *record, s *api.StageSample, now units.Instant) {
	s.SetPoint = c.out.SetPoint
	s.Progress = units.Fraction(c.meter.Done() / c.target.Weight).Clamp()
	if s.Progress != r.progress {
		r.progress, r.changed = s.Progress, now
	}
	if c.active {
		s.Request = c.request
		if !c.x.quota.IsUnlimited() {
			s.Grant = c.grant
		}
	}
}
