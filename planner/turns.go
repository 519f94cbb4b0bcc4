package planner

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/units"
)

// Values of Config.Branches.
const (
	BranchesTogether = "together"
	BranchesInTurn   = "in-turn"
	BranchesAuto     = "auto"
)

// Branches are the values of Config.Branches.
func Branches() []string { return []string{BranchesTogether, BranchesInTurn, BranchesAuto} }

// shape decides how many executors an application with a deadline has on a node,
// which is how many of its stages can run side by side, and whether it starts without
// being held back. An executor has all the node's cores as ceiling, so branches in
// turn end when branches side by side would but for tails and gaps, and each executor
// less is a JVM that does not start, compile and collect for itself.
func (e *Engine) shape(g *dag.Graph, nodes int, deadline units.Seconds, cores units.Cores, slots int, elapsed units.Seconds) dag.Params {
	most := e.cfg.together(g)
	if e.cfg.opens() {
		p := e.cfg.params()
		p.Nodes = nodes
		return g.Choose(p, most, deadline, cores, slots, elapsed)
	}
	if e.cfg.Branches == BranchesInTurn {
		most = 1
	}
	p := e.cfg.turns(g, most)
	p.Nodes = nodes
	return p
}

// perNode is how many executors on a node an application of g has by p.
func (c Config) perNode(g *dag.Graph, p dag.Params) int {
	switch {
	case p.Open:
		return 1
	case p.Executors > 0:
		return p.Executors
	}
	return c.together(g)
}

// opens reports whether the shape of an application is chosen by what it costs. The
// paper's split knows no turns, and its system has none.
func (c Config) opens() bool { return c.Branches == BranchesAuto && c.Split != dag.SplitPaper }

// together is how many executors on a node let all stages run side by side that can,
// as far as MaxPool allows.
func (c Config) together(g *dag.Graph) int { return min(g.Width(), c.MaxPool) }

// turns are the parameters of the equations for so many executors on a node.
func (c Config) turns(g *dag.Graph, executors int) dag.Params { return g.Turns(c.params(), executors) }

// params are the parameters of the equations for a, which has a profile: of the
// executors that it has now.
func (e *Engine) params(a *app) dag.Params { return e.cfg.turns(a.profile.graph, a.abreast()) }

// abreast is how many stages of a can run side by side: its executors on the node
// that has most of them, those counted that are to be replaced.
func (a *app) abreast() int {
	count, most := make(map[string]int), 0
	add := func(node string) {
		count[node]++
		most = max(most, count[node])
	}
	for _, x := range a.Executors {
		if !x.Gone && !x.Leaving {
			add(x.Node)
		}
	}
	for _, name := range a.Pending {
		add(name)
	}
	return most
}

// waits reports whether s has no executor that lives.
func (a *app) waits(s *stage) bool {
	for _, b := range s.Ready.Bindings {
		if x := a.executor(b.Executor); x != nil && !x.Gone {
			return false
		}
	}
	return true
}

// seated are the annotations of the running stages that have executors; nil where all
// have.
func (a *app) seated(p dag.Params) []int {
	if p.Executors <= 0 {
		return nil
	}
	var ids []int
	for _, s := range a.open() {
		if s.Annotation != unmatched && !a.waits(s) {
			ids = append(ids, s.Annotation)
		}
	}
	return ids
}

// final reports whether a ends with s: no stage is to come, and none waits for the
// executor that s has.
func (e *Engine) final(a *app, s *stage) bool {
	if _, coming := a.parts(); len(coming) > 0 {
		return false
	}
	if e.params(a).Executors == 0 || a.waits(s) {
		return true
	}
	return !slices.ContainsFunc(a.open(), func(o *stage) bool { return o != s && a.waits(o) })
}

// sayTurns is what a verdict's line says of branches that take turns, "" of none.
func sayTurns(a *app) string {
	switch {
	case a.Mode != modePaced || a.Verdict == api.VerdictInfeasible:
		return ""
	case a.Open:
		return "; it has all cores, since holding its branches back leaves no room"
	case a.PerNode == 0 || a.PerNode >= a.profile.graph.Width():
		return ""
	}
	return fmt.Sprintf("; stages that could run side by side take turns on %d per node", a.PerNode)
}

func filter(stages []*stage, keep func(*stage) bool) (kept []*stage) {
	for _, s := range stages {
		if keep(s) {
			kept = append(kept, s)
		}
	}
	return kept
}
