package assign

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// drawJobs are jobs in the order of their arrivals, whose amounts have exact sums.
func drawJobs(t *rapid.T) []Job {
	n := rapid.IntRange(1, 12).Draw(t, "jobs")
	var at units.Instant
	jobs := make([]Job, n)
	for i := range jobs {
		at += units.Instant(rapid.SampledFrom([]int{0, 0, 1, 3, 20}).Draw(t, "gap") * int(time.Second))
		j := job(fmt.Sprintf("j%02d", i), rapid.IntRange(1, 8).Draw(t, "core"),
			rapid.SampledFrom([]int{0, 0, 1, 4, 30}).Draw(t, "elastic"), float64(rapid.IntRange(1, 40).Draw(t, "time")))
		j.Arrival, j.Priority = at, rapid.IntRange(0, 2).Draw(t, "priority")
		if rapid.Bool().Draw(t, "due") {
			j.Due = at.Add(time.Duration(rapid.IntRange(1, 300).Draw(t, "due in")) * time.Second)
		}
		j.Unit = Amount{units.Cores(rapid.SampledFrom([]float64{0, 0.5, 1, 1, 1.25}).Draw(t, "cores")),
			units.Bytes(rapid.SampledFrom([]int{0, 1, 1, 3}).Draw(t, "memory"))}
		jobs[i] = j
	}
	return jobs
}

func drawPolicy(t *rapid.T) Policy {
	return Policy{rapid.SampledFrom(Rules()).Draw(t, "rule"), rapid.SampledFrom(Orders()).Draw(t, "order"),
		rapid.SampledFrom(Sizes()).Draw(t, "size"), rapid.Bool().Draw(t, "pass"), Reading{}}
}

// most is the total of the cluster of these tests, in which any job that drawJobs makes fits once with its core units.
var most = Amount{12, 24}

// holds reports whether all units that jobs have fit in a whole.
func (a Amount) holds(jobs []Job) bool {
	for _, j := range jobs {
		a.Cores -= units.Cores(j.Units) * j.Unit.Cores
		a.Memory -= units.Bytes(j.Units) * j.Unit.Memory
	}
	return a.Cores >= 0 && a.Memory >= 0
}

// Whatever comes, in whatever order it is told: no core unit is taken, no sum exceeds the whole at any grant, only a
// departure or a prior job takes units back, and only under rules that do; the line is kept; and all end.
func TestAssignKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, jobs := drawPolicy(t), drawJobs(t)
		passes, takes := p.Pass || p.Rule == Backfill, p.Rule == Flexible || p.Rule == FlexiblePreemptive
		f := &fluid{policy: p, state: State{Total: most}, arrives: slices.Clone(jobs), ends: make(map[string]float64)}
		var head string
		var olds []string
		f.look = func(before State, grants []Grant) {
			rest := slices.Clone(before.Waiting)
			slices.SortFunc(rest, func(a, b Job) int { return p.Compare(before.Now, &a, &b) })
			sorted := before
			sorted.Waiting = shuffled(t, before.Waiting)
			p.Sort(&sorted)
			same(t, "its line", rest, sorted.Waiting)
			same(t, "sorted", grants, p.Assign(sorted))
			other := before
			other.Serving, other.Waiting = shuffled(t, before.Serving), shuffled(t, before.Waiting)
			same(t, "in another order", grants, p.Assign(other))

			now := slices.Concat(before.Serving, before.Waiting)
			prior := slices.ContainsFunc(before.Waiting, func(j Job) bool {
				return slices.ContainsFunc(before.Serving, func(s Job) bool { return j.Priority > s.Priority })
			})
			for _, g := range grants {
				i := slices.IndexFunc(now, func(j Job) bool { return j.ID == g.ID })
				if g.Units < now[i].Core {
					t.Fatalf("%s has %d units, and %d core units", g.ID, g.Units, now[i].Core)
				}
				if g.Units < now[i].Units && !(takes && (before.Freed || p.Rule == FlexiblePreemptive && prior)) {
					t.Fatalf("%s loses units: %v", g.ID, g)
				}
				if p.Rule == Rigid && g.Units != now[i].Core+now[i].Elastic {
					t.Fatalf("%v of a rigid job", g)
				}
				now[i].Units = g.Units
				if !most.holds(now) {
					t.Fatalf("%v has more granted than there is", g)
				}
			}
			serving, waiting := now[:len(before.Serving)], now[len(before.Serving):]
			started := slices.DeleteFunc(slices.Clone(waiting), func(j Job) bool { return j.Units == 0 })
			starts := func(j Job) bool { return slices.ContainsFunc(started, func(s Job) bool { return s.ID == j.ID }) }
			rest = slices.DeleteFunc(rest, func(j Job) bool { return p.Rule == Rigid && !possible(j) })
			for _, j := range rest[:len(started)] {
				if !passes && !starts(j) {
					t.Fatalf("%s was passed", j.ID)
				}
			}
			// The head waits for nobody that has started after it has become the head.
			rest = slices.DeleteFunc(rest, starts)
			if len(rest) == 0 || p.Order != FIFO || p.Rule == FlexiblePreemptive {
				head = ""
				return
			}
			served := slices.Concat(serving, started)
			if head != rest[0].ID {
				head, olds = rest[0].ID, nil
				for _, j := range served {
					olds = append(olds, j.ID)
				}
			}
			waits := slices.ContainsFunc(served, func(j Job) bool { return slices.Contains(olds, j.ID) })
			if !waits && (!takes || !saturates(served)) {
				t.Fatalf("%s waits for %v", head, served)
			}
		}
		for f.step() {
		}
		for _, j := range jobs {
			if _, ended := f.ends[j.ID]; !ended && (p.Rule != Rigid || possible(j)) {
				t.Fatalf("%s has not ended", j.ID)
			}
		}
	})
}

// possible reports whether the whole holds all that j asks for.
func possible(j Job) bool { return most.holds([]Job{serves(j, 0, j.Core+j.Elastic)}) }

// saturates reports whether jobs can fill a dimension of the whole.
func saturates(jobs []Job) bool {
	var sum Amount
	for _, j := range jobs {
		sum.Cores += units.Cores(j.Core+j.Elastic) * j.Unit.Cores
		sum.Memory += units.Bytes(j.Core+j.Elastic) * j.Unit.Memory
	}
	return sum.Cores >= most.Cores || sum.Memory >= most.Memory
}

func shuffled(t *rapid.T, jobs []Job) []Job {
	out := slices.Clone(jobs)
	seed := rapid.Uint64().Draw(t, "shuffle")
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
	return out
}

// In one dimension each rule is a formula. Those that are served are in order of start, those that wait in the line's.
func TestRulesAreTheirFormulas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(1, 30).Draw(t, "total")
		s := State{Now: 1000, Total: Amount{Cores: units.Cores(total)}, Freed: true}
		draw := func(id string, arrival int) Job {
			j := job(id, rapid.IntRange(1, 6).Draw(t, "core"), rapid.IntRange(0, 8).Draw(t, "elastic"), 10)
			j.Arrival = units.Instant(arrival)
			return j
		}
		held := 0
		for i := range rapid.IntRange(0, 5).Draw(t, "serving") {
			j := serves(draw(fmt.Sprint("s", i), 0), units.Instant(i), 0)
			j.Units = j.Core + rapid.IntRange(0, j.Elastic).Draw(t, "granted")
			if held += j.Units; held > total {
				break
			}
			s.Serving = append(s.Serving, j)
		}
		for i := range rapid.IntRange(0, 5).Draw(t, "waiting") {
			s.Waiting = append(s.Waiting, draw(fmt.Sprint("w", i), i))
		}
		s.Waiting = slices.DeleteFunc(s.Waiting, func(j Job) bool { return j.Core > total })
		formulas := map[string]func(State, int) []int{Rigid: byRigid, Malleable: byMalleable, Flexible: byFlexible}
		for rule, formula := range formulas {
			have := make([]int, 0)
			all := slices.Concat(s.Serving, s.Waiting)
			for _, g := range (Policy{Rule: rule, Order: FIFO}).Assign(s) {
				all[slices.IndexFunc(all, func(j Job) bool { return j.ID == g.ID })].Units = g.Units
			}
			for _, j := range all {
				have = append(have, j.Units)
			}
			same(t, rule, formula(s, total), have)
		}
	})
}

// byRigid is the longest run of the line that fits in what is free.
func byRigid(s State, total int) []int {
	out := make([]int, 0)
	for _, j := range s.Serving {
		out = append(out, j.Units)
		total -= j.Units
	}
	blocked := false
	for _, j := range s.Waiting {
		n := j.Core + j.Elastic
		switch {
		case n > int(s.Total.Cores) && !blocked: // It never starts.
			n = 0
		case blocked || n > total:
			n, blocked = 0, true
		}
		total -= n
		out = append(out, n)
	}
	return out
}

// byMalleable hands the free units out one by one: to the first that is served and lacks one, else the first that waits
// gets its core units.
func byMalleable(s State, total int) []int {
	all := slices.Concat(s.Serving, s.Waiting)
	for _, j := range all {
		total -= j.Units
	}
	for total > 0 {
		i := slices.IndexFunc(all, func(j Job) bool { return j.Units < j.Core+j.Elastic })
		n := 1
		if i >= 0 && all[i].Units == 0 {
			n = all[i].Core
		}
		if i < 0 || n > total {
			break
		}
		all[i].Units += n
		total -= n
	}
	out := make([]int, 0)
	for _, j := range all {
		out = append(out, j.Units)
	}
	return out
}

// byFlexible starts the longest run of the line in which each finds its core units free of core units, and the whole
// not filled by what those before it ask for. x is what elastic units of those before leave.
func byFlexible(s State, total int) []int {
	all := slices.Concat(s.Serving, s.Waiting)
	cores, asked, n := 0, 0, len(s.Serving)
	for i, j := range all {
		if i >= n && !(cores+j.Core <= total && asked < total) {
			break
		}
		cores, asked, n = cores+j.Core, asked+j.Core+j.Elastic, max(n, i+1)
	}
	out := make([]int, len(all))
	for i, before := 0, 0; i < n; i++ {
		out[i] = all[i].Core + min(all[i].Elastic, max(0, total-cores-before))
		before += all[i].Elastic
	}
	return out
}

// Where one job at a time is served and small ones keep coming as fast as they are served, a large one starts under
// hrrn as soon as it has waited long enough for its size; under sjf it waits for the last of them.
func TestNobodyStarvesUnderHRRN(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(6, 30).Draw(t, "size")
		large := job("large", 10, 0, float64(size))
		large.Arrival = units.Instant(time.Second)
		jobs, at := []Job{job("small", 6, 0, 5), large}, 2
		for at < 12*size {
			j := job(fmt.Sprint("small", at), rapid.IntRange(6, 10).Draw(t, "core"), 0,
				float64(rapid.IntRange(2, 5).Draw(t, "time")))
			j.Arrival = units.Instant(at) * units.Instant(time.Second)
			jobs, at = append(jobs, j), at+int(j.Time)
		}
		p := Policy{Rule: rapid.SampledFrom(Rules()).Draw(t, "rule"), Pass: rapid.Bool().Draw(t, "pass")}
		start := func(order string) float64 {
			p.Order = order
			return run(p, Amount{Cores: 10}, jobs...).ends["large"] - float64(size)
		}
		// A small one waits for at most two others, and is served for 2 s or more.
		if start, bound := start(HRRN), float64(5*size+15); !(start <= bound) {
			t.Fatalf("hrrn: it has started at %v s, bound %v s", start, bound)
		}
		if start := start(SJF); !(start >= float64(at-5)) {
			t.Fatalf("sjf: it has started at %v s, and small ones came until %v s", start, at)
		}
	})
}
