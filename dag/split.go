package dag

import (
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// SplitPaper is the name of the source's way to divide the time, Eq 1-3.
const SplitPaper = "paper"

// Moment is the situation in which a stage gets its deadline.
type Moment struct {
	// Deadline is the application's, Spent what of it has passed.
	Deadline, Spent units.Seconds
	// Began is when the leg of Stage began: it is only looked at with Params.Legs.
	Began units.Seconds
	// Stage is the id of the stage that is submitted, Unsubmitted are those of
	// the stages not submitted yet, without it.
	Stage       int
	Unsubmitted []int
	// Running are the other stages that were submitted and have not ended.
	Running []Rest
	// Seated are those of all these, Stage included, that have executors. It is only
	// looked at with Params.Executors: the others wait for one, in their order.
	Seated []int
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
	i, ok := g.index[m.Stage]
	if !ok {
		return 0
	}
	split, _ := findSplit(p.Split)
	seats := &listSchedule{}
	var seated []int
	for _, id := range m.Seated {
		if k, ok := g.index[id]; ok {
			seated = append(seated, k)
		}
	}
	return split(p, m.backlog(g, p, i), situation{m.Deadline, m.Spent, i, seated, seats})
}

// backlog is what is left at moment m, of which the stage that is submitted is node s.
func (m Moment) backlog(g *Graph, p Params, s int) *backlog {
	b := newBacklog(g, p)
	for _, id := range m.Unsubmitted {
		switch i, ok := g.index[id]; {
		case !ok:
		case i == s: // It is submitted once more.
			b.leaf(i).gaps = float64(g.nodes[i].gaps)
		default:
			b.await(i)
		}
	}
	turn := slices.Contains(m.Seated, m.Stage)
	for _, r := range m.Running {
		i, ok := g.index[r.Stage]
		if !ok {
			continue
		}
		b.put(i, r.Left)
		// Stages whose turn comes later follow it.
		if p.Executors > 0 && !slices.Contains(m.Seated, r.Stage) && (turn || i > s) {
			b.wait(i, r.Left)
			b.follower = i
		}
	}
	b.put(s, 1)
	b.settle()
	return b
}

// situation is the moment in which the stage at node is submitted. The stages of seated have executors; seats is room
// for the schedule of what is left.
type situation struct {
	deadline, spent units.Seconds
	node            int
	seated          []int
	seats           *listSchedule
}

// splitFunc divides the time left at moment m, of which b is left.
type splitFunc func(p Params, b *backlog, m situation) units.Seconds

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
func splitPaper(p Params, b *backlog, m situation) units.Seconds {
	own := b.graph.nodes[m.node].stage.Duration
	w := weight(p.Beta, b.unsubmitted+1, own+units.Seconds(b.all().ahead), own)
	// Alpha is in the horizon already.
	return StageDeadline(1, p.horizon(b, m, noNode), m.spent+b.overhead(), w)
}
