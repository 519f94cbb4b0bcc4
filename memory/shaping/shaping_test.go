package shaping

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/sparkpacer/pacer/test/draws"
)

func drawComponents(t *rapid.T, label string, hosts []string) (all []Component) {
	kind := func(name string, most float64) Amount {
		return Amount{rapid.Float64Range(0, most).Draw(t, label+name), rapid.Float64Range(0, most).Draw(t, label+name)}
	}
	for range rapid.IntRange(0, 4).Draw(t, label) {
		all = append(all, Component{Host: rapid.SampledFrom(hosts).Draw(t, label+" host"), Requested: kind(" requested", 8),
			Future: kind(" future", 8), Variance: kind(" variance", 1), Age: rapid.Float64Range(0, 9).Draw(t, label+" age")})
	}
	return all
}

// What stays fits every host with its buffer, a core component stays with its whole application or goes with it, and every
// component is resized, released or preempted, once.
func TestWhatStaysFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"a", "b", "gone"}
		hosts := map[string]Amount{"a": {10, 20}, "b": {5, 5}}
		var apps []App
		for i := range rapid.IntRange(0, 6).Draw(t, "applications") {
			apps = append(apps, App{ID: fmt.Sprint("app-", i), Core: drawComponents(t, "core", names),
				Elastic: drawComponents(t, "elastic", names)})
		}
		p := Params{K1: rapid.Float64Range(0, 1).Draw(t, "K1"), K2: rapid.Float64Range(0, 3).Draw(t, "K2")}
		plan := Pessimistic(hosts, apps, p)
		used := map[string]Amount{"a": {0, 0}, "b": {0, 0}}
		for _, a := range apps {
			if err := a.Validate(2); err != nil {
				t.Fatal(err)
			}
			preempted := slices.Contains(plan.Preempt, a.ID)
			for _, elastic := range []bool{false, true} {
				for i, c := range map[bool][]Component{false: a.Core, true: a.Elastic}[elastic] {
					ref := Ref{a.ID, elastic, i}
					size, stays := plan.Resize[ref]
					released := slices.Contains(plan.Release, ref)
					if released && !elastic || stays && (preempted || released) || !stays && !preempted && !released {
						t.Fatalf("%v: stays %v, released %v, preempted %v", ref, stays, released, preempted)
					}
					if stays {
						if !slices.Equal(size, p.Size(c)) || hosts[c.Host] == nil {
							t.Fatalf("%v is %v on %s, its buffer makes it %v", ref, size, c.Host, p.Size(c))
						}
						for k := range size {
							used[c.Host][k] += size[k]
						}
					}
				}
			}
		}
		for name := range maps.Keys(used) {
			for k := range used[name] {
				if used[name][k] > hosts[name][k]+1e-9 {
					t.Fatalf("%s has %v, its components take %v", name, hosts[name], used[name])
				}
			}
		}
	})
}

// An application that is added at the end takes nothing from those before it.
func TestWhoComesLastTakesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hosts := map[string]Amount{"a": {10, 20}}
		first := App{ID: "first", Core: drawComponents(t, "core", []string{"a"}), Elastic: drawComponents(t, "elastic", []string{"a"})}
		last := App{ID: "last", Core: drawComponents(t, "last", []string{"a"})}
		alone, both := Pessimistic(hosts, []App{first}, DefaultParams), Pessimistic(hosts, []App{first, last}, DefaultParams)
		for ref, size := range alone.Resize {
			if !slices.Equal(both.Resize[ref], size) {
				t.Fatalf("%v is %v beside another, %v alone", ref, both.Resize[ref], size)
			}
		}
	})
}

// Amounts of other kinds and negative ones are refused.
func TestAmountsAreOfTheSameKinds(t *testing.T) {
	good := memory("h", 1, 1)
	for _, bad := range []Component{{Host: "h", Requested: Amount{1, 1}, Future: Amount{1}, Variance: Amount{0}},
		{Host: "h", Requested: Amount{-1}, Future: Amount{1}, Variance: Amount{0}}} {
		if (App{ID: "x", Core: []Component{good, bad}}).Validate(1) == nil {
			t.Errorf("%v is taken", bad)
		}
	}
	if err := (App{ID: "x", Core: []Component{good}}).Validate(1); err != nil {
		t.Error(err)
	}
}
