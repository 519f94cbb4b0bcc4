package dag

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// Standing is how far an application has come; the zero value is its beginning.
type Standing struct {
	// Now is the moment on the deadline clock.
	Now units.Seconds
	// Ended are the stages that have ended, in any order.
	Ended []Ended
	// Underway are those that were submitted and have not ended.
	Underway []Underway
	// Began is when legs that have begun did so (LegOf): it is only looked at with Params.Legs.
	Began map[int]units.Seconds
}

// Ended is a stage that ended At a moment of the deadline clock.
type Ended struct {
	Stage int
	At    units.Seconds
}

// Underway is a stage that runs, or waits for an executor.
type Underway struct {
	Stage int
	// Left is what is left of it, as a share of its annotation.
	Left float64
	// Aim is when it is to end on the deadline clock; it is not looked at by a walk at
	// all cores.
	Aim units.Seconds
	// Waits says that it has no executor.
	Waits bool
}

// Resume returns when an application ends that stands as told, and how its stages fare from now on, those that have not
// ended. It is paced to the deadline in the shape of p, or with all cores if p is Open or deadline <= 0. Its executors
// have started and are warm. Without cores, or for stages that are not g's, it returns 0 and none.
func (g *Graph) Resume(p Params, deadline units.Seconds, supply Supply, from Standing) (units.Seconds,
	[]StageForecast) {
	if !(supply.Cores > 0) || !g.knows(from) {
		return 0, nil
	}
	if p.Open {
		deadline = 0
	}
	o := g.scene(p, supply, 0).walk(max(0, deadline), from)
	return max(o.finish, from.Now), o.stages
}

func (g *Graph) knows(from Standing) bool {
	for _, e := range from.Ended {
		if _, ok := g.index[e.Stage]; !ok {
			return false
		}
	}
	for _, u := range from.Underway {
		if _, ok := g.index[u.Stage]; !ok {
			return false
		}
	}
	return true
}

// resume puts the walker where the application stands and returns how many stages have
// ended.
func (w *walker) resume(from Standing) int {
	if len(from.Ended)+len(from.Underway) > 0 {
		// Executors that start and warm up have done so.
		w.now, w.warm = float64(from.Now), len(w.graph.profile.Stages)
	}
	w.now = max(w.now, float64(from.Now))
	// The latest end counts for what waits for several.
	ended := slices.SortedFunc(slices.Values(from.Ended), func(x, y Ended) int { return cmp.Compare(x.At, y.At) })
	done := 0
	for _, e := range ended {
		if i := w.graph.index[e.Stage]; !w.submitted[i] {
			w.submitted[i] = true
			done++
			w.ended = max(w.ended, float64(e.At))
			w.release(i, float64(e.At))
		}
	}
	for _, u := range from.Underway {
		if i := w.graph.index[u.Stage]; !w.submitted[i] {
			w.submitted[i] = true
			w.begin(i, u)
		}
	}
	w.coming = slices.DeleteFunc(w.coming, func(c coming) bool { return w.submitted[c.node] })
	slices.SortFunc(w.running, func(x, y running) int { return x.node - y.node })
	return done
}

// begin takes in a stage that was submitted before the walk.
func (w *walker) begin(i int, u Underway) {
	w.stages[i] = StageForecast{ID: u.Stage, Start: units.Seconds(w.now)}
	if u.Waits && w.params.Executors > 0 {
		w.waiting = insert(w.waiting, i)
		w.rest[i] = max(0, u.Left)
		return
	}
	r := running{node: i, began: w.now, whole: w.busy[i], left: max(0, u.Left) * w.busy[i]}
	r.most = w.drained(i, r.left, w.most(w.graph.nodes[i].stage))
	r.aim = w.now + r.left/r.most
	if w.deadline > 0 {
		r.aim = max(r.aim, float64(u.Aim))
	}
	w.running = append(w.running, r)
}
