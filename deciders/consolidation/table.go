package consolidation

import "math"

// Table is what is known of actions in states; what is not a number is unknown.
type Table [States][States]float32

// Tables are what a machine has learnt.
type Tables struct{ Out, In Table }

// NewTables knows nothing.
func NewTables() *Tables {
	t := &Tables{}
	unknown := float32(math.NaN())
	for s := range t.Out {
		for a := range t.Out[s] {
			t.Out[s][a], t.In[s][a] = unknown, unknown
		}
	}
	return t
}

// Known is the value of an action in a state, and whether there is one.
func (t *Table) Known(s, a State) (float64, bool) {
	v := t[s][a]
	return float64(v), v == v
}

// learner is a table that is trained. It keeps the greatest value of each state that it was asked for: a round asks for
// few states, many times each. No other goroutine may change the table meanwhile.
type learner struct {
	*Table
	greatest [States]float32
	kept     [States]bool
}

// update takes in that action a in state s has led to next, with that reward.
func (l *learner) update(c *Config, s, a State, reward float64, next State) {
	was, known := l.Known(s, a)
	if !known {
		was = 0
	}
	old, v := l.Table[s][a], float32((1-c.Alpha)*was+c.Alpha*(reward+c.Gamma*l.best(next)))
	l.Table[s][a] = v
	if v >= l.greatest[s] {
		l.greatest[s] = v
	} else if old == l.greatest[s] {
		l.kept[s] = false
	}
}

// best is the greatest value known in a state, 0 where none is.
func (l *learner) best(s State) float64 {
	if !l.kept[s] {
		best := float32(math.Inf(-1))
		for _, v := range &l.Table[s] {
			if v > best {
				best = v
			}
		}
		l.greatest[s], l.kept[s] = best, true
	}
	if math.IsInf(float64(l.greatest[s]), -1) {
		return 0
	}
	return float64(l.greatest[s])
}

// Average has a and b know the same: the mean of what both know, and what one of them does.
func Average(a, b *Tables) {
	average(&a.Out, &b.Out)
	average(&a.In, &b.In)
}

func average(a, b *Table) {
	for s := range a {
		of, and := &a[s], &b[s]
		for i, x := range of {
			switch y := and[i]; {
			case x == y: // The same, or 0 and 0.
			case x != x:
				of[i] = y
			case y != y:
				and[i] = x
			default:
				of[i] = (x + y) / 2
				and[i] = of[i]
			}
		}
	}
}

// Similarity is the cosine of the angle between what a and b know, 1 for the same; what is unknown is 0.
func Similarity(a, b *Tables) float64 {
	var product, ofA, ofB float64
	add := func(a, b *Table) {
		for s := range a {
			for i := range a[s] {
				x, knownX := a.Known(State(s), State(i))
				y, knownY := b.Known(State(s), State(i))
				if knownX {
					ofA += x * x
				}
				if knownY {
					ofB += y * y
				}
				if knownX && knownY {
					product += x * y
				}
			}
		}
	}
	add(&a.Out, &b.Out)
	add(&a.In, &b.In)
	if ofA == 0 || ofB == 0 {
		return 0
	}
	return product / math.Sqrt(ofA*ofB)
}
