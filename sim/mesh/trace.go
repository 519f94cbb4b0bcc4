package mesh

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// Job is a stage: tasks of about one length. Estimate is their mean.
type Job struct {
	Arrival   units.Instant
	Estimate  time.Duration
	Durations []time.Duration
	// Wrong are the estimates of its tasks where they are not Estimate.
	Wrong []time.Duration
}

// class are jobs that are alike: numbers of tasks and durations are lognormal, with these means and deviations of logs.
type class struct {
	tasks, tasksSigma       float64
	duration, durationSigma float64 // Seconds.
	within                  float64 // The deviation of the logs of a job's durations.
}

// Shape is what jobs are like.
type Shape struct {
	Name string
	// Tasks and Duration are the means over jobs that the source has: the classes are scaled to them.
	Tasks, Duration float64
	// long is the part of jobs that are, single that of jobs of one task.
	long, single float64
	classes      [2]class // Of short jobs, and of long ones.
	// cutoff is the estimate above which Eagle takes a job as long, partition the part of workers that have no such jobs.
	cutoff    time.Duration
	partition float64
}

// Shapes are the source's traces (Table 3.2), made up: two classes of jobs each.
func Shapes() []Shape {
	return []Shape{
		{"google", 35.26, 68, 0.09, 2.0 / 3, [2]class{{32, 1.3, 17, 0.9, 0.06}, {67, 1.6, 584, 0.9, 0.02}},
			112950 * time.Millisecond, 0.17},
		{"yahoo", 40.91, 118, 0.10, 0.05, [2]class{{22.5, 1.1, 16.5, 1.1, 0.35}, {206, 2, 1031, 1.1, 0.05}},
			90600 * time.Millisecond, 0.02},
		{"cloudera", 273.93, 162, 0.05, 0.05, [2]class{{200, 1.1, 60, 1.1, 0.35}, {1678, 2, 2100, 1.1, 0.05}},
			272800 * time.Millisecond, 0.09},
	}
}

// Demand is what a load is reckoned from.
type Demand string

// The demands: mean duration over jobs times mean tasks, as the source's; or the work of the tasks.
const (
	ByJobs Demand = "jobs"
	ByWork Demand = "work"
)

// Trace draws so many jobs. Their means over jobs are the shape's, exactly but for whole tasks and nanoseconds.
func (s Shape) Trace(jobs int, seed uint64) []Job {
	r := des.Random(seed, "jobs of "+s.Name)
	all, long := make([]Job, jobs), int(math.Round(s.long*float64(jobs)))
	part := float64(long) / float64(jobs)
	mean := func(of func(class) float64) float64 { return (1-part)*of(s.classes[0]) + part*of(s.classes[1]) }
	tasks := s.Tasks / mean(func(c class) float64 { return c.tasks })
	duration := s.Duration / mean(func(c class) float64 { return c.duration })
	order := r.Perm(jobs)
	for i, of := range [2][]int{order[long:], order[:long]} {
		c := s.classes[i]
		numbers := c.numbers(r, len(of), tasks*c.tasks, s.single)
		for k, mean := range c.means(r, len(of), duration*c.duration) {
			all[of[k]].draw(r, numbers[k], mean, c.within)
		}
	}
	return all
}

// numbers are numbers of tasks, with that mean.
func (c class) numbers(r *rand.Rand, n int, mean, single float64) []int {
	raw := make([]float64, n)
	for i := range raw {
		if r.Float64() >= single {
			raw[i] = des.Around(r, c.tasksSigma)
		}
	}
	want, numbers := int(math.Round(mean*float64(n))), make([]int, n)
	sum := func(scale float64) (sum int) {
		for i, x := range raw {
			numbers[i] = max(1, int(math.Round(scale*x)))
			sum += numbers[i]
		}
		return sum
	}
	low, high := 0.0, 1.0
	for sum(high) < want && high < 1e9 {
		high *= 2
	}
	for range 60 {
		if middle := (low + high) / 2; sum(middle) < want {
			low = middle
		} else {
			high = middle
		}
	}
	if left := want - sum(low); n > 0 { // Rounding leaves these.
		most := slices.Index(numbers, slices.Max(numbers))
		numbers[most] = max(1, numbers[most]+left)
	}
	return numbers
}

// means are mean durations of jobs in seconds, with that mean.
func (c class) means(r *rand.Rand, n int, mean float64) []float64 {
	all, sum := make([]float64, n), 0.0
	for i := range all {
		all[i] = des.Around(r, c.durationSigma)
		sum += all[i] / float64(n)
	}
	for i := range all {
		all[i] *= mean / sum
	}
	return all
}

// draw gives j its tasks.
func (j *Job) draw(r *rand.Rand, tasks int, mean, within float64) {
	factors, sum := make([]float64, tasks), 0.0
	for i := range factors {
		factors[i] = des.Around(r, within)
		sum += factors[i] / float64(tasks)
	}
	for _, f := range factors {
		j.Durations = append(j.Durations, max(1, time.Duration(mean*f/sum*float64(time.Second))))
	}
	j.Estimate = max(1, time.Duration(mean*float64(time.Second)))
}

// Arrive has jobs come at a Poisson process that asks so many workers for that load, and returns the true one. With
// ByWork that is the same.
func Arrive(jobs []Job, workers int, load float64, by Demand, seed uint64) (trueLoad float64) {
	tasks, duration, work := means(jobs)
	gap := duration * tasks / (load * float64(workers))
	if by == ByWork {
		gap = work / (load * float64(workers))
	}
	r, at := des.Random(seed, "arrivals"), 0.0
	for i := range jobs {
		jobs[i].Arrival = units.Instant(at * 1e9)
		at += gap * r.ExpFloat64()
	}
	return work / (gap * float64(workers))
}

// Asked is the true load for which jobs ask so many workers as they come, 0 where all come at once.
func Asked(jobs []Job, workers int) float64 {
	last := jobs[len(jobs)-1].Arrival.Sub(jobs[0].Arrival).Seconds()
	if last == 0 {
		return 0
	}
	_, _, work := means(jobs)
	return work * float64(len(jobs)-1) / (last * float64(workers))
}

// means are over jobs: numbers of tasks, mean durations and work, in seconds.
func means(jobs []Job) (tasks, duration, work float64) {
	for _, j := range jobs {
		tasks += float64(len(j.Durations)) / float64(len(jobs))
		duration += j.Estimate.Seconds() / float64(len(jobs))
		for _, d := range j.Durations {
			work += d.Seconds() / float64(len(jobs))
		}
	}
	return tasks, duration, work
}

// Misjudge has the estimate of each task be what is right times a number from 0 to 2.
func Misjudge(jobs []Job, seed uint64) {
	r := des.Random(seed, "estimates")
	for i := range jobs {
		j := &jobs[i]
		j.Wrong = make([]time.Duration, len(j.Durations))
		for k := range j.Wrong {
			j.Wrong[k] = max(1, time.Duration(2*r.Float64()*float64(j.Estimate)))
		}
	}
}
