package mesh

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// chosen is a system whose short jobs send their one probe to a worker that the test chooses.
type chosen struct {
	*sampling
	at map[int]int32
}

func (c chosen) arrive(job int) {
	if at, short := c.at[job]; short {
		c.in.after(c.in.Network.Delay, func() { c.land(at, entry{job: int32(job), task: -1}) })
		return
	}
	c.sampling.arrive(job)
}

// shortJob is a job of 10 s whose probe goes to worker at.
func shortJob(arrives float64) Job {
	return Job{Arrival: units.Instant(arrives * 1e9), Estimate: 10 * time.Second, Durations: []time.Duration{10 * time.Second}}
}

// longJob has a task for each of workers 0 and 1, and is long by its estimate.
func longJob(arrives float64, seconds ...time.Duration) Job {
	j := Job{Arrival: units.Instant(arrives * 1e9), Estimate: 2500 * time.Second}
	for _, s := range seconds {
		j.Durations = append(j.Durations, s*time.Second)
	}
	return j
}

// Four worlds of three workers, one for each place in which the thesis's Eagle and its author's simulator differ. Long
// jobs run on workers 0 and 1, and a short probe that meets a long task is sent to worker 0.
func TestWhereTheTwoEaglesDiffer(t *testing.T) {
	const delay = 5 * time.Millisecond
	for _, x := range []struct {
		name           string
		jobs           []Job
		at             map[int]int32
		job            int // Of which we know what it takes.
		thesis, author time.Duration
	}{
		// Worker 1 runs a task of 3,000 s: it sends the probe to worker 0, free at 2,500 s, or keeps it.
		{"a worker that runs a long task", []Job{longJob(0, 2500, 3000), shortJob(100)}, map[int]int32{1: 1}, 1,
			2410 * time.Second, 2910 * time.Second},
		// Worker 1 has ended a task of 1,500 s of a long job, and is free, or seems to have it for ever.
		{"a task of a long job that is shorter", []Job{longJob(0, 3000, 1500), shortJob(2000)}, map[int]int32{1: 1}, 1,
			10 * time.Second, 1010 * time.Second},
		// Worker 1, where a long task waits, has sent the first probe to worker 0, which later sends the second to itself.
		{"a probe that was sent on", []Job{longJob(0, 3000, 3000), longJob(1, 3000, 3000), shortJob(100), shortJob(10_000)},
			map[int]int32{2: 1, 3: 0}, 3, 10*time.Second + 4*delay, 10*time.Second + 6*delay},
		// The probe comes to worker 0 behind a long task that waits there, and passes it or not.
		{"a long task that waits", []Job{longJob(0, 3000, 3000), longJob(1, 3000, 3000), shortJob(100)}, map[int]int32{2: 1}, 2,
			2910 * time.Second, 5910 * time.Second},
	} {
		for name, want := range map[string]time.Duration{"eagle-thesis": x.thesis, "eagle-author": x.author} {
			w := &world{Config: Default(3), jobs: x.jobs, rand: des.Random(1, name), left: len(x.jobs)}
			w.out.Took = make([]time.Duration, len(x.jobs))
			make := newEagleThesis
			if name == "eagle-author" {
				make = newEagleAuthor
			}
			s, err := make(w)
			if err != nil {
				t.Fatal(err)
			}
			out, err := w.run(chosen{s.(*sampling), x.at})
			if took := out.Took[x.job]; err != nil || took < want-time.Millisecond || took > want+10*delay && x.job < 3 ||
				took > want+time.Millisecond && x.job == 3 {
				t.Errorf("%s, %s: %v, %v, want %v", x.name, name, took, err, want)
			}
		}
	}
}
