package probe

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// hops is how often the probes of one job are handed on until all run, where each worker is idle with that chance and
// messages take no time.
func hops(t *testing.T, r *rand.Rand, tasks int, idle float64) (n int) {
	c := Default(1000, 1)
	s := NewScheduler(&c, -1, r.IntN)
	s.own.Work = time.Hour * time.Duration(1000*c.Workers) // Nothing gets overdue.
	workers := map[Node]*Worker{}
	worker := func(i Node) *Worker {
		if workers[i] == nil {
			workers[i] = NewWorker(&c, i, 0)
			if r.Float64() >= idle {
				workers[i].Step(0, Message{From: -1, Body: Enqueue{Probes: []Probe{{Job: 2, Scheduler: -1, Estimate: time.Hour}}}}, nil)
			}
		}
		return workers[i]
	}
	said := s.Step(0, Message{From: Shell, Body: Submit{Job: 1, Tasks: tasks, Estimate: time.Hour}}, nil)
	for now, left := units.Instant(0), tasks; left > 0; now += second {
		for ; len(said) > 0; said = said[1:] {
			switch body := said[0].Message.Body.(type) {
			case GetTask:
				left--
			case Rotate:
				n += len(body.Probes)
				said = worker(said[0].To).Step(now, said[0].Message, said)
			case Enqueue:
				said = worker(said[0].To).Step(now, said[0].Message, said)
			}
		}
		if now > 100_000*second {
			t.Fatalf("%d probes find no worker", left)
		}
		for i := range Node(c.Workers) { // In the order of the ring, for the same outcome by the same seed.
			if w := workers[i]; w != nil {
				if at, wanted := w.Due(); wanted && at <= now {
					said = w.Step(now, Message{Body: Tick{}}, said)
				}
			}
		}
	}
	return n
}

// Theorem 1: the wasted hops of a job of 3 tasks are negative binomial.
func TestTheorem1TheHops(t *testing.T) {
	const jobs = 2000
	r := rand.New(rand.NewPCG(1, 2))
	var seen [5]float64
	for range jobs {
		seen[min(hops(t, r, 3, 0.8), 4)]++
	}
	chi, rest := 0.0, 1.0
	for i, p := range []float64{0.512, 0.3072, 0.12288, 0.04096, 0} {
		if rest -= p; i == 4 {
			p = rest
		}
		chi += math.Pow(seen[i]-p*jobs, 2) / (p * jobs)
	}
	if chi > 48 { // Four degrees of freedom: 1e-9.
		t.Errorf("%v of %d jobs have 0 to 3 hops, and more: chi-square %.1f", seen, jobs, chi)
	}
	for _, c := range [][2]float64{{0.8, 0.75}, {0.2, 12}} {
		idle, want := c[0], c[1]
		sum, sd := 0, math.Sqrt(3*(1-idle)/jobs)/idle
		for range jobs {
			sum += hops(t, r, 3, idle)
		}
		if mean := float64(sum) / jobs; math.Abs(mean-want) > 6.2*sd {
			t.Errorf("idle %v: %v hops in the mean, want %v", idle, mean, want)
		}
	}
}
