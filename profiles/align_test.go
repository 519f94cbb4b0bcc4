package profiles_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/sim/nextrun"
	_ "github.com/sparkpacer/pacer/test/draws"
)

// of is a stage of that signature that reads so many MiB.
func of(signature string, mib int64, parents ...int) api.ProfileStage {
	return api.ProfileStage{Name: signature, Signature: signature, Lineage: "l " + signature, Parents: parents, Tasks: 8,
		Bytes: mib << 20, Records: 8, CoreSeconds: 1}
}

// in is s in a SQL query: it writes that exchange of the nth query of a shape.
func in(shape string, nth, exchange int, s api.ProfileStage) api.ProfileStage {
	s.Query = &api.QueryStage{Shape: shape, Nth: nth, Exchange: exchange}
	return s
}

// sequence gives stages their ids. Each stage without parents begins a job.
func sequence(stages ...api.ProfileStage) []api.ProfileStage {
	stages, job := slices.Clone(stages), 0
	for i := range stages {
		if stages[i].ID = i; i > 0 && len(stages[i].Parents) == 0 {
			job++
		}
		stages[i].Job = job
	}
	return stages
}

// who says for each stage of a run which one of the profile it is, "-" for a new one.
func who(a profiles.Alignment) string {
	var out []string
	for _, p := range a.Pairs {
		for len(out) < p.Seen {
			out = append(out, "-")
		}
		out = append(out, fmt.Sprint(p.Known))
	}
	for range len(a.Pairs) + len(a.New) - len(out) {
		out = append(out, "-")
	}
	return strings.Join(out, " ")
}

// A stage more or less, or in another place, leaves all others where they are.
func TestOneStageMoreOrLessLeavesTheOthersInPlace(t *testing.T) {
	// All stages of a PySpark file may share a signature.
	python := sequence(of("py", 900), of("py", 30), of("py", 250), of("py", 70))
	for _, c := range []struct {
		name string
		seen []api.ProfileStage
		want string
	}{
		{"the same", python, "0 1 2 3"},
		{"one inserted", sequence(of("py", 900), of("py", 30), of("py", 4000), of("py", 250), of("py", 70)), "0 1 - 2 3"},
		{"one dropped", sequence(of("py", 900), of("py", 250), of("py", 70)), "0 2 3"},
		{"one repeated", sequence(of("py", 900), of("py", 900), of("py", 30), of("py", 250), of("py", 70)), "0 - 1 2 3"},
		{"another order", sequence(of("py", 900), of("py", 250), of("py", 30), of("py", 70)), "0 2 1 3"},
		{"all larger", sequence(of("py", 1350), of("py", 45), of("py", 375), of("py", 105)), "0 1 2 3"},
	} {
		if got := who(profiles.Align(python, c.seen)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestAlignIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		known, seen := drawProfile(t, 12).Stages, drawProfile(t, 12).Stages
		a := profiles.Align(known, seen)
		var one, other []int
		for _, p := range a.Pairs {
			one, other = append(one, p.Seen), append(other, p.Known)
			if p.Sure <= 0 || p.Sure > 1 || p.By == "" {
				t.Fatalf("%+v", p)
			}
		}
		for _, list := range []struct {
			all  []int
			want int
		}{{append(one, a.New...), len(seen)}, {append(other, a.Gone...), len(known)}} {
			slices.Sort(list.all)
			if len(list.all) != list.want || len(slices.Compact(list.all)) != list.want {
				t.Fatalf("%v of %d", list.all, list.want)
			}
		}
	})
}

// What of a run nobody knows changes nothing of what the others are.
func TestAlignmentIsStableUnderInsertion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		runs := nextrun.Draw(r, rapid.IntRange(5, 40).Draw(t, "stages"))
		before := profiles.Align(runs.Known.Stages, runs.Next.Stages)
		at := rapid.IntRange(0, len(runs.Next.Stages)).Draw(t, "at")
		strange := of("strange", 100)
		strange.ID, strange.Job = 1<<20, 1<<20
		after := profiles.Align(runs.Known.Stages, slices.Insert(slices.Clone(runs.Next.Stages), at, strange))
		if !slices.Contains(after.New, at) {
			t.Fatalf("it is not new: %v", after.New)
		}
		for i := range before.Pairs {
			if before.Pairs[i].Known != after.Pairs[i].Known {
				t.Fatalf("stage %d was %d, and is %d", before.Pairs[i].Seen, before.Pairs[i].Known, after.Pairs[i].Known)
			}
		}
	})
}

// Threads let stages come in any order: who is whom hangs on what they read.
func TestAlignmentIsIndependentOfTheOrderOfEquals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var known []api.ProfileStage
		for i, mib := range rapid.Permutation([]int64{3, 10, 40, 150, 600, 2500}).Draw(t, "profile") {
			s := of("py", mib)
			s.ID = i
			known = append(known, s) // All of one job: they run beside each other.
		}
		seen := rapid.Permutation(known).Draw(t, "run")
		a := profiles.Align(known, seen)
		if len(a.Pairs) != len(known) {
			t.Fatalf("%d of %d", len(a.Pairs), len(known))
		}
		for _, p := range a.Pairs {
			if known[p.Known].Bytes != seen[p.Seen].Bytes {
				t.Fatalf("%d MiB are taken for %d", seen[p.Seen].Bytes>>20, known[p.Known].Bytes>>20)
			}
		}
	})
}

// quadratic is the oracle of a run in order: the alignment of two sequences that costs least, by every
// pair of them. What is new or gone costs 1, a pair what its sizes are apart.
func quadratic(known, seen []api.ProfileStage) string {
	cost := make([][]float64, len(known)+1)
	for i := range cost {
		cost[i] = make([]float64, len(seen)+1)
		for k := range cost[i] {
			cost[i][k] = float64(i + k)
		}
	}
	pair := func(i, k int) float64 {
		if known[i].Bytes == seen[k].Bytes {
			return 0
		}
		return 10
	}
	for i := range known {
		for k := range seen {
			cost[i+1][k+1] = min(cost[i][k]+pair(i, k), cost[i][k+1]+1, cost[i+1][k]+1)
		}
	}
	out := make([]string, len(seen))
	for i, k := len(known), len(seen); k > 0; {
		switch {
		case i > 0 && cost[i][k] == cost[i-1][k-1]+pair(i-1, k-1):
			i, k = i-1, k-1
			out[k] = fmt.Sprint(i)
		case i > 0 && cost[i][k] == cost[i-1][k]+1:
			i--
		default:
			k--
			out[k] = "-"
		}
	}
	return strings.Join(out, " ")
}

func TestAlignmentIsTheCheapest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var known, seen []api.ProfileStage
		for i := range rapid.IntRange(6, 24).Draw(t, "stages") {
			known = append(known, of("py", int64(500*math.Pow(1.4, float64(i*7%25)))))
		}
		for i, s := range known {
			switch {
			case i < 3 || rapid.IntRange(0, 7).Draw(t, "change") > 1:
				seen = append(seen, s)
			case rapid.Bool().Draw(t, "insert"):
				seen = append(seen, of("py", 1), s)
			}
		}
		known, seen = sequence(known...), sequence(seen...)
		if got, want := who(profiles.Align(known, seen)), quadratic(known, seen); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	})
}

// The work for a stage does not grow with the profile: compare ns/stage.
func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		var stages []api.ProfileStage
		for i := range n / 2 { // Hundreds of equal queries.
			stages = append(stages, in("q", i, 0, of("scan", 64)), in("q", i, -1, of("sum", 4, 2*i)))
		}
		p := api.Profile{Stages: sequence(stages...)}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				m := profiles.NewMatcher(p)
				for i := range p.Stages {
					if _, is := m.Match(readyOf(&p.Stages[i])); !is {
						b.Fatal("it is not found")
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/stage")
		})
	}
}

// readyOf is what a driver says of a stage of a run.
func readyOf(s *api.ProfileStage) api.StageReady {
	return api.StageReady{StageKey: api.StageKey{Stage: s.ID}, Job: s.Job, Name: s.Name, Signature: s.Signature, Lineage: s.Lineage,
		Query: s.Query, Parents: s.Parents, Tasks: s.Tasks, Records: s.Records, Bytes: s.Bytes}
}
