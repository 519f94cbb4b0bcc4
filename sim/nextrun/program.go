package nextrun

import (
	"math"
	"math/rand/v2"
)

// program is what an application does, step after step.
type program struct {
	steps []step
	// python says that its jobs of RDDs are PySpark's, whose stages look much alike.
	python bool
	codes  int // So many codes are given away.
	sites  int // That many call sites its code has.
}

// step is actions that run in threads beside each other.
type step []action

// action is a SQL query or a job of RDDs.
type action struct {
	code, variant int
	sql           bool
	// shape, of a query, is that of its plan before adaptive execution.
	shape  int
	line   int // In the program's file.
	site   int
	stages []stage
	// loop is what it is a round of, factor how much more the next one reads than this.
	loop   loop
	factor float64
}

// stage is one of an action, in an order in which they can run.
type stage struct {
	// place is its place in its action: with the action's variant it says who it is. parents are
	// indices of those that it reads from, which stand before it.
	place   int
	parents []int
	// kind is what its lineage shows of what it does.
	kind     int
	exchange int // Of a query: what it writes, -1 for its result.
	table    int // What it reads, of one without parents.
	bytes    float64
	tasks    int
	cost     float64 // Core-seconds for a MiB.
}

// drawProgram draws a program of about that many stages.
func drawProgram(r *rand.Rand, stages int) *program {
	p := &program{python: r.IntN(2) == 0, sites: 2 + r.IntN(4)}
	for n := 0; n < stages; {
		a, rounds := p.drawAction(r), 1
		if r.IntN(6) == 0 {
			rounds, a.loop = 2+r.IntN(8), []loop{same, growing, overTables}[r.IntN(3)]
			a.factor = apart(r, 2)
		}
		for range rounds {
			p.steps = append(p.steps, step{a})
			n += len(a.stages)
			a = p.round(r, a)
		}
	}
	for i := 0; i+1 < len(p.steps); i++ {
		if r.IntN(8) == 0 {
			p.join(i)
		}
	}
	return p
}

// loop is how the rounds of a loop differ.
type loop int

const (
	noLoop loop = iota
	same        // They read the same.
	// growing: what each reads hangs on the one before: it is so many times as much.
	growing
	// overTables: each reads tables of its own.
	overTables
)

// round is the round of a loop that follows a.
func (p *program) round(r *rand.Rand, a action) action {
	switch a.loop {
	case growing:
		return p.resized(a, a.factor)
	case overTables:
		return p.resized(a, apart(r, 20))
	}
	a.stages = append([]stage{}, a.stages...)
	return a
}

// join has steps i and i+1 run beside each other.
func (p *program) join(i int) {
	both := append(append(step{}, p.steps[i]...), p.steps[i+1]...)
	p.steps = append(append(append([]step{}, p.steps[:i]...), both), p.steps[i+2:]...)
}

func (p *program) newCode() int { p.codes++; return p.codes }

// drawAction draws one of a code of its own.
func (p *program) drawAction(r *rand.Rand) action {
	code := p.newCode()
	a := action{code: code, variant: code, sql: r.IntN(3) > 0, shape: code, line: 10 * code, site: r.IntN(p.sites)}
	if other := p.query(r); a.sql && r.IntN(6) == 0 && other != nil {
		return p.sibling(r, a, *other)
	}
	inputs := 1 + r.IntN(3)
	for range inputs {
		a.stages = append(a.stages, stage{table: r.IntN(tables), bytes: math.Exp(14 + 6*r.Float64())})
	}
	for from, i := []int{0}, 1; i <= inputs; i++ {
		if i < inputs {
			from = append(from, i)
		}
		s := stage{parents: from}
		for _, parent := range from {
			s.bytes += a.stages[parent].bytes * (0.05 + 0.4*r.Float64())
		}
		a.stages = append(a.stages, s)
		from = []int{len(a.stages) - 1}
	}
	for i := range a.stages {
		s := &a.stages[i]
		switch {
		case a.sql:
			s.kind = 100 + r.IntN(5)
		case p.python:
			s.kind = min(1, len(s.parents))
		default:
			s.kind = r.IntN(12)
		}
		s.place, s.exchange, s.tasks, s.cost = i, i, 1+r.IntN(60), math.Exp(-3+2*r.Float64())
	}
	a.stages[len(a.stages)-1].exchange = -1
	return a
}

// query is one of the queries of p, nil where the step that is drawn has none.
func (p *program) query(r *rand.Rand) *action {
	if len(p.steps) == 0 {
		return nil
	}
	if actions := p.steps[r.IntN(len(p.steps))]; actions[0].sql {
		return &actions[0]
	}
	return nil
}

// sibling is a query whose plan has the same nodes as other's, over other tables.
func (p *program) sibling(r *rand.Rand, a, other action) action {
	a.shape = other.shape
	a.stages = append([]stage{}, other.stages...)
	for i := range a.stages {
		s := &a.stages[i]
		s.table, s.tasks, s.cost = r.IntN(tables), 1+r.IntN(60), math.Exp(-3+2*r.Float64())
		if len(s.parents) == 0 {
			s.bytes = math.Exp(14 + 6*r.Float64())
			continue
		}
		s.bytes = 0
		for _, parent := range s.parents {
			s.bytes += a.stages[parent].bytes * (0.05 + 0.4*r.Float64())
		}
	}
	return a
}

// tables is how many a program reads.
const tables = 5

// apart is a factor of that at most, either way, and of a third at least: two variants can be told apart.
func apart(r *rand.Rand, most float64) float64 {
	factor := 1.33 + (most-1.33)*r.Float64()
	if r.IntN(2) == 0 {
		return 1 / factor
	}
	return factor
}

// resized is a that reads so many times as much: another variant.
func (p *program) resized(a action, factor float64) action {
	a.variant = p.newCode()
	a.stages = append([]stage{}, a.stages...)
	for i := range a.stages {
		a.stages[i].bytes *= factor
	}
	return a
}
