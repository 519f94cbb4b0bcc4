package fluid

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// Made is a trace made up after one of two that are not public (E. Dimopoulos, "Resource Allocation in Multi-analytics,
// Resource-Constrained Environments", PhD thesis, 2018, sections 4.3 and 5.3). The source says which part of the jobs
// has how many tasks, and the mean work of some of these classes. How tasks spread inside a class (log-uniform), the
// means of its classes between 2 and 1,000 tasks, and how work spreads beside the two numbers that the source has of
// that (lognormal) are made up; so are the bursts in which jobs come.
type Made struct {
	Name string
	// Full is how many jobs the source's has.
	Full int
	// cores is what its work is on the mean over its three months: with that the jobs come.
	cores   float64
	classes []class
}

// class is of jobs with so many tasks: part of all jobs, their mean work in CPU-seconds, and how its logarithm spreads.
type class struct{ part, least, most, work, sigma float64 }

// mostSigma bounds the work of a job: the greatest would take years on one core.
const mostSigma = 4

// The sigmas of one task, and of less than ten, have 80 % and 60 % of these jobs below 100 CPU-seconds.
var (
	// TR1 has 98 % of its work in jobs of more than 1,000 tasks.
	TR1 = Made{"tr1", 159_194, 3975, []class{{.58, 1, 1, 335, 2.61}, {.12, 2, 9, 500, 2.07}, {.10, 10, 99, 3_700, 1},
		{.07, 100, 1000, 46_560, 1}, {.13, 1001, 9345, 1_463_760, 1}}}
	// TR2 has 94 % there.
	TR2 = Made{"tr2", 1_140_064, 6158, []class{{.62, 1, 1, 203, 2.3}, {.18, 2, 9, 300, 1.76}, {.17, 10, 1000, 13_765, 1},
		{.03, 1001, 24721, 1_316_160, 1}}}
)

// Jobs are so many jobs with the gaps that give the source's mean load, without deadlines. They are the same for the
// same seed.
func (m Made) Jobs(n int, seed uint64) []assign.Job {
	sizes, gaps := des.Random(seed, "sizes"), des.Random(seed, "gaps")
	jobs, at, work := make([]assign.Job, n), make([]float64, n), 0.0
	for i := range jobs {
		u, c := sizes.Float64(), m.classes[len(m.classes)-1]
		for _, of := range m.classes {
			if u -= of.part; u < 0 {
				c = of
				break
			}
		}
		tasks := max(c.least, math.Round(logUniform(sizes, c.least, c.most)))
		mean := c.least
		if c.most > c.least {
			mean = (c.most - c.least) / math.Log(c.most/c.least)
		}
		spread := math.Exp(c.sigma*min(sizes.NormFloat64(), mostSigma) - c.sigma*c.sigma/2)
		w := c.work * tasks / mean * spread
		jobs[i] = assign.Job{ID: fmt.Sprintf("job-%07d", i+1), Unit: assign.Amount{Cores: 1}, Core: 1,
			Elastic: int(tasks) - 1, Tasks: int(tasks), Time: units.Seconds(w / tasks)}
		if work += w; i > 0 {
			at[i] = at[i-1] + gap(gaps)
		}
	}
	for i := range jobs {
		jobs[i].Arrival = units.Instant(at[i] / max(1, at[n-1]) * work / m.cores * float64(time.Second))
	}
	return jobs
}

// Deadlines are a generator of deadlines: each is x times T after the arrival, T what the job takes with all that it
// can use of the cluster.
type Deadlines struct {
	Name string
	// draw draws x from a number from 0 to 1.
	draw func(u float64) float64
}

// Generators are the source's (section 5.2.1).
func Generators() []Deadlines {
	two := func(first, second, part float64) func(float64) float64 {
		return func(u float64) float64 {
			if u < part {
				return first
			}
			return second
		}
	}
	between := func(least, most float64) func(float64) float64 {
		return func(u float64) float64 { return least + u*(most-least) }
	}
	return []Deadlines{{"fixed1x", two(1, 1, 1)}, {"fixed2x", two(2, 2, 1)}, {"jockey1x2x", two(1, 2, 0.5)},
		{"jockey2x4x", two(2, 4, 0.5)}, {"90loose", two(2, 1, 0.9)}, {"aria1x3x", between(1, 3)}, {"aria2x4x", between(2, 4)}}
}

// GeneratorNames are the names of Generators.
func GeneratorNames() (names []string) {
	for _, d := range Generators() {
		names = append(names, d.Name)
	}
	return names
}

// Due is a copy of jobs with those deadlines on a cluster of so many cores.
func (d Deadlines) Due(jobs []assign.Job, cores int, seed uint64) []assign.Job {
	jobs, r := slices.Clone(jobs), des.Random(seed, "deadlines")
	for i := range jobs {
		j := &jobs[i]
		t := float64(j.Time) * float64(j.Tasks) / float64(min(j.Tasks, cores))
		j.Due = j.Arrival + units.Instant(math.Ceil(d.draw(r.Float64())*t*1e9))
	}
	return jobs
}
