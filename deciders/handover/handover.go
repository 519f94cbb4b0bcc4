package handover

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// AfterRebinding is the HandOver of a stage whose bindings change at now.
func AfterRebinding(now units.Instant) units.Instant { return now.Add(params.Rebinding - params.Every) }

// Decider finds tails to hand over. The zero value is ready to use; it keeps room from
// call to call, and nothing else.
type Decider struct{ parts []part }

// All are the hand-overs of the tails of the running stages of all paced applications.
func (d *Decider) All(v ledger.View) (moves []ledger.Lever) {
	for a := range v.Running() {
		if a.Paced() {
			moves = append(moves, d.Moves(v, a)...)
		}
	}
	return moves
}

// Moves are the hand-overs of the tails of a's running stages, of a paced application, from
// executors that will not be in time to ones that can be.
func (d *Decider) Moves(v ledger.View, a *ledger.App) (moves []ledger.Lever) {
	for _, s := range a.Opened() {
		if !s.Planned || len(s.Targets) < 2 || v.Now() < s.HandOver.Add(params.Every) {
			continue
		}
		left := units.FromDuration(s.DeadlineAt.Sub(v.Now()))
		// Mostly all are in time without their nodes' free cores, and the more with
		// them: who else is there need not be looked at.
		if !d.fold(v, a, s, false) || inTime(d.parts, left) {
			continue
		}
		d.fold(v, a, s, true)
		shares := word(d.parts, left, s.Ready.Tasks-s.Finished(), denied(s))
		if shares == nil {
			continue
		}
		m := ledger.StageShared{App: a.ID, Stage: s.Key(), Moved: moved(d.parts, shares),
			Late: min(worst(d.parts, left), ledger.Farthest)}
		for i, t := range s.Targets {
			m.Shares = append(m.Shares, api.ExecutorShare{Executor: t.Executor, Weight: shares[i]})
		}
		if m.Moved > 0 || !slices.Equal(m.Shares, s.Shares) { // That its last task is late is said once.
			moves = append(moves, m)
		}
	}
	return moves
}

// denied reports whether a running part of s had much less than it asked for: then others have its cores, and a copy of
// its last task would take more from them.
func denied(s *ledger.Stage) bool {
	return slices.ContainsFunc(s.Targets, func(t ledger.Target) bool {
		seen := s.Sight(t.Executor)
		return seen.Pace.Running > 0 && seen.Lacked > params.DeniedShare*(seen.Pace.At-seen.Pace.Since)
	})
}

// fold makes d.parts what is known of s's targets, with their nodes' free cores
// or without; false when that is not enough to decide on, or some of its executors
// are about to leave.
func (d *Decider) fold(v ledger.View, a *ledger.App, s *ledger.Stage, withFree bool) bool {
	d.parts = d.parts[:0]
	for _, t := range s.Targets {
		seen, x, n := s.Sight(t.Executor), a.Executor(t.Executor), v.Node(t.Node)
		if !seen.Pace.Seen || seen.Pace.At-seen.Pace.Since < params.PaceKnown || x == nil || x.Leaving || n == nil ||
			t.Work <= 0 {
			return false
		}
		done, spare := t.Weight*float64(seen.Progress), units.Cores(0)
		if withFree {
			spare = free(v, n) / units.Cores(beside(s, t.Node))
		}
		d.parts = append(d.parts, part{weight: t.Weight, done: done, running: float64(seen.Pace.Running),
			speed: speed(a, s, t, done, &seen.Pace, spare, n)})
	}
	return true
}

// beside is how many targets of s share a node and what is free there.
func beside(s *ledger.Stage, node string) (count int) {
	for i := range s.Targets {
		if s.Targets[i].Node == node {
			count++
		}
	}
	return count
}

// speed is the most that an executor could do, in weight per second: what it
// does for a core-second times what it uses and could use besides.
func speed(a *ledger.App, s *ledger.Stage, t ledger.Target, done float64, p *ledger.Pace, free units.Cores,
	n *ledger.Node) float64 {
	prior := float64(t.Work) / t.Weight * params.PriorTasks
	perCore := (done + params.PriorTasks) / (float64(s.Counter(t.Executor).CPU) + prior)
	cores := p.Used
	if p.Used >= params.HeldShare*p.Request {
		cores += params.FreeShare * free
	}
	if !n.Here() {
		// It may be there or not: what cannot be seen at work is not counted on.
		cores = 0
	}
	return perCore * float64(min(cores, units.Cores(n.Slots(a.Tenant.Launch))))
}

// capacity is what n has for executors now: as the node's own rule (package node), but without smoothing, and others
// count down to half of what is offered, where the node keeps more. Work is not to go where a busy neighbour may be.
func capacity(n *ledger.Node) units.Cores {
	return min(n.Offered, max(n.Offered/2, n.Total-n.Others))
}

// free is what of n's capacity no stage uses.
func free(v ledger.View, n *ledger.Node) units.Cores {
	free := capacity(n)
	for _, here := range v.Allocations(n.Node) {
		for _, x := range here.Executors {
			for _, s := range here.App.Opened() {
				free -= s.Sight(x.ID).Pace.Used
			}
		}
	}
	return max(0, free)
}
