package zoe

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// An application is one of these.
const (
	rigid = iota
	interactive
	due
	elastic
	kinds
)

// comes is an application of a trace: when, what it is, and its deadline as a multiple of what it takes
// alone, 0 for none.
type comes struct {
	at     units.Seconds
	kind   int
	app    plant.App
	factor float64
}

// count is how many applications a trace has. Gaps between them are normal, and not negative.
const (
	count    = 100
	gapMean  = 60
	gapSigma = 40
)

// nodes are ten that hold two units each.
func nodes() []sim.NodeSpec {
	var all []sim.NodeSpec
	for i := range 10 {
		all = append(all, sim.NodeSpec{Name: fmt.Sprintf("n%02d", i+1), Cores: 8,
			Memory: 2 * (unitHeap + unitOverhead + unitFixed)})
	}
	return all
}

// work is what most of the flavours take, in core-seconds: with gaps of a minute all of them together ask for four
// fifths of 80 cores.
const work = 5300

// What a unit takes of its node's memory.
const (
	unitHeap     = 4 * units.GiB
	unitOverhead = units.GiB
	unitFixed    = units.GiB // Off the heap.
)

// flavour is an application with at least so many units, and at most so many. Its stages take one after
// another as much work each.
func flavour(name string, least, most, stages int, work units.Work) plant.App {
	a := plant.App{Name: name, Head: 3, Tail: 0.2, Exit: 0.5, Nodes: api.NodeRange{Least: least, Most: most},
		Memory: plant.Memory{Heap: unitHeap, Overhead: unitOverhead, OffHeap: unitFixed}}
	for i := range stages {
		s := plant.Stage{Tasks: 16 * most, Work: work / units.Work(stages), Records: 1_000_000, Written: 1_000_000, Gap: 0.1}
		if i > 0 {
			s.Parents = []int{i - 1}
		}
		a.Stages = append(a.Stages, s)
	}
	return a
}

// flavours are the applications of each kind. Of 1280 GB the source's elastic ones ask for 35 and 27
// components of 8 or 16 GB, its rigid ones for one and 15 of 16 GB: that part of 20 units, the
// elastic ones' core being 3 components.
func flavours() [][]plant.App {
	batch := []plant.App{flavour("forest-16", 1, 9, 8, work), flavour("forest-8", 1, 4, 8, work),
		flavour("als-16", 1, 7, 12, work), flavour("als-8", 1, 3, 12, work)}
	notebook := flavour("notebook", 1, 2, 4, work/16)
	notebook.Class = api.ClassInteractive
	return [][]plant.App{
		rigid:       {flavour("gp-1", 1, 1, 8, work/4), flavour("gp-15", 4, 4, 8, work)},
		interactive: {notebook},
		due:         batch,
		elastic:     batch,
	}
}

// trace is the applications that come, by a seed.
func trace(seed uint64) []comes {
	r := des.Random(seed, "zoe")
	of := flavours()
	var all []comes
	for i := range count {
		c := comes{kind: elastic}
		if i < 3*count/5 {
			c.kind = i % elastic
		}
		c.app = of[c.kind][r.IntN(len(of[c.kind]))]
		if c.kind == due {
			c.factor = 1.5 + 2.5*r.Float64()
		}
		all = append(all, c)
	}
	r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	at := units.Seconds(0)
	for i := range all {
		all[i].at = at
		at += units.Seconds(max(0, gapMean+gapSigma*r.NormFloat64()))
	}
	return all
}
