package profiles_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

func one(work units.Work, runs int) api.Profile {
	return api.Profile{Schema: api.ProfileSchema, Name: "one", Runs: runs, Duration: 5, Cores: 2, Head: 1, Stages: []api.ProfileStage{
		{Name: "s", Signature: "x", Tasks: 4, Duration: 4, Records: 100, CoreSeconds: work, NominalRate: units.Rate(100 / float64(work))}}}
}

// atAllCores merges a run at all cores.
func atAllCores(old, run api.Profile) api.Profile { return profiles.Merge(old, run, profiles.Terms{}) }

// paced merges a run of which all stages were held back.
func paced(old, run api.Profile) api.Profile {
	held := make(map[int]bool)
	for _, s := range run.Stages {
		held[s.ID] = true
	}
	return profiles.Merge(old, run, profiles.Terms{Held: held})
}

func TestMergeAgesExponentially(t *testing.T) {
	p := one(10, 1)
	for i, c := range []struct{ run, want units.Work }{
		{20, 15}, // the mean of two
		{30, 20}, // the mean of three
		{40, 0.7*20 + 0.3*40},
		{40, 0.7*26 + 0.3*40},
	} {
		p = atAllCores(p, one(c.run, 1))
		if got := p.Stages[0].CoreSeconds; math.Abs(float64(got-c.want)) > 1e-9 || p.Runs != i+2 {
			t.Errorf("merge %d: %v core-seconds after %d runs, want %v", i, got, p.Runs, c.want)
		}
	}
	if got := atAllCores(one(10, 0), one(20, 1)).Stages[0].CoreSeconds; got != 20 {
		t.Errorf("a hand-written profile still counts: %v core-seconds, want 20", got)
	}
}

func TestMergeDoesNotAverageDurationsOfDifferentCores(t *testing.T) {
	run := one(10, 1)
	run.Cores, run.Stages[0].Duration = 4, 2
	got := atAllCores(one(10, 5), run)
	if got.Cores != 4 || got.Stages[0].Duration != 2 || got.Duration != 3 {
		t.Errorf("%v cores, stage %v, in all %v", got.Cores, got.Stages[0].Duration, got.Duration)
	}
}

func TestMergePacedKeepsTheDurationsAtAllCores(t *testing.T) {
	run := one(20, 1)
	run.Cores, run.Stages[0].Duration, run.Duration, run.Head = 1, 40, 42, 2
	got := paced(one(10, 1), run)
	s := got.Stages[0]
	if s.Duration != 4 || got.Cores != 2 || s.CoreSeconds != 15 || got.Head != 1.5 || got.Duration != 5.5 {
		t.Errorf("%+v", got)
	}
}

// What came from other hosts is known where a run has told; a run whose driver does not tell takes nothing away.
func TestMergeKeepsWhatIsKnownOfOtherHosts(t *testing.T) {
	with := func(remote *int64, cached int64) api.Profile {
		p := one(10, 1)
		p.Stages[0].Bytes = 100
		p.Habit.Stages = map[int]api.StageHabit{0: {BytesRemote: remote, BytesCached: cached}}
		return p
	}
	for _, c := range []struct{ old, run, want *int64 }{
		{nil, nil, nil}, {nil, new(int64(50)), new(int64(50))}, {new(int64(50)), nil, new(int64(50))},
		{new(int64(50)), new(int64(90)), new(int64(70))}, {new(int64(0)), new(int64(0)), new(int64(0))},
	} {
		got := atAllCores(with(c.old, 10), with(c.run, 10)).Habit.Stages[0]
		if d := cmp.Diff(c.want, got.BytesRemote); d != "" || got.BytesCached != 10 {
			t.Errorf("%d cached; remote (-want +got):\n%s", got.BytesCached, d)
		}
		packed, err := profiles.Pack(with(got.BytesRemote, 10))
		if err != nil {
			t.Fatal(err)
		}
		if back, err := profiles.Unpack(packed); err != nil || cmp.Diff(c.want, back.Habit.Stages[0].BytesRemote) != "" {
			t.Errorf("packed: %v, %v", back.Habit.Stages[0].BytesRemote, err)
		}
	}
}

func TestMergeKeepsWhatIsKnownOfReading(t *testing.T) {
	with := func(reading units.Fraction) api.Profile {
		p := one(10, 1)
		p.Stages[0].Reading = reading
		return p
	}
	for _, c := range []struct{ old, run, want units.Fraction }{{0, 0, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.9, 0.7}} {
		if got := atAllCores(with(c.old), with(c.run)).Stages[0].Reading; math.Abs(float64(got-c.want)) > 1e-9 {
			t.Errorf("%v and %v: %v, want %v", c.old, c.run, got, c.want)
		}
	}
}

func TestAStageTellsWhatItsTasksCostAlike(t *testing.T) {
	run := func(fixed units.Fraction, work units.Work) api.ProfileStage {
		r, d := profiles.NewRecorder("a"), done(0)
		d.FixedPart = fixed
		r.Ready(1, ready(0, 0, "x"))
		r.Done(2, d)
		r.Work(api.StageKey{}, work)
		p, err := r.Finish(3, 2)
		if err != nil {
			t.Fatal(err)
		}
		return p.Stages[0]
	}
	if got := run(0.25, 3.9).FixedPart; got != 0.25 {
		t.Errorf("fixed part %v, want what the driver found", got)
	}
	if got := run(0.25, 4.1).FixedPart; got != 0 {
		t.Errorf("fixed part %v, where most is done outside the tasks' threads", got)
	}
	if got := run(units.Fraction(math.NaN()), 3).FixedPart; got != 0 {
		t.Errorf("fixed part %v of a driver that does not know", got)
	}
	old, next := one(10, 1), one(10, 1)
	old.Stages[0].FixedPart, next.Stages[0].FixedPart = 0.8, 0.4
	if got := atAllCores(old, next).Stages[0].FixedPart; math.Abs(float64(got)-0.6) > 1e-9 {
		t.Errorf("0.8 and 0.4 merge to %v", got)
	}
}

// Where Python workers do most of a stage its longest task is a slot's time, which a quota stretches.
func TestTheLongestTaskIsWithoutWhatItsSlotWaited(t *testing.T) {
	run := func(cpu, held units.Seconds) units.Seconds {
		r, d := profiles.NewRecorder("a"), done(0)
		d.TaskCPU, d.TaskTime, d.LongestTask = cpu, held, 3
		r.Ready(1, ready(0, 0, "x"))
		r.Done(2, d)
		r.Work(api.StageKey{}, 8)
		p, err := r.Finish(3, 2)
		if err != nil {
			t.Fatal(err)
		}
		return p.Stages[0].LongestTask
	}
	for _, c := range []struct{ cpu, held, want units.Seconds }{{1, 8, 3}, {1, 16, 1.5}, {1, 7, 3}, {5, 16, 3}} {
		if got := run(c.cpu, c.held); math.Abs(float64(got-c.want)) > 1e-9 {
			t.Errorf("%v of the threads, %v of the slots: %v, want %v", c.cpu, c.held, got, c.want)
		}
	}
}

func TestAStageTellsWhatATaskCosts(t *testing.T) {
	run := func(cost, held units.Seconds) units.Work {
		r, d := profiles.NewRecorder("a"), done(0)
		d.TaskCost, d.TaskTime = cost, held
		r.Ready(1, ready(0, 0, "x"))
		r.Done(2, d)
		r.Work(api.StageKey{}, 4)
		p, err := r.Finish(3, 2)
		if err != nil {
			t.Fatal(err)
		}
		return p.Stages[0].TaskCost
	}
	for _, c := range []struct {
		cost, held units.Seconds
		want       units.Work
	}{{0, 4, 0}, {0.03, 4, 0.03}, {0.03, 3, 0.03}, {0.03, 8, 0.015}, {0.001, 4, 0.005}, {units.Seconds(math.NaN()), 4, 0}} {
		if got := run(c.cost, c.held); math.Abs(float64(got-c.want)) > 1e-9 {
			t.Errorf("%v of a slot, all tasks held theirs for %v: %v, want %v", c.cost, c.held, got, c.want)
		}
	}
	with := func(cost units.Work) api.Profile {
		p := one(10, 1)
		p.Stages[0].TaskCost = cost
		return p
	}
	for _, c := range []struct{ old, run, full, paced units.Work }{{0, 0, 0, 0}, {0, 0.03, 0.03, 0}, {0.02, 0, 0.02, 0.02}, {0.02, 0.04, 0.03, 0.02}} {
		if got := atAllCores(with(c.old), with(c.run)).Stages[0].TaskCost; math.Abs(float64(got-c.full)) > 1e-9 {
			t.Errorf("%v and %v at all cores: %v, want %v", c.old, c.run, got, c.full)
		}
		if got := paced(with(c.old), with(c.run)).Stages[0].TaskCost; got != c.paced {
			t.Errorf("%v and %v paced: %v, want %v", c.old, c.run, got, c.paced)
		}
	}
}

func TestMergeNeverMixesTasksWithRecords(t *testing.T) {
	blind := one(10, 1)
	blind.Stages[0].Records, blind.Stages[0].NominalRate = 4, 0.4
	if got := atAllCores(blind, one(10, 1)).Stages[0]; got.Records != 100 || got.NominalRate != 10 {
		t.Errorf("%d records at %v", got.Records, got.NominalRate)
	}
	if got := atAllCores(one(10, 1), blind).Stages[0]; got.Records != 4 || got.NominalRate != 0.4 {
		t.Errorf("%d records at %v", got.Records, got.NominalRate)
	}
}

func TestMergeWithItselfChangesNothingButTheRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, 7)
		for _, merge := range []func(a, b api.Profile) api.Profile{atAllCores, paced} {
			got := merge(p, p)
			want := p
			want.Runs++
			want.Residuals = []api.Residual{{}}
			want.Habit.Stages = got.Habit.Stages // They count runs, too.
			if d := cmp.Diff(want, got, roughly); d != "" {
				t.Fatal(d)
			}
		}
	})
}

func TestMergeLiesBetweenAndStaysValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := drawProfile(t, 6)
		run, ratio := old, rapid.Float64Range(0.1, 10).Draw(t, "ratio")
		run.Stages = slices.Clone(old.Stages)
		for i := range run.Stages {
			run.Stages[i].CoreSeconds *= units.Work(ratio)
			run.Stages[i].NominalRate /= units.Rate(ratio)
		}
		old.Runs = rapid.IntRange(0, 9).Draw(t, "runs")
		got := atAllCores(old, run)
		if err := got.Validate(); err != nil {
			t.Fatal(err)
		}
		for i, s := range got.Stages {
			a, b := old.Stages[i], run.Stages[i]
			if s.CoreSeconds < min(a.CoreSeconds, b.CoreSeconds)-1e-9 || s.CoreSeconds > max(a.CoreSeconds, b.CoreSeconds)+1e-9 {
				t.Fatalf("%v core-seconds from %v and %v", s.CoreSeconds, a.CoreSeconds, b.CoreSeconds)
			}
			if want := float64(s.Records) / float64(s.CoreSeconds); math.Abs(float64(s.NominalRate)/want-1) > 1e-9 {
				t.Fatalf("rate %v does not follow from records and work: %v", s.NominalRate, want)
			}
		}
	})
}

func TestMergeFindsStagesInAnotherOrder(t *testing.T) {
	old := one(10, 1)
	old.Stages = append(old.Stages, api.ProfileStage{ID: 1, Name: "t", Signature: "y", Tasks: 4, Duration: 1, Records: 7,
		CoreSeconds: 7, NominalRate: 1})
	run := old
	run.Stages = []api.ProfileStage{old.Stages[1], old.Stages[0]}
	run.Stages[0].ID, run.Stages[1].ID = 0, 1
	got := atAllCores(old, run)
	if d := cmp.Diff(old.Stages, got.Stages, roughly); d != "" {
		t.Error(d)
	}
}

// A run whose call sites were told differently is one of the same program, and what its driver
// says now is kept.
func TestMergeFindsStagesByLineage(t *testing.T) {
	stage := func(id int, signature, lineage string, parents ...int) api.ProfileStage {
		return api.ProfileStage{ID: id, Name: signature, Signature: signature, Lineage: lineage, Parents: parents, Tasks: 4, Duration: 1, Records: 7,
			CoreSeconds: units.Work(7 + id), NominalRate: 1}
	}
	old, run := one(10, 1), one(10, 1)
	old.Stages = []api.ProfileStage{stage(0, "sum", "python"), stage(1, "sum", "python"), stage(2, "reads sum", "reads", 0)}
	run.Stages = []api.ProfileStage{stage(0, "collect", "python"), stage(1, "sum", "python"), stage(2, "reads collect", "reads", 0)}
	got := atAllCores(old, run)
	for i, want := range []string{"sum", "collect", "reads collect"} {
		if got.Stages[i].Signature != want {
			t.Errorf("stage %d has signature %q, want %q", i, got.Stages[i].Signature, want)
		}
	}
	if first := got.Stages[0].CoreSeconds; first != 7.5 { // Of the stages 0 and 1.
		t.Errorf("the first one took %v core-seconds, want the mean of 7 and 8", first)
	}
	for i := range old.Stages {
		old.Stages[i].Lineage = ""
	}
	if got := atAllCores(old, run); len(got.Stages) != 5 {
		t.Errorf("without lineages: %d stages, want two that the run lacks and two that are new", len(got.Stages))
	}
	run.Stages[0].Signature, run.Stages[2].Signature = "sum", "reads sum"
	if got := atAllCores(old, run); len(got.Stages) != 3 || got.Stages[2].Lineage != "reads" {
		t.Errorf("the lineage that a driver says is not kept: %+v", got.Stages)
	}
}
