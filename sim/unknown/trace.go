package unknown

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/paper"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// count is how many applications a trace has. Their work, by a measure of it, is load times what all cores could do
// until the last of them comes. Each is due at least to most times what it takes alone.
const (
	count       = 40
	load        = 1.8
	least, most = 1.2, 5
)

// comes is an application of a trace, and when it comes.
type comes struct {
	at  units.Seconds
	new bool
	app plant.App
}

// Loads are the measures of work, the first of which the figures are of that have no other in their name. A core does
// twice as much where an application has few, as all have that share, so the same load at all cores is half of that.
const (
	Paced    = "paced"     // The work that an application uses under the mean deadline.
	AllCores = "all_cores" // The work that it uses at all cores.
)

// Loads are these.
func Loads() []string { return []string{Paced, AllCores} }

// alone is what an application showed with nothing beside it: at all cores, and its work by each measure.
type alone struct {
	app      plant.App
	profile  api.Profile
	duration units.Seconds
	work     map[string]units.Work
}

// runAlone runs each application alone, in the order of the source's table.
func runAlone(c sim.Config) ([]alone, error) {
	var all []alone
	for _, a := range paper.Workloads() {
		p, o, err := sim.Record(c, a)
		if err != nil {
			return nil, fmt.Errorf("%s alone: %w", a.Name, err)
		}
		a.Deadline = o.Duration * (least + most) / 2
		due, err := sim.Pace(c, a, p, 0)
		if err != nil {
			return nil, fmt.Errorf("%s alone, due in %v: %w", a.Name, a.Deadline, err)
		}
		all = append(all, alone{a, p, o.Duration,
			map[string]units.Work{Paced: units.Work(due.CoreSeconds), AllCores: units.Work(o.CoreSeconds)}})
	}
	return all, nil
}

// trace is the applications that come, by a seed and a measure of work.
func trace(seed uint64, known []alone, cores float64, by string) []comes {
	r := des.Random(seed, "unknown")
	all, gaps, work, last := make([]comes, count), make([]float64, count), units.Work(0), 0.0
	for i := range all {
		k := known[r.IntN(len(known))]
		all[i] = comes{new: i%2 == 0, app: k.app}
		all[i].app.Stages = slices.Clone(k.app.Stages)
		all[i].app.Deadline = k.duration * units.Seconds(least+(most-least)*r.Float64())
		work += k.work[by]
		if i > 0 {
			gaps[i] = r.ExpFloat64()
			last += gaps[i]
		}
	}
	r.Shuffle(count, func(i, k int) { all[i], all[k] = all[k], all[i] })
	at := units.Seconds(0)
	for i := range all {
		at += units.Seconds(float64(work) / cores / load * gaps[i] / last)
		all[i].at = at
		if all[i].new {
			all[i].app.Name = fmt.Sprintf("new-%02d-%s", i, all[i].app.Name)
		}
	}
	return all
}
