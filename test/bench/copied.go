package main

import (
	"testing"

	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/test/benchline"
)

// thirdWorld has an application whose largest task, of h seconds, is on a node at a third of its speed, one of eight:
// it takes 3h there. The driver does not know how large tasks are. With 1.4 times the time that all takes at full speed
// the stage is due after 1.4h, and a copy ends after 2.4h and what it takes to say so. The other stage takes r seconds
// of eight nodes, 1.09r of these. It makes up for the copy where 0.31r is more than h, and not for the slow task where
// that is less than 1.6h: h is 40 s and r 172.
const thirdWorld = `# Copies of the largest task of a stage, which is on a slow node.
nodes 8 cores=1
app two head=10s tail=0.5s exit=0.5s
  stage read tasks=16 work=48 zipf=3 records=1000000 written=500000 gap=0.2s
  stage sum tasks=320 work=1376 after=read records=500000 gap=0.2s
at 0s speed n1 0.3333
at 0s submit two deadline=1.4x
`

// thirdSeeds are how many worlds there are.
const thirdSeeds = 40

// copied runs it in pairs, with copies and without.
func copied(t testing.TB, add adder) {
	var saved, without, with []float64
	for seed := range uint64(thirdSeeds) {
		run := func(noCopies bool) sim.Outcome {
			s, err := sim.ParseScenario("third", thirdWorld)
			if err != nil {
				t.Fatal(err)
			}
			s.Config.Seed, s.Config.Plant.NoCopies = seed, noCopies
			r, err := s.Run(nil)
			if err != nil {
				t.Fatal(err)
			}
			return r.Outcomes[0]
		}
		a, b := run(true), run(false)
		saved = append(saved, float64(a.Duration-b.Duration))
		without, with = append(without, a.Error), append(with, b.Error)
	}
	add("speculation.saved_s", benchline.Median(saved), "s")
	add("speculation.late_saved", lateAlone(without, with), "runs")
	add("speculation.late_made", lateAlone(with, without), "runs")
}

// lateAlone counts the pairs of which the first is late and the second is not.
func lateAlone(first, second []float64) benchline.Measured {
	ones := make([]float64, len(first))
	for i := range first {
		if first[i] < 0 && second[i] >= 0 {
			ones[i] = -1
		}
	}
	return lateOf(ones)
}
