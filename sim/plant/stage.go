package plant

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// weighable is the most tasks of a stage that the jar weighs (TaskWeights.scala),
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
	gap  des.Timer

	// weights are in millionths, nil if all are alike; sizes has 1 for the mean, work
	// is what each task really takes.
	weights     []int64
	sizes, work []float64
	// fixed is the part of the weights that is the same for each task, by the profile.
	fixed units.Fraction
	// late is the line of the later half of the tasks.
	line, late line

	gapSet, ready, done bool
	copied              bool // A second attempt of a task has been started beside the first.
	// next is the first task that was never launched, back those that came back.
	next      int
	back      []int
	remaining int
	first     units.Seconds
	last      units.Seconds
	longest   float64
	cpu       float64
	// base is the stage's first attempt, itself if it is that; tasks are the places of
	// its tasks in that one, and by, of a first attempt only, who has their output.
	base  *stageRun
	tasks []int
	by    []*Process
}

func (p *Plant) newStageRun(d *Driver, id int, spec *Stage) *stageRun {
	r := &stageRun{d: d, key: api.StageKey{Stage: id}, spec: spec, remaining: spec.Tasks}
	r.gap = des.NewTimer(RankDriver, d.ID, des.Call(func() { d.stageReady(r) }))
	name := d.Submission + " " + spec.Name + string(rune('a'+id))
	rnd := des.Random(d.plant.seed, "stage "+name)
	// The cost of a task beside the mean one, and what it reads.
	costs := skewedBy(spec, spec.Skewed)
	r.sizes = costs
	if spec.Bytes > 0 {
		r.sizes = skewedBy(spec, spec.Bytes)
	}
	if spec.Zipf > 0 {
		r.weigh(r.sizes)
	}
	if r.weights != nil {
		order := driver.HeaviestFirst(r.weights)
		r.weights, r.sizes, costs = picked(r.weights, order), picked(r.sizes, order), picked(costs, order)
	}
	mean := float64(spec.Work) / float64(spec.Tasks)
	r.work = make([]float64, spec.Tasks)
	for i, s := range costs {
		r.work[i] = mean * cost(s) * des.Around(rnd, d.plant.cfg.Spread)
	}
	if spec.Zipf > 0 && d.plant.cfg.ByteCost > 0 {
		dear := des.Random(d.plant.seed, "byte cost "+name)
		for i := range r.work {
			r.work[i] *= des.Around(dear, d.plant.cfg.ByteCost)
		}
	}
	for i := range r.work {
		r.work[i] = max(1e-6, r.work[i]) + float64(d.plant.cfg.Task)
	}
	r.base, r.by, r.tasks = r, make([]*Process, spec.Tasks), make([]int, spec.Tasks)
	for i := range r.tasks {
		r.tasks[i] = i
	}
	return r
}

// told is what the planner is told of a stage that is bound so.
func (r *stageRun) told(bound []api.Binding) *api.StageReady {
	parents := r.spec.Parents
	if parents == nil {
		parents = []int{}
	}
	said := &api.StageReady{StageKey: r.key, Job: r.spec.Job, Name: r.name(), Signature: r.name(), Parents: parents,
		Tasks: r.spec.Tasks, Records: r.spec.Records, Bytes: api.Unknown, Weighted: r.weights != nil, Bindings: bound}
	if of := r.spec.Said; of != nil {
		said.Name, said.Signature, said.Lineage, said.Query = of.Name, of.Signature, of.Lineage, of.Query
		said.Job, said.Records, said.Bytes = of.Job, of.Records, of.Bytes
	}
	return said
}

// query is Spark's number of the SQL query that r is of.
func (r *stageRun) query() (execution int64, ok bool) {
	if r.spec.Said == nil || r.spec.Said.Query == nil {
		return 0, false
	}
	return r.spec.Said.Query.Execution, true
}

func (r *stageRun) name() string {
	if r.spec.Name != "" {
		return r.spec.Name
	}
	return fmt.Sprintf("stage %d", r.key.Stage)
}

// stages are a driver's, by id: the newest attempt of each.
type stages []*stageRun

// open are the stages up to the first job that is not done: those of later ones wait for it.
func (s stages) open() stages {
	first := slices.IndexFunc(s, func(r *stageRun) bool { return !r.done })
	if first < 0 {
		return s
	}
	for to, r := range s[first:] {
		if r.spec.Job > s[first].spec.Job {
			return s[:first+to]
		}
	}
	return s
}

// submittable reports whether the parents of an open stage are done.
func (s stages) submittable(r *stageRun) bool {
	return !slices.ContainsFunc(r.spec.Parents, func(parent int) bool { return !s[parent].done })
}

// running are the stages that are ready and not done, in order of job and id.
func (s stages) running() []*stageRun {
	var out []*stageRun
	for _, r := range s {
		if r.ready && !r.done {
			out = append(out, r)
		}
	}
	return out
}

// weigh gives the tasks weights as the jar does: where sizes are known, differ and
// are not too many.
func (r *stageRun) weigh(sizes []float64) {
	if !r.d.plant.Weights || len(r.spec.Parents) == 0 || len(sizes) > weighable || cost(slices.Max(sizes)) <= unequal {
		return
	}
	r.weights = make([]int64, len(sizes))
	left, largest := int64(len(sizes))*driver.MeanWeight, 0
	for i, s := range sizes {
		r.weights[i] = int64(math.Round(driver.MeanWeight * cost(s)))
		left -= r.weights[i]
		if s > sizes[largest] {
			largest = i
		}
	}
	r.weights[largest] += left
}

func (r *stageRun) weight(i int) int64 {
	if r.weights == nil {
		return driver.MeanWeight
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
	return max(1, r.d.Bindings.HeaviestWaiting(r.key))
}

func (r *stageRun) unlaunched() int { return r.spec.Tasks - r.next + len(r.back) }

// launch starts the next task on p.
func (r *stageRun) launch(p *Process) {
	i := r.next
	if n := len(r.back); n > 0 {
		i = r.back[0]
		r.back = r.back[1:]
	} else {
		r.next++
	}
	if r.first == 0 {
		r.first = r.d.Elapsed()
	}
	r.start(p, i)
}

// start starts an attempt of a task on p.
func (r *stageRun) start(p *Process, i int) {
	r.d.Bindings.Launched(r.key, i, p.Key.ID)
	r.d.offerFreed()
	t := &task{run: r, index: i, weight: float64(r.weight(i)) / driver.MeanWeight,
		heaviest: float64(r.heaviest()) / driver.MeanWeight, work: r.work[i],
		records: float64(r.spec.Records) / float64(r.spec.Tasks) * r.sizes[i]}
	if sway := p.Machine.Plant.cfg.Sway; sway > 1 {
		t.knee, t.faster = 0.1+0.8*p.rand.Float64(), math.Pow(sway, 2*p.rand.Float64()-1)
	}
	p.launch(t)
}

// finished notes a task's end; the last one ends the stage.
func (r *stageRun) finished(p *Process, t *task, cpu float64) {
	if r.failed() {
		r.zombieEnded(p, cpu)
		return
	}
	index := t.index
	r.base.by[r.tasks[index]] = p
	r.d.Bindings.Ended(r.key, p.Key.ID)
	driver.Task{Stage: r.key, Index: index, Ran: r.d.plant.clock.Now().Sub(t.began)}.Succeeded(&r.d.Bindings)
	if r.copied {
		r.endCopies(index)
	}
	r.d.offerFreed()
	r.remaining--
	r.cpu += cpu
	if r.weights != nil {
		weight := float64(r.weight(index)) / driver.MeanWeight
		r.line.add(weight, cpu)
		if 2*r.remaining < len(r.weights) {
			r.late.add(weight, cpu)
		}
	}
	r.longest = max(r.longest, cpu)
	r.last = r.d.Elapsed()
	if r.remaining == 0 {
		r.d.stageDone(r)
	}
}

// returned takes a task back that has to run again.
func (r *stageRun) returned(index int) {
	r.back = append(r.back, index)
	slices.Sort(r.back)
	r.d.Bindings.Returned(r.key, index)
	r.d.offerFreed()
}

// zipf returns the weights of n tasks that hold keys of Zipf-distributed
// frequency with exponent s: the k-th most frequent of twice as many keys as
// tasks has 1/k^s of the sum (source section 7.1.1). The keys are the integers in
// order of frequency, which Spark's HashPartitioner puts on partition k mod n: the
// largest come first. The weights sum up to n.
func zipf(n int, s float64) []float64 {
	keys := 2 * n
	weights := make([]float64, n)
	sum := 0.0
	for k := 1; k <= keys; k++ {
		sum += math.Pow(float64(k), -s)
	}
	for k := 1; k <= keys; k++ {
		weights[k%n] += float64(n) * math.Pow(float64(k), -s) / sum
	}
	return weights
}
