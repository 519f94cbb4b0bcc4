package attach

import (
	"fmt"
	"math"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// Applications are like this.
const (
	most     = 16   // Executors that a user allows.
	mostWait = 60.0 // Seconds until the manager gives half of what is asked for.
	spread   = 0.05 // Of a stage's work about what its profile and its input say.
	machines = 4
	head     = 3.0
	gap      = 0.3
	tail     = 0.5
)

// draw is the application of a seed with its deadline, and the run of it that is recorded, on executors that are there
// from the beginning. How large the input is today, up to a fifth more or less than in the profile, the driver knows
// when a stage is ready; the rest is known to neither planner nor driver before.
func draw(seed uint64) (today, recorded plant.App) {
	r := des.Random(seed, "attach")
	cores := 1 << r.IntN(3)
	needs := 2 + 10*r.Float64() // About how many executors keep the deadline.
	seconds := 150 + 600*r.Float64()
	stages := 3 + r.IntN(6)
	input := 1 + 0.4*(r.Float64()-0.5)
	var parts []float64
	sum := 0.0
	for range stages {
		parts = append(parts, math.Exp(0.7*r.NormFloat64()))
		sum += parts[len(parts)-1]
	}
	today = plant.App{Name: fmt.Sprintf("attach-%d", seed), Head: head, Tail: tail, ExecutorCores: cores,
		Attach: &plant.Attach{Least: 1, Most: most, Wait: mostWait}}
	recorded = today
	for i, part := range parts {
		s := plant.Stage{Job: i, Tasks: 100 + r.IntN(300), Records: 1_000_000,
			Work: units.Work(part / sum * needs * float64(cores) * seconds)}
		if i > 0 {
			s.Parents, s.Gap = []int{i - 1}, gap
		}
		recorded.Stages = append(recorded.Stages, s)
		s.Records = int64(float64(s.Records) * input)
		s.Work *= units.Work(input * math.Exp(spread*r.NormFloat64()))
		today.Stages = append(today.Stages, s)
	}
	n := 2 + r.IntN(most-2)
	recorded.Attach = &plant.Attach{Least: n, Most: n}
	today.Deadline = units.Seconds(head + seconds*(0.9+0.6*r.Float64()) + float64(stages)*gap + mostWait/2)
	return today, recorded
}

// fixed is a with so many executors, which its driver asks for once.
func fixed(a plant.App, executors int) plant.App {
	a.Attach = &plant.Attach{Least: executors, Most: executors, Wait: mostWait}
	return a
}

// world is that of a seed.
func world(seed uint64) sim.Config {
	c := sim.Default()
	c.Seed, c.Certainty, c.Nodes = seed, api.UsualCertainty, nil
	for i := range machines {
		c.Nodes = append(c.Nodes, sim.NodeSpec{Name: fmt.Sprintf("n%d", i+1), Cores: 64, Attach: true})
	}
	return c
}
