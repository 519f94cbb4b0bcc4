package paper

import (
	"fmt"

	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// shortStages is how many stages a report of small queries has here, shortReports how many reports there are.
const shortStages, shortReports = 40, 5

// report is a report of small queries on so many cores. Its stages come one after another, each of 0.2 to 1 s
// at all cores and of one to eight tasks, with as much driver time between them. A core is
// worth more where one works than where all do, as where two share a processor's caches. The number
// draws the times.
func report(cores float64, number uint64) plant.App {
	r := des.Random(number, "report")
	a := plant.App{Name: fmt.Sprintf("report-%d", number), Head: 4, Tail: 0.2, Exit: 0.5, Driver: 1, Bend: 1}
	for i := range shortStages {
		full, gap, tasks := 0.2+0.8*r.Float64(), 0.2+0.8*r.Float64(), 1+r.IntN(8)
		a.Stages = append(a.Stages, plant.Stage{Name: fmt.Sprintf("query %d", i), Job: i, Tasks: tasks,
			Work: units.Work(full * min(cores, float64(tasks))), Records: int64(100_000 * full), Gap: units.Seconds(gap)})
	}
	return a
}

// short runs reports of small queries on one node of two cores.
func short(o setup) ([]attempt, error) {
	o.base.Nodes = []sim.NodeSpec{{Name: "n1", Cores: 2}}
	var trials []trial
	for _, slack := range []int{25, 50} {
		for number := range uint64(shortReports) {
			a := report(2, number)
			trials = append(trials, trial{name: fmt.Sprintf("report %d +%d%%", number, slack),
				figure:   fmt.Sprintf("sim.short.LAW.%d.%d.error_pct", number, slack),
				profiled: a, run: a, slack: float64(slack) / 100})
		}
	}
	return o.all(trials)
}
