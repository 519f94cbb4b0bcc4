package memory

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// same returns n applications of one executor with h = 4 GiB, as in the paper.
func same(n int) []App {
	var apps []App
	for i := range n {
		apps = append(apps, App{ID: api.AppID(fmt.Sprint(i)), Executors: 1, Heap: 3 * units.GiB, Overhead: units.GiB})
	}
	return apps
}

func shares(t *testing.T, memory units.Bytes, apps []App) []Share {
	t.Helper()
	got, err := Shares(memory, apps, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Sec 3.2: O = M - h|A|, o = O/|A|.
func TestSteadyState(t *testing.T) {
	const memory = 32 * units.GiB
	apps := same(4)
	if got, want := Pool(memory, apps), 16*units.GiB; got != want {
		t.Errorf("O = %v, want %v", got, want)
	}
	for _, s := range shares(t, memory, apps) {
		if s.Total != 4*units.GiB || s.PerExecutor != 4*units.GiB {
			t.Errorf("share %+v, want 4g", s)
		}
	}
}

// Sec 3.2, arrival: O' = O - h, o' = O'/(|A|+1): everybody shrinks.
func TestArrival(t *testing.T) {
	const memory, h = 32 * units.GiB, 4 * units.GiB
	before, after := same(3), same(4)
	if got, want := Pool(memory, after), Pool(memory, before)-h; got != want {
		t.Errorf("O' = %v, want O - h = %v", got, want)
	}
	want := (Pool(memory, before) - h) / 4
	for _, s := range shares(t, memory, after) {
		if s.Total != want || s.Total >= shares(t, memory, before)[0].Total {
			t.Errorf("o' = %v, want %v, less than before", s.Total, want)
		}
	}
}

// Sec 3.2, departure: the pool grows by h, shared by |A|-1: everybody grows.
func TestDeparture(t *testing.T) {
	const memory, h = 32 * units.GiB, 4 * units.GiB
	before, after := same(4), same(2)
	if got, want := Pool(memory, same(3)), Pool(memory, before)+h; got != want {
		t.Errorf("O'' = %v, want O + h = %v", got, want)
	}
	for _, s := range shares(t, memory, after) {
		if want := (Pool(memory, before) + 2*h) / 2; s.Total != want {
			t.Errorf("o'' = %v, want %v", s.Total, want)
		}
	}
	if got := shares(t, memory, nil); len(got) != 0 {
		t.Errorf("shares of nobody: %v", got)
	}
}

// Per node, h is heap + overhead of all executors, and a share is divided by the application's
// executors there. Spark's overhead is max(384 MiB, 10 % of the heap).
func TestPerNode(t *testing.T) {
	for heap, want := range map[units.Bytes]units.Bytes{
		units.GiB: 384 * units.MiB, 3840 * units.MiB: 384 * units.MiB, 10 * units.GiB: units.GiB,
	} {
		if got := Overhead(heap); got != want {
			t.Errorf("Overhead(%v) = %v, want %v", heap, got, want)
		}
	}
	apps := []App{
		{ID: "a", Executors: 2, Heap: units.GiB, Overhead: units.GiB},
		{ID: "b", Executors: 1, Heap: 2 * units.GiB, Overhead: units.GiB},
		{ID: "fixed", Executors: 2, Heap: units.GiB, Overhead: units.GiB, Fixed: true, OffHeap: 512 * units.MiB},
		{ID: "elsewhere"},
	}
	want := []Share{
		{ID: "a", Total: 2 * units.GiB, PerExecutor: units.GiB},
		{ID: "b", Total: 2 * units.GiB, PerExecutor: 2 * units.GiB},
		{ID: "fixed", Total: units.GiB, PerExecutor: 512 * units.MiB},
		{ID: "elsewhere"},
	}
	if diff := cmp.Diff(want, shares(t, 16*units.GiB, apps)); diff != "" {
		t.Error(diff)
	}
}

func TestFaults(t *testing.T) {
	if got, err := Shares(7*units.GiB, same(2), nil); api.KindOf(err) != api.KindConflict || len(got) != 2 || got[0].Total != 0 {
		t.Errorf("heaps that do not fit: %v, %v", got, err)
	}
	for _, bad := range []App{
		{Executors: -1}, {Executors: 1, Heap: -1}, {Executors: 1, Overhead: -1}, {Executors: 1, OffHeap: -1},
		{Executors: 1, Floor: -1}, {Executors: 1, Weight: -1}, {Executors: 1, Weight: math.NaN()},
		{Executors: math.MaxInt32, Heap: math.MaxInt64 / 2},
	} {
		if _, err := Shares(units.GiB, []App{bad}, nil); api.KindOf(err) != api.KindInvalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// Whoever declares a weight has as many parts of the pool, and whoever declares a floor has no
// less; a floor that is above a part is taken off what the others share.
func TestWeightsAndFloors(t *testing.T) {
	apps := []App{
		{ID: "a", Executors: 1, Heap: units.GiB},
		{ID: "b", Executors: 2, Heap: units.GiB, Weight: 3},
		{ID: "c", Executors: 1, Heap: units.GiB, Floor: 4 * units.GiB},
	}
	want := []Share{
		{ID: "a", Total: units.GiB, PerExecutor: units.GiB},
		{ID: "b", Total: 3 * units.GiB, PerExecutor: 1536 * units.MiB},
		{ID: "c", Total: 4 * units.GiB, PerExecutor: 4 * units.GiB},
	}
	if diff := cmp.Diff(want, shares(t, 12*units.GiB, apps)); diff != "" {
		t.Error(diff)
	}
	for heap, want := range map[units.Bytes]units.Bytes{units.GiB: 435 * units.MiB, 300 * units.MiB: 8 * units.MiB, 0: 8 * units.MiB} {
		if got := Floor(0, heap, 0, 4); got != want {
			t.Errorf("floor beside a heap of %v: %v, want %v", heap, got, want)
		}
	}
	if got := Floor(2*units.GiB, units.GiB, 0, 4); got != 2*units.GiB {
		t.Errorf("declared floor: %v", got)
	}
	if got := FloorOf(&api.Launch{Heap: units.GiB, OffHeapPage: 64 * units.MiB}, 4); got != 512*units.MiB {
		t.Errorf("of larger pages: %v", got)
	}
	if got := FloorOf(&api.Launch{OffHeapFixed: true, Heap: units.GiB, OffHeap: 5}, 4); got != 5 {
		t.Errorf("fixed: %v", got)
	}
}

// level is the oracle of TestInvariants: what a part of weight 1 comes to, found by halving.
func level(pool float64, apps []App) float64 {
	sum := func(level float64) (s float64) {
		for _, a := range apps {
			if !a.Fixed && a.Executors > 0 {
				s += max(float64(a.Executors)*float64(a.Floor), level*max(a.Weight, 0.5))
			}
		}
		return s
	}
	low, high := 0.0, 2*pool+1
	for range 200 {
		if middle := (low + high) / 2; sum(middle) <= pool {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// The invariants: what is given and what is static fit into the node; everybody has its floor
// or the part that an oracle says, less the rounding to a MiB; where not even the floors fit
// everybody has its floor; the order of applications does not matter.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		memory := units.Bytes(rapid.Int64Range(0, int64(256*units.GiB)).Draw(t, "memory"))
		var apps []App
		for i := range rapid.IntRange(0, 6).Draw(t, "apps") {
			size := func(what string) units.Bytes {
				return units.Bytes(rapid.Int64Range(0, int64(6*units.GiB)).Draw(t, what))
			}
			apps = append(apps, App{ID: api.AppID(fmt.Sprint(i)), Executors: rapid.IntRange(0, 4).Draw(t, "executors"),
				Heap: size("heap"), Overhead: size("overhead"), Fixed: rapid.Bool().Draw(t, "fixed"), OffHeap: size("offheap"),
				Weight: float64(rapid.IntRange(1, 20).Draw(t, "weight")) / 2, Floor: size("floor")})
		}
		got, err := Shares(memory, apps, nil)
		static, given, floors := units.Bytes(0), units.Bytes(0), units.Bytes(0)
		for i, a := range apps {
			static += units.Bytes(a.Executors) * (a.Heap + a.Overhead)
			given += got[i].Total
			if got[i].Total != units.Bytes(a.Executors)*got[i].PerExecutor {
				t.Fatalf("share %+v of %d executors", got[i], a.Executors)
			}
			least := a.Floor
			if a.Fixed {
				least = a.OffHeap
			}
			floors += units.Bytes(a.Executors) * least
			if a.Executors > 0 && (got[i].PerExecutor < least || (err != nil || a.Fixed) && got[i].PerExecutor != least) {
				t.Fatalf("share %+v of %+v, %v", got[i], a, err)
			}
		}
		if (err != nil) != (static+floors > memory) {
			t.Fatalf("static %v, floors %v in %v: %v", static, floors, memory, err)
		}
		if err == nil && static+given > memory {
			t.Fatalf("static %v and off-heap %v in %v", static, given, memory)
		}
		if one := level(float64(Pool(memory, apps)), apps); err == nil {
			for i, a := range apps {
				want := max(float64(a.Floor), one*a.Weight/max(1, float64(a.Executors)))
				if off := want - float64(got[i].PerExecutor); a.shares() && (off < -1 || off > float64(units.MiB)+1) {
					t.Fatalf("%+v has %v, want %v of level %v", a, got[i], units.Bytes(want), units.Bytes(one))
				}
			}
		}
		turned := slices.Clone(apps)
		slices.Reverse(turned)
		other, _ := Shares(memory, turned, nil)
		slices.Reverse(other)
		if diff := cmp.Diff(got, other); len(apps) > 0 && diff != "" {
			t.Fatalf("in another order: %s", diff)
		}
	})
}
