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

// table1 is Table 1's node of 16 cores: A rc = 10, ttc = 50, anr = 6M; B 8, 60,
// 6M; C 12, 70, 3M.
func table1() []App {
	apps := []App{app("A", 10, 50), app("B", 8, 60), app("C", 12, 70)}
	apps[0].Rate, apps[1].Rate, apps[2].Rate = 6e6, 6e6, 3e6
	return apps
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

// Sec 6, Table 1, every column, floor 0. The paper rounded its weights to two
// digits: exact, Proportional is 5.33 4.27 6.40.
func TestTable1(t *testing.T) {
	for _, row := range []struct {
		strategy       string
		printed, exact []float64
	}{
		{EDFAll, []float64{16, 0, 0}, []float64{16, 0, 0}},
		{EDFPure, []float64{10, 6, 0}, []float64{10, 6, 0}},
		{EDFProp, []float64{7.75, 5.35, 2.90}, []float64{16 * 32. / 66, 16 * 22. / 66, 16 * 12. / 66}},
		{Proportional, []float64{5.28, 4.32, 6.40}, []float64{16. / 3, 64. / 15, 6.4}},
		{Speed, []float64{4, 4, 8}, []float64{4, 4, 8}},
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
	for _, strategy := range Strategies() {
		apps := table1()
		for i := range apps {
			apps[i].Stages[0].Runnable = 20 // So 60 cores are 20 for each.
		}
		for _, gamma := range []float64{0, 0.25, 1} {
			got := supervisor(t, Config{Strategy: strategy, Gamma: gamma}).Divide(60, apps, nil)
			var want []float64
			for _, rc := range []float64{10, 8, 12} {
				want = append(want, gamma*20+(1-gamma)*rc)
			}
			compare(t, strategy, got, want, 1e-9)
		}
	}

	// 36 cores: 6 are left. EDF gives them to A; Proportional scales all by 1.2.
	edf := supervisor(t, Config{Strategy: EDFPure, Gamma: 0.5}).Divide(36, table1(), nil)
	compare(t, EDFPure, edf, []float64{13, 8, 12}, 1e-9)
	prop := supervisor(t, Config{Strategy: Proportional, Gamma: 1}).Divide(36, table1(), nil)
	compare(t, Proportional, prop, []float64{12, 9.6, 14.4}, 1e-9)
	weighted := supervisor(t, Config{Strategy: EDFProp, Gamma: 1}).Divide(36, table1(), nil)
	compare(t, EDFProp, weighted, []float64{10 + 6*32./66, 8 + 6*22./66, 12 + 6*12./66}, 1e-9)
	slowest := supervisor(t, Config{Strategy: Speed, Gamma: 1}).Divide(36, table1(), nil)
	compare(t, Speed, slowest, []float64{11.5, 9.5, 15}, 1e-9)

	// What A cannot use goes on to the others in the same proportion.
	apps := table1()
	apps[0].Stages[0].Runnable = 11
	prop = supervisor(t, Config{Strategy: Proportional, Gamma: 1}).Divide(36, apps, nil)
	compare(t, Proportional+", A full", prop, []float64{11, 10, 15}, 1e-9)
	edf = supervisor(t, Config{Strategy: EDFPure, Gamma: 1}).Divide(36, apps, nil)
	compare(t, EDFPure+", A full", edf, []float64{11, 13, 12}, 1e-9)
}

// Of the request of B, which is due after A, as much counts as it needs to be in time; that of A does
// whole. What A cannot use is B's all the same.
func TestProportionalCountsWhatIsNeededOfWhoIsDueLater(t *testing.T) {
	apps := table1()
	apps[0].Least, apps[1].Least = 1, 2
	got := supervisor(t, Config{Strategy: Proportional}).Divide(16, apps, nil)
	compare(t, Proportional, got, []float64{16 * 10. / 24, 16 * 2. / 24, 16 * 12. / 24}, 1e-9)
	got = supervisor(t, Config{Strategy: Proportional}).Divide(29, apps, nil)
	compare(t, Proportional+", 29 cores", got, []float64{10, 7, 12}, 1e-9)
	got = supervisor(t, Config{Strategy: Proportional, Eq21: Eq21Printed}).Divide(16, apps, nil)
	compare(t, Proportional+", as printed", got, []float64{16. / 3, 64. / 15, 6.4}, 1e-9)
}

// Eq 21 as printed without contention: ac is Table 1's division of all 36 cores, 6 more
// than are asked for. EDF_pure and EDF_prop give no more than rc, so gamma means
// nothing; Speed's weights .83 .83 1.66 take from A and B what they ask for.
func TestEq21AsPrintedWithoutContention(t *testing.T) {
	rc := []float64{10, 8, 12}
	for strategy, ac := range map[string][]float64{
		EDFAll: {36, 0, 0}, EDFPure: rc, EDFProp: rc, Proportional: {12, 9.6, 14.4}, Speed: {9, 9, 18},
	} {
		for _, gamma := range []float64{0, 0.25, 1} {
			got := supervisor(t, Config{Strategy: strategy, Gamma: gamma, Eq21: Eq21Printed}).Divide(36, table1(), nil)
			want := make([]float64, len(rc))
			for i := range rc {
				want[i] = gamma*ac[i] + (1-gamma)*rc[i]
			}
			compare(t, strategy, got, want, 1e-9)
		}
	}
	// What C cannot use goes on to the others by their weights.
	apps := table1()
	apps[2].Stages[0].Runnable = 14
	got := supervisor(t, Config{Strategy: Speed, Gamma: 1, Eq21: Eq21Printed}).Divide(36, apps, nil)
	compare(t, Speed+", C full", got, []float64{11, 11, 14}, 1e-9)
	// Under contention both readings are Table 1.
	got = supervisor(t, Config{Strategy: Speed, Gamma: 1, Eq21: Eq21Printed}).Divide(16, table1(), nil)
	compare(t, Speed+" under contention", got, []float64{4, 4, 8}, 1e-9)
}

// Sec 6.2, EDF_all: all to the nearest deadline "even if the application requested
// fewer", and the next one only gets what that one's tasks cannot use. So Eq 21
// with gamma = 1 completes one application after the other, contention or not.
func TestEDFAllServesBeyondRequests(t *testing.T) {
	for _, tc := range []struct {
		capacity units.Cores
		runnable int // Of A.
		gamma    float64
		want     []float64
	}{
		{16, 12, 0, []float64{12, 4, 0}}, // Contention: gamma does not matter.
		{36, 1000, 0, []float64{10, 8, 12}},
		{36, 1000, 1, []float64{36, 0, 0}},
		{36, 1000, 0.5, []float64{23, 4, 6}},
		{36, 20, 1, []float64{20, 16, 0}},
	} {
		apps := table1()
		apps[0].Stages[0].Runnable = tc.runnable
		got := supervisor(t, Config{Strategy: EDFAll, Gamma: tc.gamma}).Divide(tc.capacity, apps, nil)
		compare(t, EDFAll, got, tc.want, 1e-9)
	}
	floor := supervisor(t, Config{Strategy: EDFAll, Floor: 0.1, Gamma: 1}).Divide(36, table1(), nil)
	compare(t, EDFAll+" with a floor", floor, []float64{35.8, 0.1, 0.1}, 1e-9)
}

// Sec 6.2, EDF_prop: without "a huge difference" in times to complete all get a
// part, nobody more than it requested "even when its calculated weight is higher".
func TestEDFPropNeverExceedsARequest(t *testing.T) {
	s := supervisor(t, Config{Strategy: EDFProp})
	// 28 cores by weights are 13.6, 9.3 and 5.1: A and B are full with less.
	compare(t, "28 cores", s.Divide(28, table1(), nil), []float64{10, 8, 10}, 1e-9)
	same := []App{app("A", 10, 50), app("B", 8, 50), app("C", 12, 50)}
	compare(t, "equal times", s.Divide(16, same, nil), []float64{16. / 3, 16. / 3, 16. / 3}, 1e-9)
	compare(t, "a single one, whose weight is 0", s.Divide(7, same[:1], nil), []float64{7}, 0)
	far := []App{app("A", 10, -1e300), app("B", 8, 1e300)}
	compare(t, "a huge difference", s.Divide(12, far, nil), []float64{10, 2}, 1e-6)
	none := table1()
	none[0].HasDeadline = false // B and C: 1 and 11 of 12.
	compare(t, "no deadline comes last", s.Divide(8, none, nil), []float64{0, 8 * 11. / 12, 8 * 1. / 12}, 1e-9)
	compare(t, "and gets the rest", s.Divide(23, none, nil), []float64{3, 8, 12}, 1e-9)
}

// Sec 6.2, Speed: half the rate, twice the weight. That nobody gets more than it
// asks for is the package's reading: the source says it of EDF_prop only.
func TestSpeedWeighsBySlowness(t *testing.T) {
	s := supervisor(t, Config{Strategy: Speed})
	compare(t, "26 cores, C full", s.Divide(26, table1(), nil), []float64{7, 7, 12}, 1e-9)
	unknown := table1()
	unknown[1].Rate = 0 // The mean of the others is 4.5M: weights 0.75, 1 and 1.5.
	compare(t, "an unknown rate is the mean", s.Divide(13, unknown, nil), []float64{3, 4, 6}, 1e-9)
	for _, odd := range []float64{-1, math.NaN(), math.Inf(1)} {
		unknown[1].Rate = units.Rate(odd)
		compare(t, "as is one that is none", s.Divide(13, unknown, nil), []float64{3, 4, 6}, 1e-9)
	}
	later := table1()
	later[0].TTC, later[2].TTC = 1e6, -5
	compare(t, "deadlines do not count", s.Divide(16, later, nil), []float64{4, 4, 8}, 1e-9)
}

// Eq 21 with gamma = 0 grants the requests when they fit.
func TestRequestsThatFitAreGranted(t *testing.T) {
	for _, strategy := range Strategies() {
		got := supervisor(t, Config{Strategy: strategy, Floor: 0.1}).Divide(30, table1(), nil)
		compare(t, strategy, got, []float64{10, 8, 12}, 0)
	}
}

// With a floor every stage gets that first; the strategy divides the rest.
func TestFloorsFirst(t *testing.T) {
	edf := supervisor(t, Config{Strategy: EDFPure, Floor: 0.1}).Divide(16, table1(), nil)
	compare(t, EDFPure, edf, []float64{10, 5.9, 0.1}, 1e-9)
	prop := supervisor(t, Config{Strategy: Proportional, Floor: 1}).Divide(16, table1(), nil)
	compare(t, Proportional, prop, []float64{1 + 13*9./27, 1 + 13*7./27, 1 + 13*11./27}, 1e-9)
	weighted := supervisor(t, Config{Strategy: EDFProp, Floor: 1}).Divide(16, table1(), nil)
	compare(t, EDFProp, weighted, []float64{1 + 13*32./66, 1 + 13*22./66, 1 + 13*12./66}, 1e-9)
	slowest := supervisor(t, Config{Strategy: Speed, Floor: 1}).Divide(16, table1(), nil)
	compare(t, Speed, slowest, []float64{4.25, 4.25, 7.5}, 1e-9)
	// Not even the floors fit: all are cut by the same factor.
	few := supervisor(t, Config{Strategy: EDFPure, Floor: 1}).Divide(1.5, table1(), nil)
	compare(t, "1.5 cores for three floors of 1", few, []float64{0.5, 0.5, 0.5}, 1e-9)
}

// Two levels: an application is served as a whole. Inside it a shortage is divided in
// proportion to the requests, a surplus up to the number of tasks.
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
