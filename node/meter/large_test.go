package meter

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Of the last task it is known how much it has to read, though its weight does not say so:
// 12 of 20 weigh as much as they read, the last one reads the other 1,400 records.
func TestTheLastTaskReadsWhatIsLeft(t *testing.T) {
	target := api.StageTarget{Weight: 20, Tasks: 13, Work: 40, Records: 2000, Reading: 0.9}
	done := func(failed int, read float64) float64 {
		m := New(Settings{Progress: Work, Reading: 0.5}, State{})
		m.widest = 8
		stage := Stage{Weight: 12, Finished: 12, Failed: failed, Records: 600, CPU: 24, Running: 1, RunningRecords: read}
		m.Observe(&target, &stage, []Task{{Weight: 8, CPU: 7, Records: read}}, 0)
		return m.Done() - stage.Weight
	}
	if got := done(0, 700); math.Abs(got-(3.6+0.5*(3.5-3.6))) > 1e-9 {
		t.Errorf("half read: %.3f of 8 done", got)
	}
	// What a failed task has read is counted, and tells nothing.
	if got := done(1, 700); math.Abs(got-(6.3+0.125*(3.5-6.3))) > 1e-9 {
		t.Errorf("half read after a failure: %.3f of 8 done", got)
	}
	if got := done(0, 3000); got > params.MostOfLarge*8+1e-9 {
		t.Errorf("more records than there are: %.3f of 8 done", got)
	}
}

// What a large task of weight 10 has done, by what its CPU time and its records stand for.
func TestALargeTaskIsMeasuredByItsRecords(t *testing.T) {
	for name, c := range map[string]struct {
		reading        units.Fraction
		byCPU, records float64
		want           float64
	}{
		"without records":                       {0.8, 4, 0, 4},
		"CPU time is ahead: records":            {0.8, 9, 5, 4},
		"CPU time is behind, early: nearly it":  {0.8, 0.4, 1, 0.44},
		"CPU time is behind, late: the records": {0.8, 5, 9.9, 0.99*7.92 + 0.01*5},
		"reading is all":                        {1, 5, 9.9, 0.99*9.9 + 0.01*5},
		"unknown: CPU time":                     {0, 6, 6, 6},
		"unknown: not what is not read":         {0, 9.5, 6, 8},
		"unknown: half of what is read":         {0, 1, 6, 3},
		"unknown, all is read":                  {0, 8, 10, 8},
		"unknown, more than all":                {0, 9.9, 14, 9.5},
	} {
		m := New(Settings{Reading: 0.5}, State{})
		if got := m.largePart(c.reading, &Task{Weight: 10, CPU: 1}, c.byCPU, c.records); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %.4f, want %.4f", name, got, c.want)
		}
	}
}

// When all is read, the rest takes as long as the task's own reading says, whatever other
// tasks took.
func TestAfterReadingATaskGoesByItsOwnTime(t *testing.T) {
	m := New(Settings{Reading: 0.5}, State{})
	see := func(cpu units.Work, records float64) float64 {
		return m.largePart(0.6, &Task{Partition: 3, Weight: 10, CPU: cpu}, 1, records)
	}
	see(5, 9)
	for cpu, want := range map[units.Work]float64{6: 6, 8: 8, 9: 9, 11: 9.9} {
		see(6, 10)
		if got := see(cpu, 10); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v s of which 6 were for reading: %.3f, want %.1f", float64(cpu), got, want)
		}
	}
	// Another task, or the same one again, begins anew.
	if got := m.largePart(0.6, &Task{Partition: 4, Weight: 10, CPU: 7}, 1, 10); math.Abs(got-6) > 1e-9 {
		t.Errorf("another task: %.3f, want 6", got)
	}
}

// The doubt of a large task goes as it is done.
func TestTheDoubtGoesWithWhatIsLeft(t *testing.T) {
	if whole, half, end := doubted(10, 10), doubted(10, 5), doubted(10, 0.1); whole != 15.5 || half != 6.5 || end > 0.1056 {
		t.Errorf("%v, %v, %v", whole, half, end)
	}
}
