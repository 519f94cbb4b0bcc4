package consolidation

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// anyUse draws a use up to a bound.
func anyUse(t *rapid.T, most float64, name string) Use {
	return Use{rapid.Float64Range(0, most).Draw(t, name+" cpu"), rapid.Float64Range(0, most).Draw(t, name+" memory")}
}

// anyVMs draws VMs of a machine, and what they come to.
func anyVMs(t *rapid.T) (m Machine) {
	for range rapid.IntRange(0, 8).Draw(t, "VMs") {
		vm := VM{Now: anyUse(t, 0.4, "now"), Mean: anyUse(t, 0.3, "mean"), Cost: float64(rapid.IntRange(0, 3).Draw(t, "cost"))}
		vm.Action = StateOf(vm.Mean.Of(Use{0.4, 0.4}))
		m.VMs = append(m.VMs, vm)
		m.Now, m.Mean = m.Now.Plus(vm.Now), m.Mean.Plus(vm.Mean)
	}
	return m
}

// learnt draws tables that have been trained.
func learnt(t *rapid.T, c Config, m Machine) *Tables {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	q := NewTables()
	for range rapid.IntRange(0, 3).Draw(t, "rounds") {
		c.Learn(q, m.VMs, r.IntN)
	}
	return q
}

// Whatever is learnt, values stay within what the rewards allow: the largest over 1 - gamma.
func TestValuesAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Default()
		q := learnt(t, c, anyVMs(t))
		for s := range q.Out {
			for a := range q.Out[s] {
				if v, known := q.Out.Known(State(s), State(a)); known && !(v > 0 && v <= 18/(1-c.Gamma)) {
					t.Fatalf("Out is %v", v)
				}
				if v, known := q.In.Known(State(s), State(a)); known && !(v >= 2*c.Danger/(1-c.Gamma) && v <= 16/(1-c.Gamma)) {
					t.Fatalf("In is %v", v)
				}
			}
		}
	})
}

// What a learner keeps of a state is what the whole state holds, after any updates.
func TestALearnerKnowsTheGreatest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, table := Default(), NewTables().Out
		l := learner{Table: &table}
		state := rapid.IntRange(0, 2)
		for range rapid.IntRange(1, 40).Draw(t, "updates") {
			s, a, next := State(state.Draw(t, "s")), State(state.Draw(t, "a")), State(state.Draw(t, "next"))
			want := 0.0
			for i, some := 0, false; i < States; i++ {
				if v, known := table.Known(next, State(i)); known && (!some || v > want) {
					want, some = v, true
				}
			}
			if got := l.best(next); got != want {
				t.Fatalf("the best of %d is %v, want %v", next, got, want)
			}
			l.update(&c, s, a, rapid.Float64Range(-100, 100).Draw(t, "reward"), next)
		}
	})
}

// An exchange, written another way: one VM after the other, each the first of a sorted list.
func TestAnExchangeIsAsWrittenAnotherWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Default()
		c.Unknown = rapid.SampledFrom(Switches()["unknown"]).Draw(t, "unknown")
		p, q := anyVMs(t), anyVMs(t)
		tables := learnt(t, c, p)
		var want []int
		from, to, refused := p, q, false
		left := []int{}
		for i := range p.VMs {
			left = append(left, i)
		}
		for over := from.Now.Overloaded(); len(left) > 0 && !refused && (!over || from.Now.Overloaded()); {
			worth := func(i int) float64 {
				if v, known := tables.Out.Known(StateOf(from.Mean), p.VMs[i].Action); known {
					return v
				}
				return 0
			}
			slices.SortStableFunc(left, func(a, b int) int {
				switch {
				case worth(a) != worth(b):
					return int(math.Copysign(1, worth(b)-worth(a)))
				case p.VMs[a].Cost != p.VMs[b].Cost:
					return int(math.Copysign(1, p.VMs[a].Cost-p.VMs[b].Cost))
				}
				return a - b
			})
			vm := p.VMs[left[0]]
			if refused = !c.Accepts(tables, to, vm); !refused {
				want, left = append(want, left[0]), left[1:]
				from.Now, from.Mean = from.Now.Less(vm.Now), from.Mean.Less(vm.Mean)
				to.Now, to.Mean = to.Now.Plus(vm.Now), to.Mean.Plus(vm.Mean)
			}
		}
		got, said := c.HandOver(tables, &p, &q)
		if !slices.Equal(got, want) || said != refused {
			t.Fatalf("moves %v, refused %v; want %v, %v", got, said, want, refused)
		}
		if q.Now.Overloaded() && len(got) > 0 {
			t.Fatalf("the move fills %v", q.Now)
		}
	})
}

// Machines that average again and again come to know the same, and the mean of all where all know a pair.
func TestAveragesBecomeOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "machines")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		var all []*Tables
		mean := 0.0
		for range n {
			q := NewTables()
			v := r.Float64()*200 - 100
			q.In[7][9] = float32(v)
			mean += v / float64(n)
			if r.IntN(2) == 0 {
				q.Out[r.IntN(States)][r.IntN(States)] = float32(r.Float64())
			}
			all = append(all, q)
		}
		for range 40 * n {
			i := r.IntN(n)
			Average(all[i], all[(i+1+r.IntN(n-1))%n])
		}
		for _, q := range all {
			if math.Abs(float64(q.In[7][9])-mean) > 0.01*(1+math.Abs(mean)) || Similarity(q, all[0]) < 0.99 {
				t.Fatalf("%v, want %v; similarity %v", q.In[7][9], mean, Similarity(q, all[0]))
			}
		}
	})
}

// Tables that say anything, as those of a machine that lies or of a file that is broken, move each VM at most once, fill nobody,
// and come to an end.
func TestTablesThatLie(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Default()
		c.Unknown = rapid.SampledFrom(Switches()["unknown"]).Draw(t, "unknown")
		p, q := anyVMs(t), anyVMs(t)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		lies := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, -math.MaxFloat32, 0, 1e9}
		tables := NewTables()
		for s := range tables.Out {
			for a := range tables.Out[s] {
				tables.Out[s][a], tables.In[s][a] = lies[r.IntN(len(lies))], lies[r.IntN(len(lies))]
			}
		}
		moves, _ := c.HandOver(tables, &p, &q)
		seen := map[int]bool{}
		for _, at := range moves {
			if at < 0 || at >= len(p.VMs) || seen[at] {
				t.Fatalf("moves %v of %d VMs", moves, len(p.VMs))
			}
			seen[at] = true
		}
		if len(moves) > 0 && q.Now.Overloaded() {
			t.Fatalf("the moves fill %+v", q.Now)
		}
	})
}
