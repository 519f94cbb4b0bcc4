package behind

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// on is jobs of nodes with so many cores: of each job when it is due and what it needs of each node.
func on(cores []float64, needs ...[]float64) *jobs {
	s := &jobs{cores: cores, doubts: sharing.Default().Doubts}
	for _, n := range needs {
		j := job{due: n[0], by: n[0]}
		for node, work := range n[1:] {
			if work > 0 {
				j.parts, j.work = append(j.parts, part{node, work}), j.work+work
			}
		}
		s.all = append(s.all, j)
	}
	return s
}

// The algorithm of Moore's paper: of those that are due by a deadline that cannot be kept the longest one is put behind.
func TestTheOneThatNeedsMostIsPutBehind(t *testing.T) {
	one, two := []float64{8}, []float64{8, 8}
	for _, c := range []struct {
		name string
		of   *jobs
		want []int
	}{
		{"all can be in time", on(one, []float64{10, 20}, []float64{20, 80}), nil},
		{"the second needs most until then", on(one, []float64{10, 40}, []float64{20, 160}, []float64{21, 40}), []int{1}},
		{"the first needs most", on(one, []float64{20, 160}, []float64{21, 42}, []float64{22, 10}), []int{0}},
		{"of three one is enough", on(one, []float64{10, 40}, []float64{10, 80}, []float64{10, 40}), []int{1}},
		{"one that cannot be in time alone yields to one that can", on(one, []float64{5, 361}, []float64{5, 38}), []int{0}},
		{"one that is late for itself alone keeps its place", on(one, []float64{10, 90}, []float64{100, 200}), nil},
		{"but not before one that has no time for it", on(one, []float64{10, 90}, []float64{100, 750}), []int{0}},
		{"a moment too much is no reason", on(one, []float64{10, 80}, []float64{10, 2}), nil},
		{"one that is late already is behind those that need its cores", on(one, []float64{-5, 50}, []float64{10, 60}), []int{0}},
		{"one that is late already and nearly done keeps its place", on(one, []float64{-5, 5}, []float64{10, 60}), nil},
		{"where none can be in time the order stays", on(one, []float64{5, 100}, []float64{6, 100}), nil},
		{"one that is short on one node of two", on(two, []float64{10, 40, 0}, []float64{11, 60, 40}, []float64{12, 0, 80}), []int{1}},
		{"one that yields for nothing keeps its place", on(one, []float64{10, 40}, []float64{20, 160}), nil},
		{"a node that gives nothing", on([]float64{0}, []float64{10, 40}, []float64{11, 60}), nil},
		{"nothing is left to do at the end", on(one, []float64{0.1}, []float64{10, 80}), nil},
	} {
		c.of.choose()
		if is := c.of.behind(); !slices.Equal(is, c.want) {
			t.Errorf("%s: %v, want %v", c.name, is, c.want)
		}
	}
}

// genJobs are jobs of so many nodes, in order of when they are due.
func genJobs(t *rapid.T, nodes int) *jobs {
	s := &jobs{doubts: sharing.Default().Doubts}
	for range nodes {
		s.cores = append(s.cores, float64(rapid.IntRange(1, 8).Draw(t, "cores")))
	}
	s.all = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) job {
		j := job{due: float64(rapid.IntRange(-1, 20).Draw(t, "due"))}
		j.by = j.due - rapid.Float64Range(0, 1).Draw(t, "gaps")
		for node := range nodes {
			if work := rapid.IntRange(0, 60).Draw(t, "work"); work > 0 {
				j.parts, j.work = append(j.parts, part{node, float64(work)}), j.work+float64(work)
			}
		}
		return j
	}), 0, 6).Draw(t, "jobs")
	slices.SortStableFunc(s.all, func(a, b job) int { return int(a.due - b.due) })
	return s
}

// The oracle knows the work left: of all orders in which the jobs could be served, the same from beginning to end, the one
// that has most in time. On one node no order has more than what is chosen.
func TestNoFixedOrderHasMoreInTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genJobs(t, 1)
		for i := range s.all {
			s.all[i].by = s.all[i].due // So that the order of deadlines is that of the algorithm's proof.
		}
		s.choose()
		is := s.met(0)
		if best := mostInOrder(s, 0, nil); best > is {
			t.Fatalf("%d are in time, in another order %d: %+v on %v cores", is, best, s.all, s.cores)
		}
	})
}

// mostInOrder is how many jobs are in time in the best of all orders that begin with those.
func mostInOrder(s *jobs, work float64, first []int) (most int) {
	for i := range s.all {
		if slices.Contains(first, i) {
			continue
		}
		of := 0.0
		for _, p := range s.all[i].parts {
			of += p.work
		}
		met := 0
		if due := s.all[i].due; due > 0 && work+of <= s.cores[0]*(due+s.doubts.Late) {
			met = 1
		}
		most = max(most, met+mostInOrder(s, work+of, append(slices.Clone(first), i)))
	}
	return most
}

// On several nodes as many are in time as in order of deadline at least, each one that is in time is so on all of its
// nodes, and of those behind none could be had in time in its place without another one being late.
func TestOnSeveralNodesNoneYieldsForNothing(t *testing.T) {
	fewer, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := genJobs(t, 3)
		plain := s.met(0)
		s.choose()
		is, chosen := s.met(0), s.behind()
		if is < plain {
			t.Fatalf("%d are in time, in order of deadline %d: %+v", is, plain, s.all)
		}
		if len(chosen) > 0 && is == plain {
			t.Fatalf("%v are behind for nothing: %+v", chosen, s.all)
		}
		for _, i := range chosen {
			s.put(slices.DeleteFunc(slices.Clone(chosen), func(k int) bool { return k == i }))
			if n := s.met(0); n > is {
				t.Fatalf("%d are in time, %d with %d in its place: %+v", is, n, i, s.all)
			}
		}
		best := 0
		for set := range 1 << len(s.all) {
			var behind []int
			for i := range s.all {
				if set>>i&1 == 1 {
					behind = append(behind, i)
				}
			}
			s.put(behind)
			best = max(best, s.met(0))
		}
		if all++; best > is {
			fewer++
		}
		if best > is+1 {
			t.Fatalf("%d are in time, %d could be: %+v", is, best, s.all)
		}
	})
	if fewer*20 > all {
		t.Errorf("in %d of %d cases another choice has one more in time", fewer, all)
	}
}

// run is an application with that much work left, and when it is due.
type run struct{ left, due float64 }

// inTime is how many of runs are in time on eight cores by a strategy, each asking for what is left over the time left and
// known with that noise, and how often the choice changes.
func inTime(t *testing.T, strategy string, noise float64, seed uint64, runs []run) (in, changes int) {
	t.Helper()
	sup, err := supervisor.New(supervisor.Config{Strategy: strategy, Floor: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 2))
	const cores, tick = 8, 0.5
	runs = slices.Clone(runs)
	behind, c, better := make([]bool, len(runs)), Choice{}, units.Instant(0)
	for now := 0.0; now < runs[len(runs)-1].due; now += tick {
		var apps []supervisor.App
		var who []int
		s := on([]float64{cores})
		for i := range runs {
			ttc := runs[i].due - now
			if runs[i].left <= 0 || ttc <= 0 {
				continue
			}
			known := runs[i].left * (1 + noise*r.NormFloat64())
			s.all = append(s.all, job{due: ttc, by: ttc, parts: []part{{0, max(0, known)}}, behind: behind[i]})
			apps = append(apps, supervisor.App{ID: api.AppID(fmt.Sprint(i)), HasDeadline: true, TTC: units.Seconds(ttc),
				Behind: behind[i], Stages: []supervisor.Stage{{Request: units.Cores(min(cores, known/ttc)), Runnable: cores}}})
			who = append(who, i)
		}
		if now == float64(int(now)) {
			before := slices.Clone(s.behind())
			chosen := c.choose(s, units.Instant(time.Hour).Add(time.Duration(now*float64(time.Second))), &better)
			if !slices.Equal(before, chosen) {
				changes++
			}
			for k, i := range who {
				behind[i] = slices.Contains(chosen, k)
				apps[k].Behind = behind[i]
			}
		}
		for k, g := range sup.Divide(cores, apps, nil) {
			if i := who[k]; runs[i].left > 0 {
				if runs[i].left -= tick * float64(g); runs[i].left <= 1 { // Of 420.
					runs[i].left = 0
					in++
				}
			}
		}
	}
	return in, changes
}

// Of two equal applications of which one can be in time one is, however well their work is known, and it stays the same.
func TestOneOfTwoIsInTime(t *testing.T) {
	two := []run{{420, 60}, {420, 61}}
	for noise, least := range map[float64]int{0: 50, 0.01: 50, 0.05: 50, 0.1: 45} {
		met, pure, most := 0, 0, 0
		for seed := range uint64(50) {
			in, changes := inTime(t, supervisor.Auto, noise, seed, two)
			met, most = met+in, max(most, changes)
			in, _ = inTime(t, supervisor.EDFPure, noise, seed, two)
			pure += in
		}
		t.Logf("noise of %2.0f %%: in time auto %d, edf-pure %d of 50; at most %d changes", 100*noise, met, pure, most)
		if met < least || most > 2 {
			t.Errorf("noise of %2.0f %%: %d of 50 are in time, edf-pure %d; it changes %d times", 100*noise, met, pure, most)
		}
	}
}
