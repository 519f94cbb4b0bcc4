package planner

import (
	"math"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// pace is what an executor has done for a stage lately, smoothed over paceTime.
type pace struct {
	used, request units.Cores
	running       int
	seen          bool // It has been told of at all.
	// at is when the newest tick was, since when the first, on the application's
	// deadline clock.
	at, since units.Seconds
}

const (
	// paceTime smooths what ticks show: shorter than a hand-over is worth, longer
	// than a garbage collection.
	paceTime units.Seconds = 2
	// paceKnown is how long an executor must have been seen at work on a stage
	// before its speed counts.
	paceKnown units.Seconds = 3
	// heldShare of what it asks for is what an executor gets that is not held
	// back; less tells of a node that is slower than it says.
	heldShare = 0.85
	// freeShare of a node's free cores is counted on: the rest is for what comes
	// between.
	freeShare = 0.9
	// handOverEvery is the least time between two hand-overs of a stage: what the
	// first one changes has to show before the next is decided.
	handOverEvery = 4 * time.Second
	// resettle is how long after a change of bindings the nodes' words are about
	// the new shares.
	resettle = 2 * time.Second
	// priorTasks is how many mean tasks the profile's prediction of a stage's
	// work weighs beside what the executor has shown.
	priorTasks = 2
)

// keep takes one tick of an executor's work for a stage in.
func (p *pace) keep(at units.Seconds, sample api.StageSample) {
	if !p.seen {
		*p = pace{used: sample.Used, request: sample.Request, seen: true, at: at, since: at}
	}
	dt := min(max(at-p.at, 0), paceTime)
	keep := units.Cores(math.Exp(-float64(dt / paceTime)))
	p.used = keep*p.used + (1-keep)*sample.Used
	p.request = keep*p.request + (1-keep)*sample.Request
	p.running, p.at = sample.Running, max(p.at, at)
}

// rebalance hands the tails of a's running stages over from executors that will
// not be in time to such that can be.
func (e *Engine) rebalance(a *app) {
	if !a.paced() {
		return
	}
	for _, s := range a.open() {
		if !s.Planned || len(s.Targets) < 2 || e.now < s.handOver.Add(handOverEvery) {
			continue
		}
		left := units.FromDuration(s.DeadlineAt.Sub(e.now))
		// Mostly all are in time without their nodes' free cores, and the more with
		// them: who else is there need not be looked at.
		if !e.foldParts(a, s, false) || inTime(e.parts, left) {
			continue
		}
		e.foldParts(a, s, true)
		parts := e.parts
		shares := handOver(parts, left)
		if shares == nil {
			continue
		}
		s.handOver = e.now
		s.share(a, shares)
		e.occur(TailHandedOver{App: a.ID, Stage: s.key(), Moved: moved(parts, shares), Late: min(worst(parts, left), farthest)})
	}
}

// share asks the driver to divide s as given, in the order of its targets.
func (s *stage) share(a *app, shares []float64) {
	a.marks.Revs++
	s.ShareRev, s.Shares = a.marks.Revs, nil
	for i, t := range s.Targets {
		s.Shares = append(s.Shares, api.ExecutorShare{Executor: t.Executor, Weight: shares[i]})
	}
	s.dirty = true
	a.steer()
}

// foldParts makes e.parts what is known of s's targets, with their nodes' free cores
// or without; false when that is not enough to decide on, or some of its executors
// are about to leave.
func (e *Engine) foldParts(a *app, s *stage, withFree bool) bool {
	e.parts = e.parts[:0]
	for _, t := range s.Targets {
		v, x, n := s.view(t.Executor), a.executor(t.Executor), e.nodes[t.Node]
		if !v.pace.seen || v.pace.at-v.pace.since < paceKnown || x == nil || x.Leaving || n == nil || t.Work <= 0 {
			return false
		}
		done, free := t.Weight*float64(v.progress), units.Cores(0)
		if withFree {
			free = e.free(n)
		}
		e.parts = append(e.parts, part{weight: t.Weight, done: done, running: float64(v.pace.running), speed: s.speed(a, t, done, &v.pace, free, n)})
	}
	return true
}

// speed is the most that an executor could do, in weight per second: what it
// does for a core-second times what it uses and could use besides.
func (s *stage) speed(a *app, t target, done float64, p *pace, free units.Cores, n *node) float64 {
	prior := float64(t.Work) / t.Weight * priorTasks
	perCore := (done + priorTasks) / (float64(s.figure(t.Executor).CPU) + prior)
	cores := p.used
	if p.used >= heldShare*p.request {
		cores += freeShare * free
	}
	if !n.here() {
		// It may be there or not: what cannot be seen at work is not counted on.
		cores = 0
	}
	return perCore * float64(min(cores, units.Cores(slotsOn(n, a.Launch))))
}

// capacity is what n has for executors now: as the node's own rule (its doc.go),
// but without smoothing, and others count down to half of what is offered, where
// the node keeps more: work is not to go where a busy neighbour may be.
func (n *node) capacity() units.Cores {
	return min(n.Offered, max(n.Offered/2, n.Total-n.others))
}

// free is what of n's capacity no stage uses.
func (e *Engine) free(n *node) units.Cores {
	free := n.capacity()
	for _, here := range e.tenants[n.Node] {
		for _, x := range here.executors {
			for _, s := range here.app.open() {
				free -= s.view(x.ID).pace.used
			}
		}
	}
	return max(0, free)
}

// shares are the hand-overs of a's running stages.
func (a *app) shares() []api.StageShares {
	var all []api.StageShares
	for _, s := range a.open() {
		if s.ShareRev > 0 {
			all = append(all, api.StageShares{StageKey: s.key(), Rev: s.ShareRev, Shares: s.Shares})
		}
	}
	return all
}

func sameShares(a, b api.StageShares) bool {
	return a.StageKey == b.StageKey && a.Rev == b.Rev && slices.Equal(a.Shares, b.Shares)
}
