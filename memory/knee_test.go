package memory

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

const gib = float64(units.GiB)

func gibs(n float64) units.Bytes { return units.Bytes(math.Round(n * gib)) }

// Xu, Eq 3.3, 3.4 and 3.7, worked by hand.
func TestEquation37(t *testing.T) {
	got := DefaultKnee.Estimate(StageUse{Slots: 4, Mean: gibs(1), Deviation: gibs(0.1),
		Container: []Bin{{gibs(3), 0.1}, {gibs(4), 0.8}, {gibs(4.7), 0.1}}})
	if math.Abs(float64(got)/gib-2.93308) > 1e-8 {
		t.Errorf("%.9f GiB, want 2.93308", float64(got)/gib)
	}
}

// Xu, Eq 3.8: the greatest of all stages.
func TestEquation38(t *testing.T) {
	var k Knee
	p := DefaultKnee
	p.Step, p.Apart = 0, 0
	use := func(n float64) StageUse { return StageUse{Slots: 1, Container: []Bin{{gibs(n), 1}}} }
	size, _ := k.Next(Run{Heap: gibs(9), Work: 1, Stages: []StageUse{use(2), use(5), use(3)}}, p)
	if size != gibs(5) {
		t.Errorf("%s, want 5 GiB", size)
	}
}

// Xu, Eq 3.10 without guards: the last heap before the one at which everything is worse.
func TestEquation310(t *testing.T) {
	var k Knee
	p := DefaultKnee
	p.Step, p.Apart = 0, 0
	runs := []struct{ heap, work, collecting, live float64 }{
		{18, 100, .02, .20}, {6.4, 101, .03, .60}, {4.2, 102, .05, .82}, {3.2, 103, .08, .88}, {2.7, 560, .75, .97},
	}
	for i, r := range runs {
		size, done := k.Next(Run{Heap: gibs(r.heap), Work: units.Work(r.work), Collecting: r.collecting,
			Live: gibs(r.live * r.heap)}, p)
		if last := i == len(runs)-1; done != last || last && size != gibs(3.2) {
			t.Errorf("after %g GiB: %s, done %v", r.heap, size, done)
		}
	}
	// Any condition alone is none: heap is in use, collections are long, or there was more work, in a run that is as good.
	for _, r := range []Run{
		{Heap: gibs(3), Work: 103, Collecting: .08, Live: gibs(2.9)},
		{Heap: gibs(3), Work: 103, Collecting: .75, Live: gibs(2.9)},
		{Heap: gibs(3), Work: 560, Collecting: .08, Live: gibs(2.9)},
		{Heap: gibs(3), Work: 560, Collecting: .75, Live: gibs(1)},
	} {
		k := Knee{First: 100, Last: 103, Good: gibs(3.2)}
		if _, done := k.Next(r, p); done || k.Bad != 0 {
			t.Errorf("%+v ends the search", r)
		}
	}
	k = Knee{First: 100, Last: 103, Good: gibs(3.2)}
	if size, done := k.Next(Run{Heap: gibs(3), OutOfMemory: true}, p); !done || size != gibs(3.2) {
		t.Errorf("after an executor without memory: %s, done %v", size, done)
	}
}

// Whatever is told, a search ends within 10 % above the least heap that is good, each round takes off 35 % at most, and a run
// with a deadline never gets less than was good.
func TestASearchEndsAtTheKnee(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		knee := rapid.Float64Range(0.5, 16).Draw(t, "knee")
		heap, k := gibs(rapid.Float64Range(0.4, 32).Draw(t, "first heap")), Knee{}
		part := rapid.Float64Range(0, 1.2).Draw(t, "estimate over the heap")
		for range 40 {
			good := float64(heap) >= knee*gib
			run := Run{Heap: heap, Work: 100, Live: units.Bytes(0.7 * min(float64(heap), knee*gib)), OutOfMemory: !good,
				Stages: []StageUse{{Slots: 1, Container: []Bin{{units.Bytes(part * float64(heap)), 1}}}}}
			next, done := k.Next(run, DefaultKnee)
			if safe := k.Safe(DefaultKnee); safe > 0 && (float64(safe) < knee*gib || safe < k.Good) {
				t.Fatalf("a run with a deadline gets %s, the knee is at %.2f GiB", safe, knee)
			}
			if good && float64(next) < 0.649*float64(heap) {
				t.Fatalf("%s follows %s", next, heap)
			}
			if done {
				if got := float64(next) / gib; got < knee || got > 1.13*knee {
					t.Fatalf("it ended at %.3f GiB, the knee is at %.3f", got, knee)
				}
				return
			}
			heap = next
		}
		t.Fatalf("no end after 40 runs: %+v", k)
	})
}
