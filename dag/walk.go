package dag

import (
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// together is how close in time, in seconds, stages become ready that count as
// submitted together.
const together = 1e-9

// scene is what stays the same from one walk to the next.
type scene struct {
	graph   *Graph
	params  Params
	supply  Supply
	cores   float64 // All of supply.
	elapsed units.Seconds
	// busy is what each stage keeps busy, by place (Graph.recorded).
	busy []float64
}

// outcome is the result of a walk.
type outcome struct {
	finish units.Seconds
	stages []StageForecast
}

// walker follows the application through time from one event to the next: a
// stage becomes ready, ends or passes its aim. Between events all rates are
// constant. Times are in seconds, work in core-seconds.
type walker struct {
	scene
	deadline units.Seconds
	now      float64
	// open counts the unfinished stages before each stage, ready is when the
	// stage becomes ready, known once open is 0.
	open        []int
	ready       []float64
	unsubmitted []int // ids, ascending
	running     []running
	// waiting are the places of submitted stages that have no executor, ascending.
	waiting []int
	// rest is what is left of each stage when it gets its executor, as a share of it.
	rest []float64
	// ended is when the last stage ended of those that had before the walk.
	ended float64
	// warm is how many executors have run a stage.
	warm   int
	stages []StageForecast

	left []Rest // Room of rests.
	room room
}

// running is a submitted stage: the work left, the end it aims at, the most
// cores it can use and those it has.
type running struct {
	place           int
	began           float64
	whole           float64
	left, aim       float64
	most, has, ends float64
}

// walk goes through the graph from where the application stands and returns when it
// ends and how its stages fare; deadline 0 walks at all cores.
func (s scene) walk(deadline units.Seconds, from Standing) outcome {
	w := newWalker(s, deadline)
	for done := w.resume(from); done < len(w.stages); {
		w.submit()
		w.share()
		w.advance(w.next())
		done += w.retire()
	}
	last := w.ended
	for _, stage := range w.stages {
		last = max(last, float64(stage.Start+stage.Duration))
	}
	return outcome{finish: units.Seconds(last) + s.graph.profile.Tail + s.graph.profile.Exit, stages: w.stages}
}

func newWalker(s scene, deadline units.Seconds) *walker {
	stages := s.graph.profile.Stages
	w := &walker{scene: s, deadline: deadline, now: float64(max(s.graph.profile.Head, s.elapsed)) + s.starts(),
		open: make([]int, len(stages)), rest: slices.Repeat([]float64{1}, len(stages)), ready: make([]float64, len(stages)), stages: make([]StageForecast, len(stages))}
	for i, stage := range stages {
		w.open[i] = len(s.graph.before[i])
		w.ready[i] = math.Inf(1)
		w.unsubmitted = append(w.unsubmitted, stage.ID)
		if w.open[i] == 0 {
			w.ready[i] = w.now + float64(stage.Gap)
		}
	}
	return w
}

// starts is what the head takes longer for executors that the recorded run had not:
// the first stage waits for all of them, and they start side by side.
func (s scene) starts() float64 {
	if s.params.Open {
		return 0
	}
	count := s.graph.width
	if s.params.Executors > 0 {
		count = min(count, s.params.Executors)
	}
	return float64((count-1)*s.nodes()) * s.graph.start() / s.cores
}

func (s scene) nodes() int { return max(1, s.params.Nodes) }

// submit starts the stages that are ready, in order of id, after those that wait for
// an executor since an earlier event. Those that find none wait.
func (w *walker) submit() {
	w.seat()
	for k := 0; k < len(w.unsubmitted); {
		i := w.graph.index[w.unsubmitted[k]]
		if w.ready[i] > w.now+together {
			k++
			continue
		}
		w.unsubmitted = slices.Delete(w.unsubmitted, k, k+1)
		w.stages[i] = StageForecast{ID: w.graph.profile.Stages[i].ID, Start: units.Seconds(w.now)}
		w.waiting = insert(w.waiting, i)
		w.seat()
	}
}

// seat starts stages that wait, in order of id, as far as there are executors.
func (w *walker) seat() {
	for len(w.waiting) > 0 && (w.params.Executors <= 0 || len(w.running) < w.params.Executors) {
		i := w.waiting[0]
		w.waiting = slices.Delete(w.waiting, 0, 1)
		w.start(i)
	}
}

// start gives stage i its deadline and its aim.
func (w *walker) start(i int) {
	stage := w.graph.profile.Stages[i]
	var deadline units.Seconds
	if w.deadline > 0 {
		deadline = w.graph.StageDeadline(w.params, Moment{Deadline: w.deadline, Spent: units.Seconds(w.now), Stage: stage.ID,
			Unsubmitted: w.unsubmitted, Running: w.rests(), Seated: w.seated(stage.ID), room: &w.room})
	}
	w.stages[i].Wait = units.Seconds(w.now) - w.stages[i].Start
	w.stages[i].Deadline = deadline
	if deadline > 0 {
		w.stages[i].Deadline += w.stages[i].Wait
	}
	r := running{place: i, began: w.now, left: w.rest[i]*w.busy[i] + w.cold(i), most: w.most(stage)}
	r.whole = max(r.left, w.busy[i])
	r.aim = w.now + max(float64(deadline), r.left/r.most, float64(stage.LongestTask)/float64(stage.Width()))
	w.running = append(w.running, r)
}

// cold is what stage i, which starts now, uses for being the first on an executor,
// the first executor left out: in the recorded run something was the first there, too.
func (w *walker) cold(i int) float64 {
	if w.params.Open || len(w.running) < w.warm {
		return 0
	}
	if w.warm++; w.warm == 1 {
		return 0
	}
	return float64(w.nodes()) * w.graph.warmup(i)
}

// seated are the ids of the stages that have executors, next included; nil where all
// have.
func (w *walker) seated(next int) []int {
	if w.params.Executors <= 0 {
		return nil
	}
	ids := []int{next}
	for _, r := range w.running {
		ids = append(ids, w.graph.profile.Stages[r.place].ID)
	}
	return ids
}

// rests is what is left of the stages that run or wait.
func (w *walker) rests() []Rest {
	rests := w.left[:0]
	for _, r := range w.running {
		stage := w.graph.profile.Stages[r.place]
		rests = append(rests, Rest{Stage: stage.ID, Left: r.left / r.whole})
	}
	for _, i := range w.waiting {
		rests = append(rests, Rest{Stage: w.graph.profile.Stages[i].ID, Left: w.rest[i]})
	}
	w.left = rests
	return rests
}

// most is the number of cores that a stage can use.
func (s scene) most(stage api.ProfileStage) float64 {
	most := min(s.cores, float64(stage.Tasks)*float64(stage.Width()))
	if s.supply.Slots > 0 {
		most = min(most, float64(s.supply.Slots))
	}
	return most
}

// share gives every running stage its cores: what it asks for to end at its aim,
// or its proportional part when together they ask for more than there is. A
// stage past its aim asks for all that it can use.
//
// Stages that share an executor are not held back: the earlier one's tasks go first,
// as Spark offers them, and take all cores that they can use.
func (w *walker) share() {
	sum, free := 0.0, w.supply.free(w.now)
	for i := range w.running {
		r := &w.running[i]
		r.has = r.most
		if r.aim > w.now {
			r.has = min(r.most, r.left/(r.aim-w.now))
		}
		sum += r.has
	}
	if sum > free && w.params.Open {
		w.queue(free)
		sum = free
	}
	for i := range w.running {
		r := &w.running[i]
		if sum > free {
			r.has *= free / sum
		}
		switch r.ends = w.now; {
		case r.has > 0:
			r.ends += r.left / r.has
		case r.left > 0:
			r.ends = math.Inf(1)
		}
	}
}

// queue gives free cores to the running stages in order of submission.
func (w *walker) queue(free float64) {
	slices.SortFunc(w.running, func(x, y running) int { return x.place - y.place })
	for i := range w.running {
		r := &w.running[i]
		r.has = min(r.has, free)
		free -= r.has
	}
}

// next returns when the next event takes place.
func (w *walker) next() float64 {
	at := w.supply.next(w.now)
	for _, id := range w.unsubmitted {
		at = min(at, w.ready[w.graph.index[id]])
	}
	for _, r := range w.running {
		at = min(at, r.ends)
		if r.aim > w.now {
			at = min(at, r.aim)
		}
	}
	return at
}

// advance lets the running stages work until the given time.
func (w *walker) advance(to float64) {
	for i := range w.running {
		r := &w.running[i]
		r.left = max(0, r.left-r.has*(to-w.now))
	}
	w.now = to
}

// retire takes out the stages that have ended and returns how many they are.
func (w *walker) retire() int {
	before := len(w.running)
	w.running = slices.DeleteFunc(w.running, func(r running) bool {
		if r.ends > w.now+together {
			return false
		}
		w.finish(r)
		return true
	})
	return before - len(w.running)
}

// finish notes the end of a stage and what becomes ready by it.
func (w *walker) finish(r running) {
	i := r.place
	s := &w.stages[i]
	s.Duration = units.Seconds(w.now) - s.Start
	// A stage too small for the clock's resolution has no mean to speak of.
	s.Cores = units.Cores(w.most(w.graph.profile.Stages[i]))
	if took := w.now - r.began; took > 0 {
		s.Cores = min(s.Cores, units.Cores(work(w.graph.profile.Stages[i])/took))
	}
	w.release(i, w.now)
}

// release makes ready what waits for stage i, which has ended, and for nothing else.
func (w *walker) release(i int, at float64) {
	for _, next := range w.graph.after[i] {
		if w.open[next]--; w.open[next] == 0 {
			w.ready[next] = at + float64(w.graph.profile.Stages[next].Gap)
		}
	}
}
