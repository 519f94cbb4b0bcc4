package dag_test

import (
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
)

func TestNewRefusesWhatIsNoProfile(t *testing.T) {
	cyclic := profile(0, 0, stage(0, 0, 1, 1, 1, 0, 0, 1), stage(1, 0, 1, 1, 1, 0, 0, 0))
	slow := profile(0, 0, stage(0, 0, 1, 1, 1, 0, 0))
	slow.Stages[0].NominalRate = 1e-300
	for name, p := range map[string]api.Profile{
		"empty": profile(0, 0), "cyclic": cyclic, "beyond all reason": slow,
		"endless": profile(1e13, 0, stage(0, 0, 1, 1, 1, 0, 0)),
	} {
		if _, err := dag.New(p); err == nil || api.KindOf(err) != api.KindInvalid {
			t.Errorf("%s: %v, want an invalid error", name, err)
		}
	}
}

func TestGraphDoesNotSeeLaterChanges(t *testing.T) {
	p := profile(0, 0, stage(0, 0, 1, 1, 1, 0, 0), stage(1, 0, 1, 1, 1, 0, 0, 0))
	g := mustNew(t, p)
	p.Stages[1].Parents[0] = 7
	p.Stages[0].Tasks = 99
	g.Stages()[0].Tasks = 98
	first, _ := g.Stage(0)
	second, _ := g.Stage(1)
	if first.Tasks != 1 || second.Parents[0] != 0 {
		t.Errorf("the graph changed: %+v %+v", first, second)
	}
	if _, ok := g.Stage(5); ok {
		t.Error("a stage that does not exist was found")
	}
}

func TestWidthIsTheLargestAntichain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, 9)
		r := reaches(p)
		want := 0
		for set := range 1 << len(p.Stages) {
			antichain := true
			for i := range p.Stages {
				for j := range p.Stages {
					antichain = antichain && (set>>i&1 == 0 || set>>j&1 == 0 || !r[i][j])
				}
			}
			if antichain {
				want = max(want, bits.OnesCount(uint(set)))
			}
		}
		if got := mustNew(t, p).Width(); got != want {
			t.Fatalf("width %d, want %d", got, want)
		}
	})
}

// Precedes is what the paths say.
func TestPrecedesFollowsThePaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, 7)
		g, r := mustNew(t, p), reaches(p)
		for i, earlier := range p.Stages {
			for k, later := range p.Stages {
				if got := g.Precedes(earlier.ID, later.ID); got != r[i][k] {
					t.Fatalf("%d precedes %d: %v", earlier.ID, later.ID, got)
				}
			}
		}
		if g.Precedes(-5, p.Stages[0].ID) || g.Precedes(p.Stages[0].ID, -5) {
			t.Fatal("an unknown stage is in an order")
		}
	})
}

func TestOverheadIsTheLongestChainOfGapsAndTheTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, 7)
		r := reaches(p)
		// The stages not ready yet: some, and all that depend on them.
		var places, ids []int
		for i := range p.Stages {
			open := rapid.Bool().Draw(t, "not ready")
			for _, before := range places {
				open = open || r[before][i]
			}
			if open {
				places, ids = append(places, i), append(ids, p.Stages[i].ID)
			}
		}
		got, want := mustNew(t, p).Overhead(append(ids, -5)), gapChain(p, r, places)+p.Tail
		if !near(float64(got), float64(want), 1e-9) {
			t.Fatalf("overhead of %v is %v, want %v", ids, got, want)
		}
	})
}

func TestParamsValidateReportsEveryFaultAtOnce(t *testing.T) {
	if err := dag.Default().Validate(); err != nil {
		t.Error(err)
	}
	if err := (dag.Params{Alpha: 1, Beta: 0.3}).Validate(); err != nil {
		t.Errorf("no split named: %v", err)
	}
	err := dag.Params{Alpha: 1.1, Beta: -1, Quantum: -0.05, Split: "fair"}.Validate()
	if err == nil {
		t.Fatal("four faults were taken")
	}
	for _, want := range []string{"alpha", "beta", "quantum", `"fair"`, dag.SplitPaper} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not mention %s", err, want)
		}
	}
	if !slices.Contains(dag.Splits(), dag.SplitPaper) {
		t.Errorf("splits are %v", dag.Splits())
	}
}

func TestDeadlineOfAnUnknownStageMeansAllCores(t *testing.T) {
	g := mustNew(t, profile(0, 0, stage(0, 0, 1, 1, 1, 0, 0)))
	if got := g.StageDeadline(dag.Default(), dag.Moment{Deadline: 10, Stage: 4}); got != 0 {
		t.Errorf("got %v", got)
	}
}

// hubs is a graph of layers of stages, with one stage between each layer and the next that
// all of it leads to: it has few edges, and each stage depends on all layers before it.
func hubs(stages, layer int) api.Profile {
	p := profile(0, 0)
	var before []int
	for hub := -1; len(p.Stages) < stages; {
		if id := len(p.Stages); len(before) == layer {
			p.Stages = append(p.Stages, stage(id, 0, 1, 1, 1, 0, 0, before...))
			hub, before = id, nil
		} else if hub < 0 {
			p.Stages, before = append(p.Stages, stage(id, 0, 1, 1, 1, 0, 0)), append(before, id)
		} else {
			p.Stages, before = append(p.Stages, stage(id, 0, 1, 1, 1, 0, 0, hub)), append(before, id)
		}
	}
	return p
}

// The largest graph that a profile may have costs a few sets of bits, however many pairs of
// stages depend on each other.
func TestTheWidthOfTheLargestGraphTakesLittleMemory(t *testing.T) {
	p := hubs(api.MostStages, 63)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	width := mustNew(t, p).Width()
	runtime.ReadMemStats(&after)
	if width != 63 {
		t.Errorf("width %d, want that of a layer, 63", width)
	}
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 24<<20 {
		t.Errorf("the graph took %d MiB", bytes>>20)
	}
}
