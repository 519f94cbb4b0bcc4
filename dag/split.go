package dag

import "github.com/sparkpacer/pacer/units"

// SplitPaper is the name of the source's way to divide the time, Eq 1-3.
const SplitPaper = "paper"

// Moment is the situation in which a stage gets its deadline.
type Moment struct {
	// Deadline is the application's, Spent what of it has passed.
	Deadline, Spent units.Seconds
	// Stage is the id of the stage that is submitted, Unsubmitted are those of
	// the stages not submitted yet, without it.
	Stage       int
	Unsubmitted []int
	// Running are the other stages that were submitted and have not ended.
	Running []Rest
	// Seated are those of all these, Stage included, that have executors. It is only
	// looked at with Params.Executors: the others wait for one, in order of id.
	Seated []int

	room *room // What a walk uses again and again, nil outside of one.
}

// room is memory that splits use: a walk of thousands of stages divides the time as often, and would
// leave gigabytes to the collector.
type room struct {
	left, branch  []float64
	owner, active []int
}

// of returns room for n stages, new without one.
func (r *room) of(n int) *room {
	if r == nil {
		r = &room{}
	}
	if len(r.left) != n {
		*r = room{make([]float64, n), make([]float64, n), make([]int, n), make([]int, 0, n)}
	}
	return r
}

// Rest is what is left of a running stage, as a share of it.
type Rest struct {
	Stage int
	Left  float64
}

// StageDeadline returns the time that stage m.Stage may take from now on by the
// split that p names, in seconds. It is <= 0 when the deadline has passed or the
// stage is unknown: all cores. p must be valid; an unknown split counts as the
// paper's.
func (g *Graph) StageDeadline(p Params, m Moment) units.Seconds {
	if _, ok := g.index[m.Stage]; !ok {
		return 0
	}
	split, _ := findSplit(p.Split)
	return split(g, p, m)
}

// splitFunc divides the time left at moment m. m.Stage is a stage of g.
type splitFunc func(g *Graph, p Params, m Moment) units.Seconds

// splitTable is where a new split is entered; the first is the default.
func splitTable() []struct {
	name  string
	split splitFunc
} {
	return []struct {
		name  string
		split splitFunc
	}{
		{SplitPaper, splitPaper},
		{SplitCriticalPath, splitCriticalPath},
	}
}

// Splits returns the names of the splits that are built.
func Splits() []string {
	var names []string
	for _, entry := range splitTable() {
		names = append(names, entry.name)
	}
	return names
}

// findSplit returns the split of that name, "" being the default; for an unknown
// name it returns the default and false.
func findSplit(name string) (splitFunc, bool) {
	table := splitTable()
	for _, entry := range table {
		if entry.name == name {
			return entry.split, true
		}
	}
	return table[0].split, name == ""
}

// splitPaper is Eq 1-3 with R_s = s and the stages not submitted yet, after the
// driver's fixed costs: it takes stages that run side by side as if they ran
// one after the other.
func splitPaper(g *Graph, p Params, m Moment) units.Seconds {
	own := g.profile.Stages[g.index[m.Stage]].Duration
	remaining := make([]units.Seconds, 0, len(m.Unsubmitted)+1)
	remaining = append(remaining, own)
	for _, id := range m.Unsubmitted {
		if i, ok := g.index[id]; ok && id != m.Stage {
			remaining = append(remaining, g.profile.Stages[i].Duration)
		}
	}
	spent := m.Spent + g.Overhead(m.Unsubmitted)
	// Alpha is in the horizon already.
	return StageDeadline(1, p.horizon(g, m, noStage), spent, Weight(p.Beta, remaining, own))
}
