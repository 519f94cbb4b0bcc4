package shaping

import (
	"math"
	"reflect"
	"testing"
)

// memory is a component of one kind of resource whose forecast is its size less the buffer.
func memory(host string, future, age float64) Component {
	return Component{Host: host, Requested: Amount{100}, Future: Amount{future}, Variance: Amount{0}, Age: age}
}

// Eq 4.3: K1 R + K2 sqrt(V).
func TestEquation43(t *testing.T) {
	c := Component{Requested: Amount{4}, Future: Amount{1}, Variance: Amount{0.2 * 0.2}}
	if got := DefaultParams.Size(c)[0] - 1; math.Abs(got-0.8) > 1e-9 {
		t.Errorf("buffer %g, want 0.8", got)
	}
	printed := Params{K1: 0.05, K2: 3, Variance: true}
	if got := printed.Size(c)[0] - 1; math.Abs(got-0.32) > 1e-9 {
		t.Errorf("buffer by the variance %g, want 0.32", got)
	}
}

// At K1 = 1 a component keeps what it requested, whatever is foretold.
func TestAllOfTheRequestIsTheBaseline(t *testing.T) {
	c := Component{Requested: Amount{4, 2}, Future: Amount{1, 3}, Variance: Amount{9, math.NaN()}}
	if got := (Params{K1: 1, K2: 3}).Size(c); !reflect.DeepEqual(got, Amount{4, 2}) {
		t.Errorf("%v, want the request", got)
	}
}

// Algorithm 3 on two hosts of 10 with a buffer of 1: A's younger elastic component does not fit, B's core one fits exactly, C
// is preempted.
func TestAlgorithm3(t *testing.T) {
	hosts := map[string]Amount{"h1": {10}, "h2": {10}}
	apps := []App{
		{ID: "A", Core: []Component{memory("h1", 4, 9)}, Elastic: []Component{memory("h2", 4, 1), memory("h2", 5, 2)}},
		{ID: "B", Core: []Component{memory("h2", 3, 1)}, Elastic: []Component{memory("h1", 3, 1)}},
		{ID: "C", Core: []Component{memory("h1", 2, 1)}},
	}
	want := Plan{
		Resize: map[Ref]Amount{
			{"A", false, 0}: {5}, {"A", true, 1}: {6}, {"B", false, 0}: {4}, {"B", true, 0}: {4},
		},
		Release: []Ref{{"A", true, 0}},
		Preempt: []string{"C"},
	}
	if got := Pessimistic(hosts, apps, Params{K1: 0.01}); !reflect.DeepEqual(got, want) {
		t.Errorf("plan %+v, want %+v", got, want)
	}
}

// The comparators: none keeps the reservations, optimistic resizes all and ends nothing.
func TestComparators(t *testing.T) {
	hosts := map[string]Amount{"h": {10}}
	apps := []App{{ID: "A", Core: []Component{memory("h", 8, 1)}}, {ID: "B", Core: []Component{memory("h", 8, 1)}}}
	for name, want := range map[string]float64{"none": 100, "optimistic": 9} {
		policy, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		plan := policy(hosts, apps, Params{K1: 0.01})
		for _, id := range []string{"A", "B"} {
			if got := plan.Resize[Ref{id, false, 0}]; !reflect.DeepEqual(got, Amount{want}) {
				t.Errorf("%s: %s is resized to %v, want %g", name, id, got, want)
			}
		}
		if plan.Release != nil || plan.Preempt != nil {
			t.Errorf("%s ends %v and %v", name, plan.Release, plan.Preempt)
		}
	}
	if _, err := Named("kind"); err == nil {
		t.Error("an unknown policy is taken")
	}
}
