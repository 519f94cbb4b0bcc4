package main

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/paper"
	"github.com/sparkpacer/pacer/supervisor"
	_ "github.com/sparkpacer/pacer/test/draws"
)

// A way names a strategy that there is; a mix's applications are workloads.
func TestMixesAreOfWhatThereIs(t *testing.T) {
	for _, m := range mixes() {
		if n := len(named(m.workloads()...)); n != len(m.apps) {
			t.Errorf("%s: %d workloads of %d", m.name, n, len(m.apps))
		}
		for _, w := range m.ways {
			if w.stock {
				continue
			}
			strategy := strings.TrimPrefix(w.args[1], "node.strategy=")
			if err := (supervisor.Config{Strategy: strategy}).Validate(); err != nil {
				t.Errorf("%s, %s: %v", m.name, w.name, err)
			}
		}
	}
	for _, wrong := range []string{"contention -only bench4", "contention -slack 20", "contention -only group-by"} {
		if _, err := parse(strings.Fields(wrong)); !errors.Is(err, errUsage) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	o, err := parse(strings.Fields("contention -only beside,bench1 -runs 2 -set node.gamma=1"))
	if all, _ := o.rows(); err != nil || len(all) != 2 || all[0].name != "bench1" || all[1].name != "beside" || o.trial.runs != 2 {
		t.Errorf("%+v, %v", o, err)
	}
}

// The oracle: a machine that works for a thousandth of a second at a time for the job that
// has come, is not done and is due first.
func TestSchedulableJobsEndInTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []job
		for range rapid.IntRange(1, 4).Draw(t, "jobs") {
			at := float64(rapid.IntRange(0, 20).Draw(t, "at")) / 10
			takes := float64(rapid.IntRange(1, 20).Draw(t, "takes")) / 10
			jobs = append(jobs, job{at: at, takes: takes, due: at + float64(rapid.IntRange(1, 40).Draw(t, "due"))/10})
		}
		const tick = 1e-3
		left := make([]int, len(jobs))
		for i, j := range jobs {
			left[i] = int(math.Round(j.takes / tick))
		}
		inTime := true
		for now := 0; now < 12000; now++ {
			first := -1
			for i, j := range jobs {
				if left[i] > 0 && int(math.Round(j.at/tick)) <= now && (first < 0 || j.due < jobs[first].due) {
					first = i
				}
			}
			if first < 0 {
				continue
			}
			if left[first]--; left[first] == 0 && now+1 > int(math.Round(jobs[first].due/tick)) {
				inTime = false
			}
		}
		if got := schedulable(jobs); got != inTime {
			t.Fatalf("%+v: %v, want %v", jobs, got, inTime)
		}
	})
}

func TestContentionFigures(t *testing.T) {
	ran := func(way string, round int, at, wall, deadline float64) outcome {
		return outcome{way: way, round: round, at: at, wall: wall, deadline: deadline}
	}
	var first, third []outcome
	for round := 1; round <= 2; round++ {
		first = append(first, ran(inTurn, round, 0, 50, 100), ran(inTurn, round, 20, 80, 60),
			ran("edf-all", round, 0, 90, 100), ran("edf-all", round, 20, 60, 60))
	}
	for i, app := range mixes()[2].apps {
		third = append(third, ran("auto", 1, app.at, app.alone, app.deadline-float64(50*i)))
	}
	beside := []outcome{ran(besideWay(1), 1, 0, 49, 50), ran(besideWay(3), 1, 0, 51, 50)}
	for i := range beside {
		cpus := float64(runtime.NumCPU())
		beside[i].beside, beside[i].machine = 0.9*beside[i].wall, (cpus-0.1)*beside[i].wall
	}
	got := map[string]float64{}
	for _, f := range slices.Concat(mixFigures(mixes()[0], "", first, nil), mixFigures(mixes()[2], "", third, mixes()[2].atSource()),
		besideFigures("", beside)) {
		got[f.Name] = f.Measured.Value
	}
	want := map[string]float64{"contention.bench1.stock-fifo.late": 2, "contention.bench1.stock-fifo.met": 1, "contention.bench1.edf-all.late": 0,
		"contention.bench1.edf-all.met": 2, "contention.bench1.edf-all.mean_abs_error_pct": 5, "contention.bench1.edf-all.makespan_ratio": 0.9,
		"contention.bench3.auto.met": 1, "contention.bench3.clairvoyant.met": 2, "contention.bench3.auto.met_ratio": 0.5,
		"contention.beside_unpaced.1.error_pct": 2, "contention.beside_unpaced.late": 1, "contention.beside_unpaced.outside": 1,
		"contention.beside_unpaced.3.outside": 1, "contention.beside_unpaced.used_pct": 90}
	for name, v := range want {
		if f, ok := got[name]; !ok || math.Abs(f-v) > 1e-9 {
			t.Errorf("%s is %v (%v), want %v", name, f, ok, v)
		}
	}
}

// A mix comes here as it does in the source, by what its applications take; of Benchmark 3
// only two can be in time.
func TestAMixIsScaled(t *testing.T) {
	for _, m := range mixes() {
		jobs := m.atSource()
		for i, j := range jobs {
			a := m.apps[i]
			if math.Abs(j.at-a.at) > 1e-9 || math.Abs(j.due-j.at-a.deadline) > 1e-9 {
				t.Errorf("%s: %+v is %+v", m.name, a, j)
			}
		}
		want := len(jobs)
		if m.overload {
			want--
		}
		if got := clairvoyant(jobs); got != want {
			t.Errorf("%s: %d can be in time, want %d", m.name, got, want)
		}
	}
	half := mixes()[0].scaled([]float64{59.0 / 2, 86.0 / 2, 77.0 / 2})
	if j := half[2]; j.at != 40 || j.due != 100 {
		t.Errorf("half as large: %+v", j)
	}
}

// What Benchmark 3's applications take alone is what the simulator's take, times the size
// that sim/paper gives them.
func TestBenchmark3IsTheSimulators(t *testing.T) {
	const size = 1.2
	for _, a := range mixes()[2].apps {
		app, err := paper.FindWorkload(strings.Replace(a.workload, "aggregate", "aggr", 1))
		if err != nil {
			t.Fatal(err)
		}
		app.Stages = slices.Clone(app.Stages)
		for i := range app.Stages {
			app.Stages[i].Work *= size
		}
		_, o, err := sim.Record(sim.Default(), app)
		if err != nil || math.Abs(float64(o.Duration)-a.alone) > 1 {
			t.Errorf("%s takes %v, %v, want %v s", a.workload, o.Duration, err, a.alone)
		}
	}
}

// A slow round is compared with what is slow in it, and one without stock with nothing.
func TestMakespansAreComparedByRound(t *testing.T) {
	fifo, beside := map[int]float64{1: 80, 2: 200, 3: 95}, map[int]float64{1: 100, 2: 180}
	least := leastOf([]map[int]float64{fifo, beside})
	if d := cmp.Diff(map[int]float64{1: 80, 2: 180, 3: 95}, least); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]float64{1.1, 1}, over(map[int]float64{2: 180, 1: 88, 4: 90}, least), cmpopts.EquateApprox(0, 1e-9)); d != "" {
		t.Error(d)
	}
}

func TestFiguresOfASimulatedMix(t *testing.T) {
	e := mix{overload: true, apps: []arrival{{at: 0, deadline: 20, alone: 10}, {at: 5, deadline: 20, alone: 10}}}
	got := map[string]float64{}
	for _, f := range simulatedMix(e, 2, []sim.Outcome{{Duration: 10, Error: 50}, {Duration: 25, Error: -25}, {Duration: 18, Error: 10}, {Duration: 16, Error: 20}}) {
		got[f.Name] = f.Measured.Value
	}
	want := map[string]float64{"late": 1, "mean_abs_error_pct": 26.25, "met": 1.5, "makespan_ratio": 25.5 / 20, "met_ratio": 0.75}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
