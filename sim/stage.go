package sim

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// meanWeight is the weight of the mean task, in the millionths that the jar counts
// in.
const meanWeight = 1_000_000

// weighable is the most tasks of a stage that the jar weighs (StageFacts.scala),
// unequal the least ratio of the largest to the mean, fixed what a task costs and
// weighs whatever its size, as a share of the mean size.
const (
	weighable = 4000
	unequal   = 1.1
	fixed     = 0.05
)

// cost is what a task of that size costs and weighs beside the mean one.
func cost(size float64) float64 { return (size + fixed) / (1 + fixed) }

// stageRun is a stage of a driver.
type stageRun struct {
	d    *Driver
	key  api.StageKey
	spec *Stage
	gap  timer

	// weights are in millionths, nil if all are alike; sizes has 1 for the mean, work
	// is what each task really takes.
	weights     []int64
	sizes, work []float64
	// fixed is the part of the weights that is the same for each task, by the profile.
	fixed units.Fraction
	line  line

	gapSet, ready, done bool
	// next is the first task that was never launched, back those that came back.
	next      int
	back      []int
	rest      int64 // The weight that is not launched.
	remaining int
	bound     []*binding // In order of id.
	handed    uint64     // The newest hand-over that was obeyed.
	changed   bool
	first     units.Seconds
	last      units.Seconds
	longest   float64
	cpu       float64
	// base is the stage's first attempt, itself if it is that; tasks are the places of
	// its tasks in that one, and by, of a first attempt only, who has their output.
	base  *stageRun
	tasks []int
	by    []*process
}

// binding is an executor of a stage.
type binding struct {
	x               *process
	share, launched int64
	running         int
}

func newStageRun(d *Driver, id int, spec *Stage) *stageRun {
	r := &stageRun{d: d, key: api.StageKey{Stage: id}, spec: spec, remaining: spec.Tasks}
	r.gap = timer{rank: rankDriver, id: d.id, owner: call(func() { d.stageReady(r) })}
	name := d.submission + " " + spec.Name + string(rune('a'+id))
	rnd := random(d.w.cfg.Seed, "stage "+name)
	// What a task costs beside the mean one, and what it reads.
	costs := skewedBy(spec, spec.Skewed)
	r.sizes = costs
	if spec.Bytes > 0 {
		r.sizes = skewedBy(spec, spec.Bytes)
	}
	if spec.Zipf > 0 {
		r.weigh(r.sizes)
	}
	if r.weights != nil {
		order := heaviestFirst(r.weights)
		r.weights, r.sizes, costs = picked(r.weights, order), picked(r.sizes, order), picked(costs, order)
	}
	mean := float64(spec.Work) / float64(spec.Tasks)
	r.work = make([]float64, spec.Tasks)
	for i, s := range costs {
		r.work[i] = mean * cost(s) * around(rnd, d.w.cfg.Plant.Spread)
	}
	if spec.Zipf > 0 && d.w.cfg.Plant.ByteCost > 0 {
		dear := random(d.w.cfg.Seed, "byte cost "+name)
		for i := range r.work {
			r.work[i] *= around(dear, d.w.cfg.Plant.ByteCost)
		}
	}
	for i := range r.work {
		r.work[i] = max(1e-6, r.work[i]) + float64(d.w.cfg.Plant.Task)
	}
	r.rest = int64(spec.Tasks) * meanWeight
	r.base, r.by, r.tasks = r, make([]*process, spec.Tasks), make([]int, spec.Tasks)
	for i := range r.tasks {
		r.tasks[i] = i
	}
	return r
}

// weigh gives the tasks weights as the jar does: where sizes are known, differ and
// are not too many.
func (r *stageRun) weigh(sizes []float64) {
	if !r.d.w.cfg.Weights || len(r.spec.Parents) == 0 || len(sizes) > weighable || cost(slices.Max(sizes)) <= unequal {
		return
	}
	r.weights = make([]int64, len(sizes))
	left, largest := int64(len(sizes))*meanWeight, 0
	for i, s := range sizes {
		r.weights[i] = int64(math.Round(meanWeight * cost(s)))
		left -= r.weights[i]
		if s > sizes[largest] {
			largest = i
		}
	}
	r.weights[largest] += left
}

func (r *stageRun) weight(i int) int64 {
	if r.weights == nil {
		return meanWeight
	}
	return r.weights[i]
}

// skewedBy is the size of each task beside the mean one where that share of them
// follows the stage's exponent.
func skewedBy(spec *Stage, share units.Fraction) []float64 {
	sizes := make([]float64, spec.Tasks)
	for i := range sizes {
		sizes[i] = 1
	}
	if spec.Zipf == 0 {
		return sizes
	}
	skewed := cmp.Or(float64(share), 1)
	for i, z := range zipf(spec.Tasks, spec.Zipf) {
		sizes[i] = 1 - skewed + skewed*z
	}
	return sizes
}

// heaviestFirst is the order of tasks by weight, which the jar launches them in
// (StageBoundTaskScheduler.scala); those that weigh the same stay in order.
func heaviestFirst(weights []int64) []int {
	order := make([]int, len(weights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
	return order
}

// picked are the values in that order.
func picked[T any](values []T, order []int) []T {
	out := make([]T, len(order))
	for i, from := range order {
		out[i] = values[from]
	}
	return out
}

// heaviest is the weight of the heaviest task that waits, a millionth where none
// does, 0 where weights are not known.
func (r *stageRun) heaviest() int64 {
	if r.weights == nil {
		return 0
	}
	most := int64(1)
	if r.next < len(r.weights) {
		most = r.weights[r.next]
	}
	if len(r.back) > 0 {
		most = max(most, r.weights[r.back[0]])
	}
	return most
}

func (r *stageRun) unlaunched() int { return r.spec.Tasks - r.next + len(r.back) }

func (r *stageRun) binding(p *process) *binding {
	for _, b := range r.bound {
		if b.x == p {
			return b
		}
	}
	return nil
}

// admits says whether p may start a task of r now, as StageBindings.admits does.
func (r *stageRun) admits(p *process) bool {
	b := r.binding(p)
	if b == nil {
		return false
	}
	if !r.d.directive.Gated {
		return true
	}
	full := func(b *binding) bool { return b.launched >= b.share }
	if full(b) && r.rest > 0 && (b.running == 0 || !slices.ContainsFunc(r.bound, func(o *binding) bool { return !full(o) })) {
		r.divide(r.d.capacity)
	}
	return !full(b)
}

// launch starts the next task on p.
func (r *stageRun) launch(p *process) {
	i := r.next
	if n := len(r.back); n > 0 {
		i = r.back[0]
		r.back = r.back[1:]
	} else {
		r.next++
	}
	if r.first == 0 {
		r.first = r.d.elapsed()
	}
	w := r.weight(i)
	b := r.binding(p)
	b.launched += w
	b.running++
	r.rest -= w
	t := &task{run: r, index: i, weight: float64(w) / meanWeight, heaviest: float64(r.heaviest()) / meanWeight, work: r.work[i],
		records: float64(r.spec.Records) / float64(r.spec.Tasks) * r.sizes[i]}
	if sway := p.m.w.cfg.Plant.Sway; sway > 1 {
		t.knee, t.faster = 0.1+0.8*p.rand.Float64(), math.Pow(sway, 2*p.rand.Float64()-1)
	}
	p.launch(t)
}

// finished notes a task's end; the last one ends the stage.
func (r *stageRun) finished(p *process, index int, cpu float64) {
	r.base.by[r.tasks[index]] = p
	if b := r.binding(p); b != nil {
		b.running--
	}
	r.remaining--
	r.cpu += cpu
	if r.weights != nil {
		r.line.add(float64(r.weight(index))/meanWeight, cpu)
	}
	r.longest = max(r.longest, cpu)
	r.last = r.d.elapsed()
	if r.remaining == 0 {
		r.d.stageDone(r)
	}
}

// returned takes back a task of an executor that is gone.
func (r *stageRun) returned(t *task) {
	r.back = append(r.back, t.index)
	slices.Sort(r.back)
	r.rest += r.weight(t.index)
}

// unbind takes p off the stage; what ran there comes back by returned.
func (r *stageRun) unbind(p *process) {
	before := len(r.bound)
	r.bound = slices.DeleteFunc(r.bound, func(b *binding) bool { return b.x == p })
	if len(r.bound) != before {
		r.changed = true
	}
}

// divide shares what is not launched out to the stage's executors in proportion to
// by, to the last millionth.
func (r *stageRun) divide(by func(*binding) float64) {
	if len(r.bound) == 0 {
		return
	}
	parts := make([]float64, len(r.bound))
	for i, b := range r.bound {
		parts[i] = by(b)
	}
	for i, n := range Apportion(r.rest, parts) {
		b := r.bound[i]
		r.changed = r.changed || b.share != b.launched+n
		b.share = b.launched + n
	}
}

// Apportion divides total into whole numbers in proportion to parts, which are not
// negative, each within 1 of its exact part and together total, as the jar divides
// what a stage has not launched (StageBindings.scala). Where all parts are 0 they
// are equal; a part of 0 among others gets nothing.
func Apportion(total int64, parts []float64) []int64 {
	sum, last := 0.0, 0
	for i, part := range parts {
		sum += part
		if part > 0 {
			last = i
		}
	}
	out, given, upTo := make([]int64, len(parts)), int64(0), 0.0
	if sum <= 0 {
		last = len(parts) - 1
	}
	for i, part := range parts {
		switch {
		case sum <= 0:
			upTo += 1 / float64(len(parts))
		case part <= 0:
			continue
		default:
			upTo += part / sum
		}
		end := min(total, max(given, int64(math.Round(float64(total)*upTo))))
		if i == last {
			end = total
		}
		out[i], given = end-given, end
	}
	return out
}

// handOver obeys a new division by the planner.
func (r *stageRun) handOver(s *api.StageShares) {
	if s.Rev <= r.handed {
		return
	}
	r.handed = s.Rev
	lacks := func(b *binding) float64 {
		for _, x := range s.Shares {
			if x.Executor == b.x.key.ID {
				return max(0, x.Weight*meanWeight-float64(b.launched))
			}
		}
		return 0
	}
	sum := 0.0
	for _, b := range r.bound {
		sum += lacks(b)
	}
	if sum > 0 {
		r.divide(lacks)
	}
}

// bindings are those in force, as the driver tells them.
func (r *stageRun) bindings() []api.Binding {
	out := make([]api.Binding, 0, len(r.bound))
	total := float64(r.spec.Tasks) * meanWeight
	for _, b := range r.bound {
		out = append(out, api.Binding{Executor: b.x.key.ID, Weight: float64(b.share) / meanWeight,
			Tasks: int(math.Round(float64(r.spec.Tasks) * float64(b.share) / total))})
	}
	return out
}
