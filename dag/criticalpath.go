package dag

import (
	"math"

	"github.com/sparkpacer/pacer/units"
)

// SplitCriticalPath is the name of the split by which stages that run side by
// side share the time of their path, not that of their sum.
const SplitCriticalPath = "critical-path"

// splitCriticalPath divides the time left as if all that is left were worked off
// by a constant number of cores. Whatever runs side by side shares these cores in proportion to the work of its branch,
// so that branches reach the stage that joins them together. A stage may take until it ends in that schedule. Stages
// one after the other get time in proportion to their work: Eq 1 and 3 with beta = 0 and work for duration. A stage
// that runs alone and cannot use all cores counts as if it kept them busy (occupied). With fewer executors than
// branches it is a list schedule: a stage that finds none waits its turn (seats).
func splitCriticalPath(p Params, b *backlog, m situation) units.Seconds {
	spent := m.spent + b.overhead()
	all, time := b.all().left, p.horizon(b, m, noNode)-spent
	if last, least, ok := b.unsteered(p, m, time); ok {
		time = p.horizon(b, m, last) - spent - least
		all = b.without(last)
	}
	m.seats.begin(p.Executors, m.seated)
	return time * units.Seconds(b.share(m.node, m.seats)/all)
}

// Steerable is the shortest time left in which a node's controller, which sees
// first progress after a slot or two, can make up for a bad prediction. With an aim
// just before the deadline (Params.Aim) nothing follows a last stage that could: a
// shorter one is not held back.
const Steerable units.Seconds = 2

// unsteeredMore is by how much longer than in the recorded run, as a share of that, a stage may
// take that has all cores.
const unsteeredMore = 0.1

// LeastCores is what an executor with running tasks has in any case.
const LeastCores units.Cores = 0.1

// unsteered returns the application's last stage, and the time that it takes at all cores and a tenth more
// (unsteeredMore). It does so if it is still to come, alone, and its part of time would be less than Steerable, but
// more than that. It will have all cores, so the rest of its part is for the stages before it. So is what it cannot use
// by the least cores that its executors have.
func (b *backlog) unsteered(p Params, m situation, time units.Seconds) (last int, least units.Seconds, ok bool) {
	last = len(b.left) - 1
	n := &b.graph.nodes[last]
	if p.Aim == 0 || b.left[last] == over || m.node == last || !n.alone {
		return 0, 0, false
	}
	least = (1 + unsteeredMore) * max(n.stage.Duration, n.stage.LongestTask)
	part := time * units.Seconds(b.left[last]/b.all().left)
	slowest := max(least, units.Seconds(n.stage.CoreSeconds)/units.Seconds(LeastCores)/units.Seconds(max(1, p.Nodes)))
	if part < Steerable || slowest < Steerable {
		return last, least, part > least
	}
	return last, slowest, part > slowest
}

// without takes the last stage, which is alone, out until undo, and returns what else is left.
func (b *backlog) without(last int) float64 {
	leaf := b.leaf(last)
	was := leaf.left
	leaf.left = 0
	b.sum(last)
	all := b.all().left
	leaf.left = was
	b.sum(last)
	b.note(last)
	owner := b.owner[last]
	if owner == noNode {
		owner = b.owner[b.cut]
	}
	switch {
	case b.heads.has(last):
		b.heads.remove(last)
	case owner != shared:
		b.note(owner)
		b.follows[owner] -= b.left[last]
	}
	b.left[last] = over
	return all
}

// occupied returns by node the work of each stage, or, where it runs alone, what all cores of the recorded run could
// have done in the time that it took there, if that is more. Few or long tasks bound it, or they wait for their input.
// Such a stage is stretched like the others, not held to the least time that it needs. How long a stage takes beside
// others says nothing of the kind; but with one executor none runs beside others, and its tasks bound it as they do a
// lone one.
func (g *Graph) occupied(one bool) []float64 {
	all := make([]float64, len(g.nodes))
	for i := range g.nodes {
		n := &g.nodes[i]
		if n.stage == nil {
			continue
		}
		w := work(n.stage)
		all[i] = w
		least := max(float64(n.stage.LongestTask), w/float64(n.stage.Tasks))
		if n.alone {
			least = max(least, float64(n.stage.Duration))
		}
		if n.alone || one {
			all[i] = max(w, float64(g.profile.Cores)*least)
		}
	}
	return all
}

// share returns how much of all that is left, in core-seconds, will have been
// worked off when the stage at node s ends, if q has the executors. It changes q, and leaves b as it
// was before without.
func (b *backlog) share(s int, q *listSchedule) (done float64) {
	cut := b.cut
	for left := true; left; {
		active := q.admit(b.heads)
		if len(active) == 0 {
			break // No event has told of what s waits for.
		}
		sum, next := 0.0, math.Inf(1)
		b.branch = b.branch[:0]
		for _, i := range active {
			branch := b.left[i] + max(0, b.follows[b.owner[i]])
			b.branch = append(b.branch, branch)
			sum += branch
			next = min(next, b.left[i]/branch)
		}
		done += next * sum
		// At one core in all, i has branch[i]/sum of it. Stages that end together end at once, whatever the rounding.
		ends := func(k, i int) bool { return b.left[i]-next*b.branch[k] <= rounding*b.branch[k] }
		for k, i := range active {
			left = left && (i != s || !ends(k, i))
		}
		for k, i := range active {
			switch {
			case !left: // Other stages that end then are nothing to s.
			case ends(k, i):
				b.end(i)
			default:
				b.note(i)
				b.left[i] -= next * b.branch[k]
			}
		}
	}
	b.undo()
	b.cut = cut
	return done
}
