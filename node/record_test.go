package node

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

func TestAttributionFollowsReportedThenRunningThenLast(t *testing.T) {
	now := units.Instant(10 * time.Second)
	ago := func(d time.Duration) units.Instant { return now.Add(-d) }
	for name, c := range map[string]struct {
		a, b       record
		wantA      units.Work
		wantB      units.Work
		unassigned units.Work
	}{
		"reported":      {record{pageDelta: 3}, record{pageDelta: 1, running: 9}, 3, 1, 0},
		"running":       {record{running: 1}, record{running: 3}, 1, 3, 0},
		"last active":   {record{active: ago(3 * time.Second)}, record{active: ago(time.Second)}, 0, 4, 0},
		"too long ago":  {record{active: ago(3 * time.Second)}, record{active: ago(2 * time.Second)}, 0, 0, 4},
		"never at work": {record{}, record{}, 0, 0, 4},
	} {
		a, b := c.a, c.b
		rest := attribute([]*record{&a, &b}, 4, now)
		if a.used != c.wantA || b.used != c.wantB || rest != c.unassigned {
			t.Errorf("%s: %v, %v and %v left, want %v, %v and %v", name, a.used, b.used, rest, c.wantA, c.wantB, c.unassigned)
		}
	}
}

func TestAttributionLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := units.Instant(100 * time.Second)
		var records []*record
		for range rapid.IntRange(0, 8).Draw(t, "stages") {
			records = append(records, &record{
				pageDelta: units.Work(rapid.Float64Range(0, 2).Draw(t, "delta")),
				running:   rapid.IntRange(0, 4).Draw(t, "running"),
				active:    units.Instant(rapid.Int64Range(0, int64(now)).Draw(t, "active")),
			})
		}
		delta := units.Work(rapid.Float64Range(0, 8).Draw(t, "used"))
		sum := attribute(records, delta, now)
		for _, r := range records {
			if r.used < 0 {
				t.Fatalf("a stage was given %v", r.used)
			}
			sum += r.used
		}
		if math.Abs(float64(sum-delta)) > 1e-9 {
			t.Fatalf("%v of %v attributed", sum, delta)
		}
	})
}

func TestAFailedTasksCPUIsNotTakenBack(t *testing.T) {
	r := &record{}
	r.see(&meter.Stage{Running: 1, RunningCPU: 5}, 1, false)
	r.see(&meter.Stage{Running: 1, RunningCPU: 1, Failed: 1}, 2, false)
	if r.pageDelta != 0 {
		t.Errorf("delta %v", r.pageDelta)
	}
}

func TestWhatWasDoneBeforeAnybodyWatchedIsNobodys(t *testing.T) {
	w := newWorld(t, testConfig(2))
	x := w.add(Key{appA, "1"}, 2)
	x.cpu = 500
	s := x.submit(3, 10, 1)
	s.finished, s.cpu, s.weight = 100, 400, 100
	w.ticks(4)
	got := w.status.Stages[0]
	if got.Stage != 3 || got.CPU > 4 || got.CPU < 1.5 {
		t.Errorf("%+v, want what was used in the 2 s that it was watched", got)
	}
}

func TestTwoStagesOnOneExecutorShareItsCPU(t *testing.T) {
	w := newWorld(t, testConfig(2))
	w.ready(1, planApp(appA, 2, ids("1")))
	x := w.exec(Key{appA, "1"})
	x.overhead = 0.25
	x.submit(0, 1, 4)
	x.submit(1, 1, 4)
	w.ticks(8)
	var sum units.Work
	for _, s := range w.e.Status(w.now).Stages {
		if math.Abs(float64(s.CPU-4)) > 0.3 {
			t.Errorf("stage %d: %v core-seconds, want about half of 8", s.Stage, float64(s.CPU))
		}
		if len(s.Samples) > 0 && s.Samples[0].Grant != api.Unknown {
			t.Errorf("grant %v without a target", s.Samples[0].Grant)
		}
		sum += s.CPU
	}
	if math.Abs(float64(sum)-x.cpu) > 1e-6 {
		t.Errorf("%v attributed, %v used", float64(sum), x.cpu)
	}
}

// What the page says of large tasks that have finished is reported, the stage's
// executor by executor.
func TestLargeTasksAreReported(t *testing.T) {
	r := record{}
	r.see(&meter.Stage{Finished: 1, LargeCPU: 8, LargeReading: 6}, 1, false)
	var s api.StageStatus
	if r.describe(&s, Key{appA, "1"}, 1); s.LargeCPU != 8 || s.LargeReading != 6 {
		t.Errorf("status %+v", s)
	}
}
