package mesh

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/mesh/probe"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// small are few jobs on few workers.
func small(jobs, workers int, load float64, seed uint64) (Config, []Job) {
	c := Default(workers)
	c.Seed, c.Schedulers = seed, 3
	all := Shapes()[0].Trace(jobs, seed)
	Arrive(all, workers, load, ByJobs, seed)
	return c, all
}

// Each system completes all jobs, none before its longest task, and again in the same way by the same seed.
func TestEverySystemCompletesItsJobs(t *testing.T) {
	for _, name := range Systems() {
		for _, load := range []float64{0.2, 1, 3} {
			c, jobs := small(60, 40, load, 7)
			out, err := Run(name, c, jobs)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var sum time.Duration
			for i, j := range jobs {
				sum += out.Took[i]
				if out.Took[i] < slices.Max(j.Durations) {
					t.Errorf("%s: job %d took %v, its longest task takes %v", name, i, out.Took[i], slices.Max(j.Durations))
				}
			}
			if again, _ := Run(name, c, jobs); !slices.Equal(out.Took, again.Took) || out.Hops != again.Hops {
				t.Errorf("%s: another outcome by the same seed", name)
			}
			t.Logf("%-13s %.1f: mean %.1f s, %d hops, %d noops, %d events", name, load, sum.Seconds()/60, out.Hops, out.Noops, out.Events)
		}
	}
}

// Whatever the network does, and if all workers but one crash: each task is counted once, and P and W return to 0.
func TestUnderFaultsEachTaskCountsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, jobs := small(rapid.IntRange(1, 12).Draw(t, "jobs"), rapid.IntRange(1, 24).Draw(t, "workers"), 1,
			rapid.Uint64Range(0, 1000).Draw(t, "seed"))
		c.Faults = true
		c.Network = des.Delays{Delay: 5 * time.Millisecond, Jitter: time.Duration(rapid.IntRange(0, 900).Draw(t, "jitter")) * time.Millisecond,
			Loss: rapid.Float64Range(0, 0.4).Draw(t, "loss"), Duplicate: rapid.Float64Range(0, 0.4).Draw(t, "duplicate"),
			Reorder: rapid.Bool().Draw(t, "reorder")}
		c.Kill = rapid.IntRange(0, c.Workers-1).Draw(t, "killed")
		c.KillAt = time.Duration(rapid.IntRange(0, 60).Draw(t, "killed at")) * time.Second
		for i := range c.Rules[:len(c.Rules)-1] {
			if rapid.IntRange(0, 3).Draw(t, "read otherwise") == 0 {
				c.Rules[i] = 1
			}
		}
		w := &world{Config: c, jobs: jobs, rand: des.Random(c.Seed, "test"), left: len(jobs)}
		w.out.Took = make([]time.Duration, len(jobs))
		s, err := newPeacock(w)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.run(s); err != nil {
			t.Fatal(err)
		}
		if w.left != 0 {
			t.Fatalf("%d jobs are left: one completed twice", w.left)
		}
		s.(*peacock).network.Delays = des.Delays{}
		if err := w.rest(time.Minute); err != nil {
			t.Fatal(err)
		}
		for i := range c.Schedulers {
			if n := s.(*peacock).masters[i].engine.(*probe.Scheduler).Count(); n != (probe.Count{}) {
				t.Fatalf("scheduler %d counts %+v in the end", i, n)
			}
		}
	})
}

// Where workers that have crashed refuse, jobs that come later lose some delays to them, not seconds.
func TestTheSwitchCrash(t *testing.T) {
	took := map[string]time.Duration{}
	for _, choice := range []string{"refused", "silent"} {
		c, jobs := small(20, 20, 0.1, 3)
		c.Faults, c.Kill, c.Round = true, 4, 10*time.Millisecond
		var err error
		if c.Rules, err = c.Rules.With("crash " + choice); err != nil {
			t.Fatal(err)
		}
		for i := range jobs { // One after the other, of one task for each worker that lives.
			jobs[i].Arrival, jobs[i].Estimate = units.Instant(i+1)*units.Instant(10*time.Second), time.Second
			jobs[i].Durations = slices.Repeat([]time.Duration{time.Second}, c.Workers-c.Kill)
		}
		out, err := Run("peacock", c, jobs)
		if err != nil {
			t.Fatal(err)
		}
		took[choice] = slices.Max(out.Took)
	}
	if took["refused"] > 3*time.Second || took["silent"] < 5*time.Second {
		t.Errorf("the longest job of a second takes %v", took)
	}
}

// An unknown system names those that there are.
func TestUnknownSystem(t *testing.T) {
	if _, err := Run("hawk", Default(1), nil); err == nil {
		t.Error("no error")
	}
}
