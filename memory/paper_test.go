package memory

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
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

// An executor whose size is fixed at start gets the share of a full node.
func TestAtStart(t *testing.T) {
	a := App{ID: "a", Executors: 2, Heap: units.GiB, Overhead: 512 * units.MiB}
	for expected, want := range map[int]units.Bytes{0: 6656 * units.MiB, 1: 6656 * units.MiB, 2: 2560 * units.MiB} {
		if got, err := AtStart(16*units.GiB, a, expected); err != nil || got != want {
			t.Errorf("AtStart for %d = %v, %v, want %v", expected, got, err, want)
		}
	}
	if _, err := AtStart(4*units.GiB, a, 2); api.KindOf(err) != api.KindConflict {
		t.Errorf("heaps that do not fit: %v", err)
	}
	a.Fixed, a.OffHeap = true, 64*units.MiB
	if got, err := AtStart(16*units.GiB, a, 2); err != nil || got != 64*units.MiB {
		t.Errorf("fixed: %v, %v", got, err)
	}
}

func TestFaults(t *testing.T) {
	if got, err := Shares(7*units.GiB, same(2), nil); api.KindOf(err) != api.KindConflict || len(got) != 2 || got[0].Total != 0 {
		t.Errorf("heaps that do not fit: %v, %v", got, err)
	}
	for _, bad := range []App{
		{Executors: -1}, {Executors: 1, Heap: -1}, {Executors: 1, Overhead: -1}, {Executors: 1, OffHeap: -1},
		{Executors: math.MaxInt32, Heap: math.MaxInt64 / 2},
	} {
		if _, err := Shares(units.GiB, []App{bad}, nil); api.KindOf(err) != api.KindInvalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// The invariants: what is given and what is static fit into the node; shares of
// applications without a fixed size differ by rounding only; less than a MiB per
// executor is lost; the order of applications does not matter.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		memory := units.Bytes(rapid.Int64Range(0, int64(256*units.GiB)).Draw(t, "memory"))
		var apps []App
		for i := range rapid.IntRange(0, 6).Draw(t, "apps") {
			size := func(what string) units.Bytes {
				return units.Bytes(rapid.Int64Range(0, int64(6*units.GiB)).Draw(t, what))
			}
			apps = append(apps, App{ID: api.AppID(fmt.Sprint(i)), Executors: rapid.IntRange(0, 4).Draw(t, "executors"),
				Heap: size("heap"), Overhead: size("overhead"), Fixed: rapid.Bool().Draw(t, "fixed"), OffHeap: size("offheap")})
		}
		got, err := Shares(memory, apps, nil)
		static, given, lost := units.Bytes(0), units.Bytes(0), units.Bytes(0)
		var least, most units.Bytes = math.MaxInt64, 0
		for i, a := range apps {
			static += units.Bytes(a.Executors) * (a.Heap + a.Overhead)
			given += got[i].Total
			if got[i].Total != units.Bytes(a.Executors)*got[i].PerExecutor {
				t.Fatalf("share %+v of %d executors", got[i], a.Executors)
			}
			if !a.Fixed && a.Executors > 0 {
				lost += units.Bytes(a.Executors)*units.MiB + 1
				least, most = min(least, got[i].Total), max(most, got[i].Total)
			}
		}
		if err != nil {
			if given != 0 {
				t.Fatalf("given %v although %v", given, err)
			}
			return
		}
		if static+given > memory {
			t.Fatalf("static %v and off-heap %v in %v", static, given, memory)
		}
		if most > 0 {
			if most-least > 4*units.MiB {
				t.Fatalf("shares from %v to %v", least, most)
			}
			if static+given+lost < memory {
				t.Fatalf("%v of %v lost", memory-static-given, memory)
			}
		}
		turned := slices.Clone(apps)
		slices.Reverse(turned)
		other, _ := Shares(memory, turned, nil)
		slices.Reverse(other)
		if diff := cmp.Diff(got, other, cmp.Comparer(func(a, b []Share) bool { return slices.Equal(a, b) })); diff != "" {
			t.Fatalf("another order: %s", diff)
		}
	})
}

func BenchmarkShares(b *testing.B) {
	apps := same(64)
	buf, _ := Shares(1024*units.GiB, apps, nil)
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = Shares(1024*units.GiB, apps, buf[:0])
	}
}
