package fluid

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// Kind is what an application is to the source.
type Kind string

// The kinds: batch with elastic units and without, and interactive, whose priority is above 0.
const (
	Elastic     Kind = "elastic"
	Rigid       Kind = "rigid"
	Interactive Kind = "interactive"
)

// KindOf is a job's kind.
func KindOf(j assign.Job) Kind {
	switch {
	case j.Priority > 0:
		return Interactive
	case j.Elastic == 0:
		return Rigid
	}
	return Elastic
}

// Machines is the source's cluster: 100 machines of 32 cores and 128 GB.
var Machines = assign.Amount{Cores: 100 * 32, Memory: 100 * 128 * units.GiB}

// Pace is a trace made up after the source's, which is not public. The text says over which ranges the attributes of
// its jobs spread (section 3.3.1, Fig 3.2) and not how: here they are log-uniform, runtimes lognormal.
type Pace struct {
	Jobs int
	Seed uint64
	// Load is the work of all jobs over what the cores of Machines could do until the last one comes. The gaps between
	// arrivals are made to give it.
	Load float64
	// Interactive is the part of the jobs that are interactive; of the others four fifths are elastic.
	Interactive float64
	// Sizes are how large applications may be, those of a cluster that is not saturated where there are none.
	Sizes Sizes
}

// Sizes are the greatest of applications: the part of the cluster, of batch the elastic units and the units of rigid
// ones, and the memory of a unit in GB.
type Sizes struct{ Whole, Elastic, Rigid, Memory float64 }

const (
	// Runtimes are from a few dozen seconds to three weeks.
	runtimeMedian, runtimeSigma = 1200.0, 1.8
	runtimeLeast, runtimeMost   = 30.0, 3 * 7 * 24 * 3600.0
	elasticPart                 = 0.8
	// Four of five gaps are a tenth of the mean gap.
	burstPart, burstGap = 0.8, 0.1
	// batchLoad is that of the batch experiments. With saturating it is fitted to 75 % of the cores and 74 % of the memory
	// granted under malleable with FIFO (Table 3.1) by a cluster that cannot do more. openLoad is fitted to the same with
	// open, where all that comes is granted and no line grows. Nothing else is fitted.
	batchLoad, openLoad = 0.785, 0.752
	// peopleLoad gives the interactive jobs a median wait of ten minutes under flexible with SRPT (Fig 3.9).
	peopleLoad, interactivePart = 0.705, 0.2
)

// The sizes of the two loads.
var (
	saturating = Sizes{Whole: 0.39, Elastic: 1950, Rigid: 740, Memory: 70}
	open       = Sizes{Whole: 0.25, Elastic: 600, Rigid: 400, Memory: 59}
)

// Trace makes the jobs. It is the same for the same Pace.
func (p Pace) Trace() []assign.Job {
	p.Sizes = cmp.Or(p.Sizes, open)
	sizes, gaps := des.Random(p.Seed, "sizes"), des.Random(p.Seed, "gaps")
	jobs, at, work := make([]assign.Job, p.Jobs), make([]float64, p.Jobs), 0.0
	for i := range jobs {
		jobs[i] = p.job(sizes)
		jobs[i].ID = fmt.Sprintf("app-%05d", i+1)
		work += float64(jobs[i].Time) * float64(jobs[i].Core+jobs[i].Elastic) * float64(jobs[i].Unit.Cores)
		if i > 0 {
			at[i] = at[i-1] + gap(gaps)
		}
	}
	if last := at[len(at)-1]; last > 0 {
		stretch := work / (p.Load * float64(Machines.Cores)) / last
		for i := range jobs {
			jobs[i].Arrival = units.Instant(at[i] * stretch * float64(time.Second))
		}
	}
	return jobs
}

// job draws a job.
func (p Pace) job(r *rand.Rand) assign.Job {
	runtime := min(max(runtimeMedian*math.Exp(runtimeSigma*r.NormFloat64()), runtimeLeast), runtimeMost)
	j := assign.Job{Time: units.Seconds(runtime)}
	j.Unit.Cores = units.Cores(math.Round(100*logUniform(r, 0.25, 6)) / 100)
	j.Unit.Memory = units.Bytes(1024*logUniform(r, 0.1, p.Sizes.Memory)) * units.MiB
	switch kind := r.Float64(); {
	case kind < p.Interactive:
		j.Priority, j.Core, j.Elastic = 1, count(r, 20), count(r, 200)
	case kind < p.Interactive+(1-p.Interactive)*elasticPart:
		j.Core, j.Elastic = count(r, 60), count(r, p.Sizes.Elastic)
	default:
		j.Core = count(r, p.Sizes.Rigid)
	}
	whole := int(p.Sizes.Whole *
		min(float64(Machines.Cores/j.Unit.Cores), float64(Machines.Memory)/float64(j.Unit.Memory)))
	j.Core = min(j.Core, whole)
	j.Elastic = min(j.Elastic, whole-j.Core)
	return j
}

// gap draws a gap between two arrivals, whose mean is 1.
func gap(r *rand.Rand) float64 {
	if r.Float64() < burstPart {
		return burstGap * r.ExpFloat64()
	}
	return (1 - burstPart*burstGap) / (1 - burstPart) * r.ExpFloat64()
}

func logUniform(r *rand.Rand, least, most float64) float64 {
	return least * math.Exp(r.Float64()*math.Log(most/least))
}

// count draws a whole number from 3, log-uniform.
func count(r *rand.Rand, most float64) int { return int(math.Round(logUniform(r, 3, most))) }
