package supervisor

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// job is an application as the world knows it: what is left of it, when it is due and what it can use.
type job struct{ left, due, use float64 }

// fataler is a test.
type fataler interface{ Fatal(args ...any) }

// moment is how late one that counts as in time may be, in seconds at all cores: noise in what it asks for last.
const moment = 0.125

// slot is how often a node divides, in seconds.
const slot = 0.5

// met plays jobs on a node and returns how many are in time. Their laws ask for what is left over the time that
// is left, give or take noise, of what they can use.
func met(t fataler, strategy string, cores float64, jobs []job, noise func() float64) (in int) {
	s, err := New(Config{Strategy: strategy, Floor: 0.1, FloorShare: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	jobs = slices.Clone(jobs)
	for now := 0.0; ; now += slot {
		var apps []App
		var playing []*job
		for i := range jobs {
			j := &jobs[i]
			ttc := j.due - now
			if j.left <= 0 || ttc <= 0 {
				continue
			}
			want := j.left / ttc
			apps = append(apps, App{ID: api.AppID(rune('a' + i)), HasDeadline: true, TTC: units.Seconds(ttc), Least: units.Cores(want),
				Stages: []Stage{{Request: units.Cores(min(j.use, want*noise())), Runnable: int(j.use)}}})
			playing = append(playing, j)
		}
		if len(apps) == 0 {
			return in
		}
		for k, grant := range s.Divide(units.Cores(cores), apps, nil) {
			if playing[k].left -= slot * float64(grant); playing[k].left <= moment*cores {
				playing[k].left = 0
				in++
			}
		}
	}
}

// ordered is met by a fixed order: each has what it can use of what those before it leave.
func ordered(cores float64, jobs []job, order []int) (in int) {
	jobs = slices.Clone(jobs)
	for now := 0.0; now < 100; now += slot {
		free := cores
		for _, i := range order {
			j := &jobs[i]
			if j.left <= 0 || j.due-now <= 0 {
				continue
			}
			grant := min(free, j.use, j.left/slot)
			free -= grant
			if j.left -= slot * grant; j.left <= 0 {
				in++
			}
		}
	}
	return in
}

// Two applications of which each can be in time alone, on eight cores: one of them is, whatever the noise in what
// their laws ask for.
func TestAutoKeepsOneOfAnOverload(t *testing.T) {
	for _, noise := range []float64{0, 0.01, 0.05} {
		in := 0
		for seed := range uint64(200) {
			r := rand.New(rand.NewPCG(seed, 2))
			in += met(t, Auto, 8, []job{{420, 60, 8}, {420, 61, 8}}, func() float64 { return 1 + noise*r.NormFloat64() })
		}
		if in < 190 {
			t.Errorf("with %v of noise %d of 200 possible deadlines are kept", noise, in)
		}
	}
}

// tight reports whether some of jobs need together, by a deadline, about all that the cores can do until then: what
// the floors of lost ones take decides there.
func tight(cores float64, jobs []job) bool {
	for set := range 1 << len(jobs) {
		for _, last := range jobs {
			work := 0.0
			for i, j := range jobs {
				if set>>i&1 == 1 && j.due <= last.due {
					work += j.left
				}
			}
			if load := work / (cores * last.due); load > 0.9 && load < 1.1 {
				return true
			}
		}
	}
	return false
}

// The oracle knows what is left of each, where the supervisor has what is predicted and asked for: no fixed order
// keeps more deadlines, where it is not a close thing.
func TestNoFixedOrderKeepsMoreThanAuto(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cores := float64(rapid.IntRange(2, 8).Draw(t, "cores"))
		jobs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) job {
			due := float64(rapid.IntRange(10, 40).Draw(t, "due"))
			return job{left: due * float64(rapid.IntRange(1, 12).Draw(t, "cores needed")), due: due, use: cores}
		}), 1, 4).Draw(t, "jobs")
		if tight(cores, jobs) {
			t.Skip("a close thing")
		}
		got, most := met(t, Auto, cores, jobs, func() float64 { return 1 }), 0
		for order := range permutations(len(jobs)) {
			most = max(most, ordered(cores, jobs, order))
		}
		if got < most {
			t.Fatalf("%d are in time, %d in a fixed order, on %v cores: %v", got, most, cores, jobs)
		}
	})
}

// permutations are the orders of n.
func permutations(n int) func(func([]int) bool) {
	return func(yield func([]int) bool) {
		var grow func(order []int) bool
		grow = func(order []int) bool {
			if len(order) == n {
				return yield(order)
			}
			for i := range n {
				if !slices.Contains(order, i) && !grow(append(slices.Clone(order), i)) {
					return false
				}
			}
			return true
		}
		grow(nil)
	}
}
