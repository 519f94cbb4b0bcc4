package profiles_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// What a run did beside others took its work and more time: the time is not its own.
func TestMergeContendedTakesWorkAndNoTimes(t *testing.T) {
	run := one(20, 1)
	run.Cores, run.Head, run.Tail, run.Contended = 8, 9, 9, true
	run.Stages[0].Duration, run.Stages[0].Gap, run.Stages[0].LongestTask = 40, 5, 2
	got := atAllCores(one(10, 1), run)
	want := one(15, 2)
	want.Stages[0].LongestTask = 1
	// It used twice what was known: at all cores it had 4 s more before it, and nothing behind it.
	want.Residuals = []api.Residual{{Unforeseen: [api.ReservePlaces]units.Seconds{4}}}
	want.Habit.Stages = got.Habit.Stages // Work is its own: it teaches how that spreads.
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// The first run alone replaces the times of those that were not, and from then on
// they count.
func TestTheFirstRunAloneGivesTheTimes(t *testing.T) {
	old := one(10, 3)
	old.Contended, old.HeadContended, old.Stages[0].Duration, old.Stages[0].Gap, old.Head, old.Tail = true, true, 40, 5, 9, 6
	run := one(10, 1)
	got := atAllCores(old, run)
	if got.Contended || got.Stages[0].Duration != 4 || got.Head != 1 || got.HeadContended || got.Stages[0].Gap != 0 || got.Tail != 0 || got.Duration != 5 {
		t.Errorf("%+v", got)
	}
	if paced := paced(old, run); !paced.Contended || paced.Stages[0].Duration != 40 || paced.HeadContended || paced.Head != 1 {
		t.Errorf("a paced run gave times: %+v", paced)
	}
}

func TestAloneMakesTimesUpOfWork(t *testing.T) {
	p := one(10, 1)
	if d := cmp.Diff(p, profiles.Alone(p)); d != "" {
		t.Errorf("a run alone changed:\n%s", d)
	}
	p.Contended, p.Stages[0].Duration = true, 40
	for _, c := range []struct {
		tasks   int
		longest units.Seconds
		want    units.Seconds
	}{{4, 0, 5}, {1, 0, 10}, {4, 7, 7}} {
		p.Stages[0].Tasks, p.Stages[0].LongestTask = c.tasks, c.longest
		if got := profiles.Alone(p); got.Stages[0].Duration != c.want || got.Duration != 1+c.want {
			t.Errorf("%+v: stage %v, in all %v", c, got.Stages[0].Duration, got.Duration)
		}
	}
	if p.Stages[0].Duration != 40 {
		t.Error("the profile itself was changed")
	}
}

// A stage on cold executors teaches what warming up takes on each of them, not what
// the stage itself does.
func TestWarmedTellsAStageFromItsWarmup(t *testing.T) {
	run := one(18, 1)
	for _, c := range []struct {
		known     units.Work
		executors int
		work      units.Work
		warmup    units.Work
	}{{0, 0, 14, 0}, {0, 1, 10, 8}, {0, 2, 10, 4}, {2, 2, 10, 3}} {
		old := one(10, 1)
		old.Stages[0].Warmup = c.known
		got := profiles.Merge(old, run, profiles.Terms{Cold: map[int]int{0: c.executors}}).Stages[0]
		if got.CoreSeconds != c.work || got.Warmup != c.warmup || got.NominalRate != units.Rate(100/float64(c.work)) {
			t.Errorf("%+v: %v core-seconds, %v to warm up, rate %v", c, got.CoreSeconds, got.Warmup, got.NominalRate)
		}
	}
}
