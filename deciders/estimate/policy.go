package estimate

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// Values of Policy.Branches.
const (
	BranchesTogether = "together"
	BranchesInTurn   = "in-turn"
	BranchesAuto     = "auto"
)

// Branches are the values of Policy.Branches.
func Branches() []string { return []string{BranchesTogether, BranchesInTurn, BranchesAuto} }

// Policy says how applications are planned.
type Policy struct {
	// Equations are the parameters of the equations, of no application's shape yet.
	Equations dag.Params
	// Branches says whether stages that could run side by side do.
	Branches string
	// MaxPool bounds the stages of one application that can run side by side on a node.
	MaxPool int
	// ExitSilent is how long a driver whose context has stopped may be silent before its
	// exit counts as not known, ExitWait how long the exit of one that speaks is waited
	// for.
	ExitSilent, ExitWait time.Duration
	// Sharing are the rules of life beside others, nil for sharing.Default's.
	Sharing *sharing.Params
}

func (p Policy) rules() *sharing.Params { return sharing.Of(p.Sharing) }

// Shape decides how many stages of an application with a deadline can run side by side, each
// on so many executors in all, and whether it starts without being held back. A stage's executors have all the node's
// cores as ceiling, so branches in turn end when branches side by side would but for tails and gaps. Each executor less
// is a JVM that does not start, compile and collect for itself.
func (p Policy) Shape(g *dag.Graph, executors int, deadline units.Seconds, supply dag.Supply,
	elapsed units.Seconds) dag.Params {
	most := p.Together(g)
	if p.Opens() {
		q := p.Equations
		q.Nodes = executors
		return g.Choose(q, most, deadline, supply, elapsed)
	}
	if p.Branches == BranchesInTurn {
		most = 1
	}
	q := p.Turns(g, most)
	q.Nodes = executors
	return q
}

// PerNode is how many stages of an application of g can run side by side on a node by its shape.
func (p Policy) PerNode(g *dag.Graph, shape dag.Params) int {
	switch {
	case shape.Open:
		return 1
	case shape.Executors > 0:
		return shape.Executors
	}
	return p.Together(g)
}

// Opens reports whether the shape of an application is chosen by what it costs. The
// paper's split knows no turns, and its system has none.
func (p Policy) Opens() bool {
	return p.Branches == BranchesAuto && p.Equations.Split != dag.SplitPaper
}

// Together is how many stages can run side by side, as far as MaxPool allows.
func (p Policy) Together(g *dag.Graph) int { return min(g.Width(), p.MaxPool) }

// Turns are the parameters of the equations for so many stages side by side.
func (p Policy) Turns(g *dag.Graph, abreast int) dag.Params { return g.Turns(p.Equations, abreast) }

// Final reports whether a, on its course and with the parameters that it has, ends with s:
// no stage is to come, and none waits for the executor that s has.
func Final(a *ledger.App, s *ledger.Stage, c Course, q dag.Params) bool {
	last := len(c.Coming) == 1 && c.Coming[0] == s.Annotation && folds(a)[s.Annotation] == 1
	if len(c.Coming) > 0 && !last {
		return false
	}
	if q.Executors == 0 || a.Waits(s) {
		return true
	}
	return !slices.ContainsFunc(a.Opened(), func(o *ledger.Stage) bool { return o != s && a.Waits(o) })
}

// Leaves reports whether the exit of a driver whose context has stopped is still waited for: while a node runs it, too.
func (p Policy) Leaves(a *ledger.App) bool {
	return a.Outcome.Exiting(a.Tenant.Watched) && (len(component.Lodged(a)) > 0 ||
		a.Clocks.Silent < p.ExitSilent && a.Clocks.EndWait < p.ExitWait)
}

// Seated are the annotations of a's running stages that have executors; nil where all
// have.
func Seated(a *ledger.App, p dag.Params) []int {
	if p.Executors <= 0 {
		return nil
	}
	var ids []int
	for _, s := range a.Opened() {
		if s.Annotation != ledger.Unmatched && !a.Waits(s) {
			ids = append(ids, s.Annotation)
		}
	}
	return ids
}

// Branching reports whether stages of a that could run side by side are still to come, or
// wait for each other.
func Branching(a *ledger.App) bool {
	if slices.ContainsFunc(a.Opened(), a.Waits) {
		return true
	}
	return slices.ContainsFunc(a.Profile.Match.Remaining(), func(id int) bool { return !a.Profile.Graph.Alone(id) })
}
