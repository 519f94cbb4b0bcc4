package dag_test

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/units"
)

func TestEq1StageDeadlineIsTheTimeLeftOverTheWeight(t *testing.T) {
	wantNear(t, "deadline", dag.StageDeadline(0.95, 100, 15, 4), 20)
	wantNear(t, "the last stage's deadline", dag.StageDeadline(1, 100, 60, 1), 40)
}

func TestSection4APassedDeadlineMeansAllCores(t *testing.T) {
	for _, spent := range []units.Seconds{97, 120} {
		left := dag.StageDeadline(0.97, 100, spent, 2)
		if left > 1e-9 {
			t.Errorf("after %v of 0.97 x 100 s a stage has %v left", spent, left)
		}
		if got := dag.EstimateCores(1000, min(0, left), 10); !got.IsUnlimited() {
			t.Errorf("it gets %v, want all cores", got)
		}
	}
}

func TestEq2WeightBlendsTheNumberOfStagesWithTheirDurations(t *testing.T) {
	remaining := []units.Seconds{10, 20, 30}
	for _, c := range []struct{ beta, want float64 }{
		{1, 3},                 // |R_s|
		{0, 6},                 // d_s
		{0.3, 0.3*3 + 0.7*6.0}, // the source's beta
	} {
		wantNear(t, "w", dag.Weight(c.beta, remaining, 10), c.want)
	}
}

func TestEq3DurationsCountRelativeToTheStagesOwn(t *testing.T) {
	remaining := []units.Seconds{10, 20, 30}
	wantNear(t, "d of the longest", dag.Weight(0, remaining, 30), 2)
	wantNear(t, "d of the last", dag.Weight(0, []units.Seconds{7}, 7), 1)
	if got := dag.Weight(0.3, remaining, 0); !math.IsInf(got, 1) {
		t.Errorf("a stage without duration weighs %v, want +Inf", got)
	}
	if got := dag.StageDeadline(1, 100, 0, math.Inf(1)); got != 0 {
		t.Errorf("and gets %v, want 0: all cores", got)
	}
}

func TestEq2To3WithBetaZeroDivideTimeInProportionToDurations(t *testing.T) {
	remaining := []units.Seconds{10, 20, 30}
	for i, own := range remaining {
		// With beta 0 and every stage on time the split telescopes.
		spent := units.Seconds(0)
		for _, before := range remaining[:i] {
			spent += 2 * before
		}
		wantNear(t, "deadline", dag.StageDeadline(1, 120, spent, dag.Weight(0, remaining[i:], own)), 2*own)
	}
}

func TestEq4ApplicationError(t *testing.T) {
	for _, c := range []struct {
		deadline, duration units.Seconds
		want               float64
	}{{100, 97, 3}, {100, 104, -4}, {40, 40, 0}, {0, 5, 0}} {
		wantNear(t, "eps_a", dag.AppError(c.deadline, c.duration), c.want)
	}
}

func TestEq5StageErrorIsAbsoluteAndRelativeToTheApplication(t *testing.T) {
	for _, c := range []struct {
		deadline, duration, app units.Seconds
		want                    float64
	}{{10, 12, 100, 2}, {12, 10, 100, 2}, {10, 10, 50, 0}, {1, 2, 0, 0}} {
		wantNear(t, "eps_s", dag.StageError(c.deadline, c.duration, c.app), c.want)
	}
}

func TestEq6EstimatedCores(t *testing.T) {
	wantNear(t, "cores", dag.EstimateCores(12e6, 40, 100e3), 3)
	for _, c := range []struct {
		records  float64
		deadline units.Seconds
		rate     units.Rate
		want     units.Cores
	}{{0, 40, 100, 0}, {1, 0, 100, units.Unlimited}, {1, -1, 100, units.Unlimited}, {1, 40, 0, units.Unlimited}} {
		if got := dag.EstimateCores(c.records, c.deadline, c.rate); got != c.want {
			t.Errorf("%v records in %v at %v: %v cores, want %v", c.records, c.deadline, c.rate, got, c.want)
		}
	}
}

func TestEq7InitialCoresPerExecutorAreRoundedUpToTheQuantum(t *testing.T) {
	for _, c := range []struct {
		estimate, quantum units.Cores
		executors         int
		want              units.Cores
	}{{3, 0.05, 4, 0.75}, {3.01, 0.05, 4, 0.80}, {1, 0.05, 3, 0.35}, {1, 0.05, 0, 1}, {0, 0.05, 2, 0}} {
		wantNear(t, "cores", dag.InitCores(c.estimate, c.quantum, c.executors), c.want)
	}
	if got := dag.InitCores(units.Unlimited, 0.05, 2); !got.IsUnlimited() {
		t.Errorf("unlimited became %v", got)
	}
}

// R_s is s and the stages not yet submitted; stages submitted together count in order of id,
// as if they ran in sequence (docs/decisions/018).
func TestEq1To3OfParallelStagesAreThoseOfASequence(t *testing.T) {
	g := mustNew(t, profile(0, 0, stage(0, 0, 4, 10, 10, 0, 0), stage(1, 0, 4, 10, 10, 0, 0), stage(2, 0, 4, 10, 10, 0, 0, 0, 1)))
	p := dag.Params{Alpha: 1, Beta: 0.3}
	at := func(spent units.Seconds, id int, unsubmitted ...int) units.Seconds {
		return g.StageDeadline(p, dag.Moment{Deadline: 30, Spent: spent, Stage: id, Unsubmitted: unsubmitted})
	}
	wantNear(t, "first of two submitted together", at(0, 0, 1, 2), 10)
	wantNear(t, "second of two submitted together", at(0, 1, 2), 15)
	wantNear(t, "the stage after them", at(15, 2), 15)

	f := g.Forecast(p, 30, dag.Supply{Cores: 8}, 0)
	for i, want := range []units.Seconds{10, 15, 15} {
		wantNear(t, "forecast deadline", f.Stages[i].Deadline, want)
	}
	wantNear(t, "finish", f.Finish, 30)
}

// The profile keeps the driver's gaps. No core shortens them, the head or the tail.
func TestEq1IsAppliedAfterTheDriversFixedCosts(t *testing.T) {
	g := mustNew(t, profile(5, 2, stage(0, 0, 4, 10, 10, 0, 0), stage(1, 1, 4, 10, 10, 3, 0)))
	p := dag.Params{Alpha: 0.9, Beta: 0.3}
	f := g.Forecast(p, 100, dag.Supply{Cores: 8}, 0)
	// What the two stages share: 0.9 x 100 - 5 (head) - 3 (gap) - 2 (tail) = 80.
	wantNear(t, "first deadline", f.Stages[0].Deadline, 40)
	wantNear(t, "second deadline", f.Stages[1].Deadline, 40)
	wantNear(t, "second start", f.Stages[1].Start, 48)
	wantNear(t, "finish", f.Finish, 90)
}

func TestAStageTakesTheLargestOfItsThreeBounds(t *testing.T) {
	forecast := func(s api.ProfileStage, deadline units.Seconds, cores units.Cores, slots int) dag.StageForecast {
		return mustNew(t, profile(0, 0, s)).Forecast(dag.Params{Alpha: 1}, deadline, dag.Supply{Cores: cores, Slots: slots}, 0).Stages[0]
	}
	for _, c := range []struct {
		what  string
		got   dag.StageForecast
		time  units.Seconds
		cores units.Cores
	}{
		{"its deadline", forecast(stage(0, 0, 8, 20, 5, 0, 1), 40, 4, 8), 40, 0.5},
		{"all cores", forecast(stage(0, 0, 8, 20, 5, 0, 1), 2, 4, 8), 5, 4},
		{"fewer tasks than cores", forecast(stage(0, 0, 2, 20, 5, 0, 1), 2, 4, 8), 10, 2},
		{"fewer slots than cores", forecast(stage(0, 0, 8, 20, 5, 0, 1), 2, 4, 1), 20, 1},
		{"the longest task", forecast(stage(0, 0, 8, 20, 5, 0, 12), 2, 4, 8), 12, 20.0 / 12},
	} {
		wantNear(t, c.what+": duration", c.got.Duration, c.time)
		wantNear(t, c.what+": cores", c.got.Cores, c.cores)
	}
}

func TestAJobDependsOnTheOneBefore(t *testing.T) {
	g := mustNew(t, profile(1, 0, stage(0, 0, 4, 8, 2, 0, 0), stage(1, 0, 4, 4, 1, 0, 0), stage(2, 3, 4, 4, 1, 0.5, 0)))
	f := g.Forecast(dag.Default(), 0, dag.Supply{Cores: 4}, 0)
	// 12 core-seconds of the first job at 4 cores, then the gap.
	wantNear(t, "start of the second job", f.Stages[2].Start, 1+3+0.5)
	if g.Width() != 2 {
		t.Errorf("width %d, want 2", g.Width())
	}
}

func TestStagesSideBySideShareTheCores(t *testing.T) {
	g := mustNew(t, profile(0, 0, stage(0, 0, 4, 8, 2, 0, 0), stage(1, 0, 4, 4, 1, 0, 0)))
	f := g.Forecast(dag.Default(), 1e-9, dag.Supply{Cores: 4}, 0)
	// Two cores each until the smaller one ends, then four.
	wantNear(t, "smaller", f.Stages[1].Duration, 2)
	wantNear(t, "larger", f.Stages[0].Duration, 3)
	wantNear(t, "its mean share", f.Stages[0].Cores, 8.0/3)
}

func TestAVerdictComparesTheForecastWithTheDeadline(t *testing.T) {
	g := mustNew(t, profile(1, 1, stage(0, 0, 4, 12, 6, 0, 0), stage(1, 0, 4, 4, 2, 0, 0, 0)))
	// At 2 cores: 1 + 6 + 2 + 1 = 10 s.
	for _, c := range []struct {
		deadline units.Seconds
		want     api.Verdict
	}{{0, api.VerdictNone}, {9.9, api.VerdictInfeasible}, {10.9, api.VerdictTight}, {11.2, api.VerdictFeasible}, {20, api.VerdictFeasible}} {
		f := g.Forecast(dag.Default(), c.deadline, dag.Supply{Cores: 2}, 0)
		if f.Verdict != c.want {
			t.Errorf("deadline %v: %s (finish %v), want %s", c.deadline, f.Verdict, f.Finish, c.want)
		}
		wantNear(t, "all cores", f.FullCores, 10)
	}
	if f := g.Forecast(dag.Default(), 20, dag.Supply{Cores: 0}, 0); f.Verdict != api.VerdictUnknown {
		t.Errorf("without cores: %s, want unknown", f.Verdict)
	}
}

func TestElapsedTimeCounts(t *testing.T) {
	g := mustNew(t, profile(2, 0, stage(0, 0, 4, 8, 4, 0, 0)))
	wantNear(t, "elapsed within the head", g.Forecast(dag.Default(), 0, dag.Supply{Cores: 2}, 1.5).FullCores, 6)
	late := g.Forecast(dag.Default(), 12, dag.Supply{Cores: 2}, 9)
	wantNear(t, "elapsed beyond the head", late.FullCores, 13)
	if late.Verdict != api.VerdictInfeasible {
		t.Errorf("verdict %s, want infeasible", late.Verdict)
	}
	if past := g.Forecast(dag.Default(), 5, dag.Supply{Cores: 2}, 30); past.Stages[0].Deadline > 0 || past.Verdict != api.VerdictInfeasible {
		t.Errorf("a deadline that has passed: %+v", past)
	}
}

// Comparing Eq 6 with cmax stage by stage would be too coarse (docs/decisions/021).
func TestAFeasibleCaseMayAskForMoreThanAllCores(t *testing.T) {
	stages := []api.ProfileStage{stage(0, 0, 8, 10, 5, 0, 0), stage(1, 0, 8, 2, 1, 0, 0, 0), stage(2, 0, 8, 2, 1, 0, 0, 1)}
	g := mustNew(t, profile(0, 0, stages...))
	f := g.Forecast(dag.Default(), 8, dag.Supply{Cores: 2}, 0)
	asked := dag.EstimateCores(1000, f.Stages[0].Deadline, 100)
	if asked < 2*1.03 || asked > 2*1.4 {
		t.Errorf("the first stage asks for %v of 2 cores; the case should ask for somewhat more than all", asked)
	}
	if f.Verdict == api.VerdictInfeasible {
		t.Errorf("verdict %s with finish %v, want one that can be met", f.Verdict, f.Finish)
	}
}

func TestTheEarliestEndOfOneStageIsThatAtAllCores(t *testing.T) {
	g := mustNew(t, profile(3, 1, stage(0, 0, 4, 12, 6, 0, 0)))
	wantNear(t, "earliest", g.Forecast(dag.Default(), 5, dag.Supply{Cores: 2}, 0).Earliest, 10)
}

// Sec 6.2: anr = sum(nomRate_s w_s) / sum(w_s), w_s being Eq 2 at the time of s.
func TestSection62AverageNominalRateWeighsByEq2(t *testing.T) {
	p := profile(1, 1, stage(0, 0, 4, 10, 10, 0, 3), stage(1, 0, 4, 20, 20, 0, 6, 0), stage(2, 0, 4, 30, 30, 0, 9, 1))
	rates := []units.Rate{100, 250, 700}
	for i := range p.Stages {
		p.Stages[i].NominalRate = rates[i]
		p.Stages[i].Records = int64(float64(rates[i]) * float64(p.Stages[i].CoreSeconds))
	}
	for _, beta := range []float64{0, 0.3, 1} {
		var sum, weights float64
		durations := []units.Seconds{10, 20, 30}
		for i, own := range durations {
			w := dag.Weight(beta, durations[i:], own)
			sum, weights = sum+w*float64(rates[i]), weights+w
		}
		wantNear(t, "anr", mustNew(t, p).Rate(beta), units.Rate(sum/weights))
	}
	wantNear(t, "beta 1 counts stages: 3, 2 and 1", mustNew(t, p).Rate(1), (3*100+2*250+700)/6.)
}
