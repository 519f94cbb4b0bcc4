package dag

import (
	"cmp"
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
	// busy is what each stage keeps busy, by node (recorded).
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
	// open counts what is unfinished before each node of those that the walk goes through, from
	// first on.
	first int
	open  []int
	// coming are stages that nothing unfinished comes before and that are not submitted, the
	// one that is ready last first.
	coming    []coming
	submitted []bool
	running   []running
	// waiting are submitted stages that have no executor, ascending. In a walk that is Open they
	// have had no core.
	waiting []int
	// rest is what is left of each stage when it gets its executor, as a share of it.
	rest []float64
	// ended is when the last stage ended of those that had before the walk.
	ended float64
	// warm is how many executors have run a stage.
	warm int
	// stages are by node.
	stages []StageForecast
	legs   *legWalk

	// split divides what backlog says is left, nil at all cores; shown is when that was told what runs.
	split   splitFunc
	backlog *backlog
	shown   float64
	seats   listSchedule
	seated  []int
}

// coming is a stage that becomes ready at a moment.
type coming struct {
	at   float64
	node int
}

// running is a submitted stage: the work left, the end it aims at, the most
// cores it can use and those it has.
type running struct {
	node            int
	began           float64
	whole           float64
	left, aim       float64
	most, has, ends float64
}

// walk goes through the graph from where the application stands and returns when it
// ends and how its stages fare; deadline 0 walks at all cores.
func (s scene) walk(deadline units.Seconds, from Standing) outcome {
	w := s.walker(0, len(s.graph.nodes), float64(max(s.graph.profile.Head, s.elapsed))+s.starts())
	w.deadline = deadline
	done := w.resume(from)
	if deadline > 0 {
		w.split, _ = findSplit(s.params.Split)
		w.backlog = w.remaining()
		w.legs = s.legWalk(from.Began)
	}
	w.run(len(s.graph.profile.Stages) - done)
	last, stages := w.ended, make([]StageForecast, 0, len(s.graph.profile.Stages))
	for i, stage := range w.stages {
		if s.graph.nodes[i].stage != nil {
			last = max(last, float64(stage.Start+stage.Duration))
			stages = append(stages, stage)
		}
	}
	return outcome{finish: units.Seconds(last) + s.graph.profile.Tail + s.graph.profile.Exit, stages: stages}
}

// walker returns one that goes through the nodes of [first, end), of which the first ones begin
// at that moment.
func (s scene) walker(first, end int, at float64) *walker {
	n := end - first
	w := &walker{scene: s, now: at, first: first, open: make([]int, n), submitted: make([]bool, n),
		rest:   slices.Repeat([]float64{1}, n),
		stages: make([]StageForecast, n), shown: math.Inf(-1)}
	var begin []int
	for i := range n {
		for _, before := range s.graph.nodes[first+i].before {
			if before >= first {
				w.open[i]++
			}
		}
		if w.open[i] == 0 {
			begin = append(begin, first+i)
		}
	}
	for _, i := range begin {
		if stage := s.graph.nodes[i].stage; stage != nil {
			w.coming = append(w.coming, coming{at + float64(stage.Gap), i})
		}
	}
	slices.SortFunc(w.coming, func(x, y coming) int { return cmp.Compare(y.at, x.at) })
	if len(begin) > 0 && s.graph.nodes[begin[0]].stage == nil {
		w.release(begin[0], at)
	}
	return w
}

// run walks until so many stages have ended.
func (w *walker) run(stages int) {
	for stages > 0 {
		w.submit()
		w.share()
		w.advance(w.next())
		stages -= w.retire()
	}
}

// remaining is what is left as w stands.
func (w *walker) remaining() *backlog {
	b := newBacklog(w.graph, w.params)
	for i := range w.submitted {
		if !w.submitted[i] && w.graph.nodes[i].stage != nil {
			b.await(i)
		}
	}
	for _, r := range w.running {
		b.put(r.node, r.left/r.whole)
	}
	for _, i := range w.waiting {
		b.put(i, w.rest[i])
		b.wait(i, w.rest[i])
	}
	b.settle()
	return b
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
// an executor since an earlier event. Stages that find none wait.
func (w *walker) submit() {
	w.seat()
	from := len(w.coming)
	for from > 0 && w.coming[from-1].at <= w.now+together {
		from--
	}
	ready := w.coming[from:]
	slices.SortFunc(ready, func(x, y coming) int { return x.node - y.node })
	for _, c := range ready {
		i := c.node
		w.submitted[i-w.first] = true
		w.stages[i-w.first] = StageForecast{ID: w.graph.nodes[i].stage.ID, Start: units.Seconds(w.now)}
		if w.backlog != nil {
			w.backlog.submit(i)
			w.legs.submit(w.graph, i, units.Seconds(w.now))
		}
		w.waiting = insert(w.waiting, i)
		w.seat()
	}
	w.coming = w.coming[:from]
}

// seat starts stages that wait, in order of id, as far as there are executors.
func (w *walker) seat() {
	for len(w.waiting) > 0 && !w.params.Open && (w.params.Executors <= 0 || len(w.running) < w.params.Executors) {
		w.running = append(w.running, w.start())
	}
}

// start gives the first stage that waits its deadline and its aim.
func (w *walker) start() running {
	i := w.waiting[0]
	w.waiting = w.waiting[1:]
	stage, s := w.graph.nodes[i].stage, &w.stages[i-w.first]
	began := w.now
	if w.params.Open {
		began = float64(s.Start)
	}
	var deadline units.Seconds
	if w.backlog != nil {
		deadline = min(w.divide(i), w.legs.within(w.graph, i, units.Seconds(w.now)))
	}
	s.Wait = units.Seconds(began) - s.Start
	s.Deadline = deadline
	if deadline > 0 {
		s.Deadline += s.Wait
	}
	r := running{node: i, began: began, left: w.rest[i-w.first]*w.busy[i] + w.cold(i), most: w.most(stage)}
	r.whole = max(r.left, w.busy[i])
	r.most = w.drained(i, w.rest[i-w.first]*w.busy[i], r.most)
	if w.backlog != nil {
		w.backlog.progress(i, r.left/r.whole) // As others see it; to itself it is whole.
	}
	r.aim = began + max(float64(deadline), r.left/r.most, float64(stage.LongestTask)/float64(stage.Width()))
	return r
}

// divide is what the split gives stage i, which starts now.
func (w *walker) divide(i int) units.Seconds {
	w.seated = append(w.seated[:0], i)
	for _, r := range w.running {
		if w.seated = append(w.seated, r.node); w.shown < w.now {
			w.backlog.progress(r.node, r.left/r.whole)
		}
	}
	w.shown = w.now
	w.backlog.begin(i)
	if w.backlog.follower = noNode; len(w.waiting) > 0 {
		w.backlog.follower = w.waiting[len(w.waiting)-1]
	}
	return w.split(w.params, w.backlog, situation{w.deadline, units.Seconds(w.now), i, w.seated, &w.seats})
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

// most is the number of cores that a stage can use.
func (s scene) most(stage *api.ProfileStage) float64 {
	most := min(s.cores, float64(stage.Tasks)*float64(stage.Width()))
	if s.supply.Slots > 0 {
		most = min(most, float64(s.supply.Slots))
	}
	return most
}

// drained is how many cores stage i, of which so much is left and which could use most, can use from now on: more of
// them would wait for disks and networks.
func (w *walker) drained(i int, left, most float64) float64 {
	if w.supply.Least == nil || !(left > 0) {
		return most
	}
	if least := w.supply.Least(w.graph.nodes[i].stage.ID, units.Seconds(w.now)); least > 0 {
		most = min(most, left/float64(least))
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
	if w.params.Open {
		w.queue(free)
		sum, free = 0, 0
	} else {
		for i := range w.running {
			r := &w.running[i]
			r.has = r.request(w.now)
			sum += r.has
		}
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

// request is what a stage asks for.
func (r *running) request(now float64) float64 {
	if r.aim > now {
		return min(r.most, r.left/(r.aim-now))
	}
	return r.most
}

// queue gives free cores to stages in order of submission. Stages that wait begin as far as there are some.
func (w *walker) queue(free float64) {
	for k := 0; k < len(w.running) || len(w.waiting) > 0 && free > 0; k++ {
		if free > 0 && len(w.waiting) > 0 && (k == len(w.running) || w.waiting[0] < w.running[k].node) {
			w.running = slices.Insert(w.running, k, w.start())
		}
		r := &w.running[k]
		r.has = min(r.request(w.now), free)
		free -= r.has
	}
}

// next returns when the next event takes place.
func (w *walker) next() float64 {
	at := w.supply.next(w.now)
	if len(w.coming) > 0 {
		at = min(at, w.coming[len(w.coming)-1].at)
	}
	for i := range w.running {
		r := &w.running[i]
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
	stage, s := w.graph.nodes[r.node].stage, &w.stages[r.node-w.first]
	s.Duration = units.Seconds(w.now) - s.Start
	// A stage too small for the clock's resolution has no mean to speak of.
	s.Cores = units.Cores(w.most(stage))
	if took := w.now - r.began; took > 0 {
		s.Cores = min(s.Cores, units.Cores(work(stage)/took))
	}
	if w.backlog != nil {
		w.backlog.finish(r.node)
	}
	w.release(r.node, w.now)
}

// release makes ready what waits for a node, which has ended, and for nothing else.
func (w *walker) release(i int, at float64) {
	for _, next := range w.graph.nodes[i].after {
		if next-w.first >= len(w.open) {
			return
		}
		if w.open[next-w.first]--; w.open[next-w.first] != 0 || w.submitted[next-w.first] {
			continue // Its input was repeated: it has begun, or ended, before.
		}
		if stage := w.graph.nodes[next].stage; stage != nil {
			ready := at + float64(stage.Gap)
			k, _ := slices.BinarySearchFunc(w.coming, ready, func(c coming, ready float64) int {
				if c.at >= ready {
					return -1
				}
				return 1
			})
			w.coming = slices.Insert(w.coming, k, coming{ready, next})
		} else {
			w.release(next, at)
		}
	}
}
