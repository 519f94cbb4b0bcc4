package estimate

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
)

// laterShare is the part of its nodes' cores, and of its own speed at all cores, that counts
// for work which is put off until after another deadline. What drivers and JVMs that start take
// is not in any prediction, and what is put off cannot be put off again.
const laterShare = 0.85

// postpone has those who are due after a do as much of their work after a's deadline as there
// is room for, which leaves a more until then. Nodes that serve by deadline do so: whoever is
// due first has what it asks for, and the others catch up. Work that is due by some moment
// after a's deadline has room if, with all that is due earlier, it is at most what the nodes can
// do in between (the demand bound of earliest deadline first: Baruah, Rosier, Howell,
// "Algorithms and complexity concerning the preemptive scheduling of periodic, real-time tasks on
// one processor", Real-Time Systems 2, 1990, section 3), and each application at most what it
// does in that time at all cores. What was promised stays promised.
func postpone(v ledger.View, a *ledger.App, nodes []string, promises []Promise) []Promise {
	now, due := a.At(v.Now()), a.Promise.Deadline
	if due <= now || !InOrder(v, nodes) {
		return promises
	}
	cores := units.Cores(0)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(nodes))) {
		cores += v.Offered(name)
	}
	last := make([]int, 0, len(promises)) // Those due after a, in order of deadline.
	for i, p := range promises {
		if p.Until > due && p.Until < forever {
			last = append(last, i)
		}
	}
	slices.SortFunc(last, func(i, k int) int {
		return cmp.Or(cmp.Compare(promises[i].Until, promises[k].Until), cmp.Compare(promises[i].App, promises[k].App))
	})
	later := 0.0 // What is done after a's deadline by those so far, in core-seconds.
	for _, i := range last {
		p := promises[i]
		after := float64(p.Until - due)
		work := float64(p.Cores) * float64(p.Until-now)
		room := min(laterShare*float64(cores)*after-later, laterShare*work*after/p.fastest)
		steady := float64(p.Cores) * after
		least := min(float64(p.Cores), float64(supervisor.Default().Floor)) * float64(due-now)
		moved := max(steady, min(work-least, room))
		later += moved
		before := units.Cores((work - moved) / float64(due-now))
		promises[i].Taken = dag.Taken{Cores: before, Until: due}
		promises = append(promises, Promise{App: p.App, Taken: dag.Taken{Cores: units.Cores(moved / after), From: due, Until: p.Until}})
	}
	slices.SortStableFunc(promises, func(x, y Promise) int { return cmp.Compare(x.App, y.App) })
	return promises
}

// fastest is about the time in which a, which is on that course, ends at all cores from where it
// stands, in seconds: the durations that are recorded of its stages, one after the other.
func fastest(a *ledger.App, c Course) float64 {
	left := float64(c.Body.Tail + c.Body.Exit)
	for _, s := range c.Running(a) {
		annotation, _ := a.Profile.Graph.Stage(s.Annotation)
		left += float64(annotation.Duration) * Left(s)
	}
	for _, id := range c.Coming {
		if s, ok := c.Graph.Stage(id); ok {
			left += float64(s.Gap + s.Duration)
		}
	}
	return max(left, leastLeft)
}
