package torture

import (
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"
)

func TestASeedGivesItsSchedule(t *testing.T) {
	nodes := []string{"n1", "n2", "n3"}
	a, b := Draw(1, time.Hour, 3*time.Second, nodes), Draw(1, time.Hour, 3*time.Second, nodes)
	if !reflect.DeepEqual(a, b) {
		t.Error("the same seed gave another schedule")
	}
	if reflect.DeepEqual(a, Draw(2, time.Hour, 3*time.Second, nodes)) {
		t.Error("another seed gave the same schedule")
	}
	seen := map[Kind]int{}
	var tally Tally
	for i, f := range a {
		seen[f.Kind]++
		tally.Count(f)
		if f.At+f.For > time.Hour || i > 0 && f.At < a[i-1].At {
			t.Errorf("%v is out of order or ends after the schedule", f)
		}
		disturbed := map[string]bool{}
		for _, g := range a[:i] {
			if g.Node == "" || g.At+g.For < f.At {
				continue
			}
			if g.Node == f.Node {
				t.Errorf("%v and %v at once", g, f)
			}
			disturbed[g.Node] = true
		}
		if f.Node != "" && len(disturbed) > 1 {
			t.Errorf("%v while %v are disturbed", f, disturbed)
		}
	}
	for _, k := range kinds {
		if seen[k.kind] == 0 {
			t.Errorf("there is no %s in an hour", k.kind)
		}
	}
	if tally.Faults != len(a) || tally.Kills < 100 || tally.Partitions < 40 || tally.NodeLosses < 20 {
		t.Errorf("an hour counts %+v", tally)
	}
}

func TestTalliesAddUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out", "torture.jsonl")
	if all, err := Read(path); err != nil || len(all) > 0 {
		t.Fatalf("of nothing: %v, %v", all, err)
	}
	var one Tally
	one.Seed = 7
	one.Count(Fault{Kind: KillExecutor})
	one.Count(Fault{Kind: CutNode})
	one.Count(Fault{Kind: LoseNode})
	one.Count(Fault{Kind: Delay})
	for _, j := range []Judgement{{Ending: Right, Possible: true}, {Ending: Right, Possible: true, Late: true}, {Ending: Right, Late: true}, {Ending: OwnError}, {Ending: Lost}, {Ending: Wrong}} {
		one.Take(j)
	}
	two := one
	two.Seed, two.Orphans = 8, 3
	for _, x := range []Tally{one, two} {
		if err := Add(path, x); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Read(path)
	if err != nil || !slices.Equal(all, []Tally{one, two}) {
		t.Fatalf("read %+v, %v", all, err)
	}
	want := Tally{Seed: 8, Faults: 8, Kills: 2, Partitions: 2, NodeLosses: 2, Applications: 12, Right: 6, OwnErrors: 2, Lost: 2, Wrong: 2, Possible: 4, LatePossible: 2, Orphans: 3}
	if got := Sum(all); got != want {
		t.Errorf("the sum is %+v, want %+v", got, want)
	}
}
