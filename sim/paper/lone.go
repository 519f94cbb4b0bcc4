package paper

import (
	"fmt"

	"github.com/sparkpacer/pacer/sim"
)

// lone runs group-by as bench-deadlines does on real Spark, on one node of two cores:
// with Zipf-distributed keys one task has up to four fifths of the reduce stage, and
// nothing that runs beside it makes up for what goes otherwise in it. The plant is as
// histories of such runs showed it: records are read up to three times as
// fast in one part of a task as in another, and the heap is collected all the time.
func lone(o Options) ([]Cell, error) {
	c := o.common()
	c.Nodes = []sim.NodeSpec{{Name: "n1", Cores: 2}}
	c.Plant.Task, c.Plant.Sway, c.Plant.PauseEvery, c.Plant.PauseWork = 0.04, 3, 1, 0.2
	c.Plant.ByteCost = 0 // What differs between tasks and runs there is in the figures above.
	o.Config = &c
	var trials []trial
	for _, s := range []float64{1, 2, 3} {
		w := loneGroups(s)
		trials = append(trials, trial{name: fmt.Sprintf("group-by on two cores +20%% s=%g", s), figure: fmt.Sprintf("sim.lone.LAW.%g.error_pct", s),
			profiled: w, run: w, slack: 0.2})
	}
	return o.all(trials)
}

// loneGroups is group-by at half the size of the bench's: 37 million records.
func loneGroups(s float64) sim.App {
	const tasks, records = 120, 37_000_000
	return sim.App{Name: "group-by-lone", Head: 4, Tail: 0.2, Stages: []sim.Stage{
		{Name: "map", Tasks: tasks, Work: 25, Gap: 0.1, Written: records},
		{Name: "reduce", Parents: []int{0}, Tasks: tasks, Work: 20, Records: records, Gap: 0.05, Fetch: 0.005, Read: 0.95, Zipf: s},
	}}
}
