package dag

import (
	"math"

	"github.com/sparkpacer/pacer/units"
)

// SplitCriticalPath is the name of the split by which stages that run side by
// side share the time of their path, not that of their sum.
const SplitCriticalPath = "critical-path"

// splitCriticalPath divides the time left as if all that is left were worked off
// by a constant number of cores. Whatever runs side by side shares these cores
// in proportion to the work of its branch, so that branches reach the stage that
// joins them together; a stage may take until it ends in that schedule. Stages
// one after the other get time in proportion to their work: Eq 1 and 3 with
// beta = 0 and work for duration. A stage that runs alone and cannot use all cores
// counts as if it kept them busy (occupied). With fewer executors than branches it is
// a list schedule: a stage that finds none waits its turn (seats).
func splitCriticalPath(g *Graph, p Params, m Moment) units.Seconds {
	m.room = m.room.of(len(g.profile.Stages))
	left := m.left(g, p.Executors)
	spent := m.Spent + g.Overhead(m.Unsubmitted)
	time := p.horizon(g, m, noStage) - spent
	if last, least, ok := g.unsteered(p, m, left, time); ok {
		time, left[last] = p.horizon(g, m, g.profile.Stages[last].ID)-spent-least, over
	}
	all := sum(left) // Before share, which changes left.
	return time * units.Seconds(g.share(m.room, g.index[m.Stage], newListSchedule(g, p, m))/all)
}

func sum(left []float64) (all float64) {
	for _, work := range left {
		all += max(0, work)
	}
	return all
}

// Steerable is the shortest time left in which a node's controller, which sees
// first progress after a slot or two, can make up for a bad prediction. With an aim
// just before the deadline (Params.Aim) nothing follows a last stage that could: a
// shorter one is not held back.
const Steerable units.Seconds = 2

// unsteeredMore is by how much longer than in the recorded run, as a share of that, a stage may
// take that has all cores.
const unsteeredMore = 0.1

// unsteered returns the place of the application's last stage, and the time that it
// takes at all cores and a tenth more (unsteeredMore), if it is still to come, alone, and
// its part of time would be less than Steerable, but more than that: it will have
// all cores, so the rest of its part is for the stages before it.
func (g *Graph) unsteered(p Params, m Moment, left []float64, time units.Seconds) (last int, least units.Seconds, ok bool) {
	last = len(left) - 1
	if p.Aim == 0 || left[last] == over || g.index[m.Stage] == last || !g.alone[last] {
		return 0, 0, false
	}
	s := g.profile.Stages[last]
	least = (1 + unsteeredMore) * max(s.Duration, s.LongestTask)
	part := time * units.Seconds(left[last]/sum(left))
	return last, least, part < Steerable && part > least
}

// over marks a stage that is not left.
const over = -1

// left returns by place what of each stage is left at moment m: work (occupied), not
// time, in core-seconds, and over for stages that have ended. No stage is left with
// less than a share of the whole that keeps the schedule's divisions finite.
func (m Moment) left(g *Graph, executors int) []float64 {
	left, all := m.room.left, 0.0
	for i := range g.profile.Stages {
		left[i] = over
		all += g.occupied(i, executors)
	}
	whole := func(id int, part float64) {
		if i, ok := g.index[id]; ok {
			left[i] = max(leastWork*all, part*g.occupied(i, executors))
		}
	}
	for _, id := range m.Unsubmitted {
		whole(id, 1)
	}
	for _, r := range m.Running {
		whole(r.Stage, r.Left)
	}
	whole(m.Stage, 1)
	return left
}

// occupied is the work of the stage at place i, or, where it runs alone, what all
// cores of the recorded run could have done in the time that it took there, if
// that is more: few or long tasks bound it, or they wait for their input. Such a
// stage is stretched like the others, not held to the least time that it needs.
// How long a stage takes beside others says nothing of the kind; but with one
// executor none runs beside others, and its tasks bound it as they do a lone one.
func (g *Graph) occupied(i, executors int) float64 {
	s := g.profile.Stages[i]
	w := work(s)
	least := max(float64(s.LongestTask), w/float64(s.Tasks))
	switch {
	case g.alone[i]:
		least = max(least, float64(s.Duration))
	case executors != 1:
		return w
	}
	return max(w, float64(g.profile.Cores)*least)
}

// leastWork is the share of all work that a stage counts for at least.
const leastWork = 1e-6

// share returns how much of all that is left, in core-seconds, will have been
// worked off when the stage at place s ends, if q has the executors. It changes what r has
// and q.
func (g *Graph) share(r *room, s int, q *listSchedule) float64 {
	var done float64
	left, branch := r.left, r.branch
	for left[s] != over {
		active := q.admit(g.branches(r))
		sum, next := 0.0, math.Inf(1)
		for _, i := range active {
			sum += branch[i]
			next = min(next, left[i]/branch[i])
		}
		done += next * sum
		for _, i := range active {
			// At one core in all, i has branch[i]/sum of it. What ends together ends
			// at once, whatever the rounding.
			if left[i] -= next * branch[i]; left[i] <= rounding*branch[i] {
				left[i] = over
			}
		}
	}
	return done
}

// shared is the owner of a stage that more than one branch leads to.
const shared = -2

// branches returns the places of the stages that nothing left comes before, and
// fills in r.branch: for these, the work of the stage and of all that only it leads
// to.
func (g *Graph) branches(r *room) (active []int) {
	left, branch, owner, active := r.left, r.branch, r.owner, r.active[:0]
	for i, work := range left {
		if work == over {
			continue
		}
		owner[i] = i
		begins := true
		for _, before := range g.before[i] {
			switch {
			case left[before] == over:
			case begins:
				owner[i], begins = owner[before], false
			case owner[i] != owner[before]:
				owner[i] = shared
			}
		}
		if begins {
			branch[i] = 0
			active = append(active, i)
		}
		if owner[i] != shared {
			branch[owner[i]] += work
		}
	}
	return active
}
