package supervisor

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

func supervisor(t testing.TB, cfg Config) *Supervisor {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// app is an application with one stage that can use a lot.
func app(id api.AppID, request units.Cores, ttc units.Seconds) App {
	return App{ID: id, HasDeadline: true, TTC: ttc, Stages: []Stage{{Request: request, Runnable: 1000}}}
}

// table1 is Table 1's node of 16 cores: A rc = 10, ttc = 50; B 8, 60; C 12, 70.
func table1() []App {
	return []App{app("A", 10, 50), app("B", 8, 60), app("C", 12, 70)}
}

func compare(t *testing.T, what string, got []units.Cores, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
	for i := range got {
		if !(math.Abs(float64(got[i])-want[i]) <= tolerance) {
			t.Errorf("%s: grant %d is %v, want %v +- %v", what, i, float64(got[i]), want[i], tolerance)
		}
	}
}

// Sec 6, Table 1, every row of a strategy that is built, floor 0. The paper
// rounded Proportional's weights to two digits; exact it is 5.33 4.27 6.40.
func TestTable1(t *testing.T) {
	for _, row := range []struct {
		strategy       string
		printed, exact []float64
	}{
		{EDFPure, []float64{10, 6, 0}, []float64{10, 6, 0}},
		{Proportional, []float64{5.28, 4.32, 6.40}, []float64{16. / 3, 64. / 15, 6.4}},
	} {
		for _, gamma := range []float64{0, 1} { // gamma does not matter under contention
			s := supervisor(t, Config{Strategy: row.strategy, Gamma: gamma})
			got := s.Divide(16, table1(), nil)
			compare(t, row.strategy+" as printed", got, row.printed, 0.06)
			compare(t, row.strategy+" exact", got, row.exact, 1e-9)
		}
	}
}

// Eq 21 without contention: cc = gamma ac + (1-gamma) rc, where ac gives the whole
// node away in the strategy's order.
func TestEq21WithoutContention(t *testing.T) {
	for _, tc := range []struct {
		strategy string
		ac       []float64 // of 60 cores to rc = 10, 8, 12 with at most 20 each used
	}{
		{EDFPure, []float64{20, 20, 20}},
		{Proportional, []float64{20, 20, 20}},
	} {
		apps := table1()
		for i := range apps {
			apps[i].Stages[0].Runnable = 20
		}
		for _, gamma := range []float64{0, 0.25, 1} {
			got := supervisor(t, Config{Strategy: tc.strategy, Gamma: gamma}).Divide(60, apps, nil)
			var want []float64
			for i, rc := range []float64{10, 8, 12} {
				want = append(want, gamma*tc.ac[i]+(1-gamma)*rc)
			}
			compare(t, tc.strategy, got, want, 1e-9)
		}
	}

	// 36 cores: 6 are left. EDF gives them to A; Proportional scales all by 1.2.
	edf := supervisor(t, Config{Strategy: EDFPure, Gamma: 0.5}).Divide(36, table1(), nil)
	compare(t, EDFPure, edf, []float64{13, 8, 12}, 1e-9)
	prop := supervisor(t, Config{Strategy: Proportional, Gamma: 1}).Divide(36, table1(), nil)
	compare(t, Proportional, prop, []float64{12, 9.6, 14.4}, 1e-9)

	// What A cannot use goes on to the others in the same proportion.
	apps := table1()
	apps[0].Stages[0].Runnable = 11
	prop = supervisor(t, Config{Strategy: Proportional, Gamma: 1}).Divide(36, apps, nil)
	compare(t, Proportional+", A full", prop, []float64{11, 10, 15}, 1e-9)
	edf = supervisor(t, Config{Strategy: EDFPure, Gamma: 1}).Divide(36, apps, nil)
	compare(t, EDFPure+", A full", edf, []float64{11, 13, 12}, 1e-9)
}

// Eq 21 with gamma = 0 grants the requests when they fit.
func TestRequestsThatFitAreGranted(t *testing.T) {
	for _, strategy := range Strategies() {
		got := supervisor(t, Config{Strategy: strategy, Floor: 0.1}).Divide(30, table1(), nil)
		compare(t, strategy, got, []float64{10, 8, 12}, 0)
	}
}

// Design 10.3: with a floor, floors first.
func TestFloorsFirst(t *testing.T) {
	edf := supervisor(t, Config{Strategy: EDFPure, Floor: 0.1}).Divide(16, table1(), nil)
	compare(t, EDFPure, edf, []float64{10, 5.9, 0.1}, 1e-9)
	prop := supervisor(t, Config{Strategy: Proportional, Floor: 1}).Divide(16, table1(), nil)
	compare(t, Proportional, prop, []float64{1 + 13*9./27, 1 + 13*7./27, 1 + 13*11./27}, 1e-9)
	// Not even the floors fit: all are cut by the same factor.
	few := supervisor(t, Config{Strategy: EDFPure, Floor: 1}).Divide(1.5, table1(), nil)
	compare(t, "1.5 cores for three floors of 1", few, []float64{0.5, 0.5, 0.5}, 1e-9)
}

// Design 10.3: two levels. An application is served as a whole; inside it a
// shortage is proportional to the requests, a surplus goes up to the tasks.
func TestTwoLevels(t *testing.T) {
	apps := []App{
		{ID: "late", HasDeadline: true, TTC: 100, Stages: []Stage{{Request: 4, Runnable: 9}, {Request: 2, Runnable: 9}}},
		{ID: "early", HasDeadline: true, TTC: 10, Stages: []Stage{{Request: 5, Runnable: 5}}},
	}
	got := supervisor(t, Config{Strategy: EDFPure}).Divide(8, apps, nil)
	compare(t, "shortage", got, []float64{2, 1, 5}, 1e-9)

	one := []App{{ID: "a", HasDeadline: true, TTC: 9, Stages: []Stage{{Request: 1, Runnable: 2}, {Request: 1, Runnable: 4}}}}
	got = supervisor(t, Config{Strategy: EDFPure, Gamma: 1}).Divide(4, one, nil)
	compare(t, "surplus", got, []float64{1.5, 2.5}, 1e-9)
	got = supervisor(t, Config{Strategy: EDFPure, Gamma: 1}).Divide(10, one, nil)
	compare(t, "more than can be used", got, []float64{2, 4}, 1e-9)
}

// Applications without a deadline come after those with one; ties go by id.
func TestEDFOrder(t *testing.T) {
	none := app("0", 6, 1)
	none.HasDeadline = false
	apps := []App{none, app("b", 6, 50), app("a", 6, 50), app("passed", 6, -5)}
	got := supervisor(t, Config{Strategy: EDFPure}).Divide(15, apps, nil)
	compare(t, "order", got, []float64{0, 3, 6, 6}, 1e-9)
}

// A request counts up to what the stage's tasks can use.
func TestRequestsBeyondTasks(t *testing.T) {
	apps := []App{app("A", units.Unlimited, 50), app("B", 8, 60)}
	apps[0].Stages[0].Runnable = 3
	got := supervisor(t, Config{Strategy: EDFPure}).Divide(10, apps, nil)
	compare(t, "grants", got, []float64{3, 7}, 1e-9)
	apps[0].Stages[0].Runnable = 0
	got = supervisor(t, Config{Strategy: EDFPure, Floor: 0.1}).Divide(10, apps, nil)
	compare(t, "no task left", got, []float64{0, 8}, 1e-9)
}

// The quantum (Eq 7's cq, design 10.1) decides what is worth an action.
func TestActs(t *testing.T) {
	s := supervisor(t, Default())
	for _, tc := range []struct {
		inForce, grant units.Cores
		want           bool
	}{
		{1, 1.04, false}, {1, 1.05, true}, {1, 0.95, true}, {1, 0.96, false}, {1, 1, false},
		{units.Unlimited, 1, true}, {1, units.Unlimited, true}, {units.Unlimited, units.Unlimited, false},
	} {
		if got := s.Acts(tc.inForce, tc.grant); got != tc.want {
			t.Errorf("Acts(%v, %v) = %v", float64(tc.inForce), float64(tc.grant), got)
		}
	}
	if s := supervisor(t, Config{Strategy: EDFPure}); s.Acts(1, 1) || !s.Acts(1, 1.001) {
		t.Error("without a quantum every change is worth an action, none is not")
	}
}
