package nextrun

import (
	"math/rand/v2"
	"slices"
)

// Change is what a program has otherwise in its next run.
type Change string

// The changes.
const (
	// Insert adds an action: of a code of its own, or now and then of another's.
	Insert Change = "insert"
	// Drop leaves one out.
	Drop Change = "drop"
	// Repeat does one again: a loop goes on for longer.
	Repeat Change = "repeat"
	// Replan has one planned otherwise: by adaptive execution, or as another query that reads the same.
	Replan Change = "re-plan"
	// Merge has tasks of a query's stages merged, Split a skewed one split: their code looks otherwise.
	Merge Change = "merge"
	Split Change = "split"
	// Reorder moves an action.
	Reorder Change = "reorder"
	// Thread has two steps run beside each other.
	Thread Change = "thread"
	// Resize has the tables, or one of them, at half to twice their size.
	Resize Change = "resize"
)

// Changes are all of them.
var Changes = []Change{Insert, Drop, Repeat, Replan, Merge, Split, Reorder, Thread, Resize}

// copy is p for another run.
func (p *program) copy() *program {
	c := *p
	c.steps = make([]step, len(p.steps))
	for i, actions := range p.steps {
		for _, a := range actions {
			a.stages = slices.Clone(a.stages)
			c.steps[i] = append(c.steps[i], a)
		}
	}
	return &c
}

// change makes the change to p, where it can, and to how much its tables hold.
func (p *program) change(r *rand.Rand, what Change, sizes *[tables]float64) {
	i := r.IntN(len(p.steps))
	k := r.IntN(len(p.steps[i]))
	a := &p.steps[i][k]
	switch what {
	case Insert:
		added := p.drawAction(r)
		if r.IntN(5) == 0 {
			added = p.resized(*a, apart(r, 4))
		}
		at := p.outside(r.IntN(len(p.steps) + 1))
		for _, later := range p.steps[at:] {
			for n := range later {
				later[n].line += 3
			}
		}
		p.steps = slices.Insert(p.steps, at, step{added})
	case Drop:
		if i, k = p.last(i, k); len(p.steps) > 1 {
			p.remove(i, k)
		}
	case Repeat:
		i, k = p.last(i, k)
		p.steps = slices.Insert(p.steps, i+1, step{p.round(r, p.steps[i][k])})
	case Replan:
		p.replan(r, a)
	case Merge, Split:
		if a.sql {
			for n := range a.stages {
				s := &a.stages[n]
				if len(s.parents) == 0 || r.IntN(2) == 0 {
					continue
				}
				s.kind = 110 + r.IntN(2)
				if s.tasks = 1 + s.tasks/(2+r.IntN(8)); what == Split {
					s.tasks = s.tasks*(2+r.IntN(8)) + r.IntN(9)
				}
			}
		}
	case Reorder:
		moved := *a
		if moved.loop == growing {
			return // Its rounds need each other.
		}
		p.remove(i, k)
		p.steps = slices.Insert(p.steps, p.outside(r.IntN(len(p.steps)+1)), step{moved})
	case Thread:
		if i+1 < len(p.steps) {
			p.join(i)
		}
	case Resize:
		factor, only := 0.5+1.5*r.Float64(), r.IntN(3*tables)
		for t := range sizes {
			if only >= tables || only == t {
				sizes[t] *= factor
			}
		}
	}
}

// outside is the first place at or after step i that is in no loop whose rounds need each other.
func (p *program) outside(i int) int {
	for i > 0 && i < len(p.steps) && p.steps[i][0].loop == growing && p.steps[i-1][0].code == p.steps[i][0].code {
		i++
	}
	return i
}

// last is the last round of the loop that action k of step i is in, where its rounds need each other.
func (p *program) last(i, k int) (int, int) {
	code := p.steps[i][k].code
	if p.steps[i][k].loop != growing {
		return i, k
	}
	for n := i; n < len(p.steps); n++ {
		for m, a := range p.steps[n] {
			if a.code == code {
				i, k = n, m
			}
		}
	}
	return i, k
}

// remove takes action k of step i away.
func (p *program) remove(i, k int) {
	if p.steps[i] = slices.Delete(slices.Clone(p.steps[i]), k, k+1); len(p.steps[i]) == 0 {
		p.steps = slices.Delete(p.steps, i, i+1)
	}
}

// replan has the code of one of a's stages, and so of all that read from it, look otherwise. A third of
// the queries have another plan from the start: an input is read by another stage.
func (p *program) replan(r *rand.Rand, a *action) {
	n := len(a.stages) - 1 - r.IntN((len(a.stages)+1)/2)
	a.stages[n].kind = 22 + r.IntN(6)
	if !a.sql || r.IntN(3) > 0 {
		return
	}
	a.shape = p.newCode()
	if n+1 < len(a.stages) && len(a.stages[n].parents) > 0 {
		a.stages[n].exchange += 2
	}
}
