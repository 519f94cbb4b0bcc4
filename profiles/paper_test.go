package profiles_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

func recordOne(t *testing.T, a api.StageReady, b api.StageDone, work units.Work) api.ProfileStage {
	t.Helper()
	r := profiles.NewRecorder("one")
	r.Ready(2, a)
	r.Done(6, b)
	r.Work(a.StageKey, work)
	p, err := r.Finish(7, 2)
	if err != nil {
		t.Fatal(err)
	}
	if p.Head != 2 || p.Tail != 1 || p.Duration != 7 || p.Runs != 1 || p.Cores != 2 {
		t.Errorf("profile: %+v", p)
	}
	return p.Stages[0]
}

// Section 3: an annotation has duration, number of tasks, records read, records
// written and nominal rate (records per second and core).
func TestSection3Annotation(t *testing.T) {
	a, b := ready(4, 0, "map"), done(4)
	a.Records, a.Bytes, b.RecordsRead, b.RecordsWritten, b.BytesWritten = 1200, 5000, 1199, 300, 900
	want := api.ProfileStage{Name: "map", Signature: "map", Tasks: 4, Duration: 4, Records: 1200, Bytes: 5000, RecordsWritten: 300,
		BytesWritten: 900, CoreSeconds: 6, NominalRate: 200, LongestTask: 0.5}
	if d := cmp.Diff(want, recordOne(t, a, b, 6)); d != "" {
		t.Error(d)
	}
}

// What came from other hosts and from memory is a habit of the stage, of each of those that it stands for; of a driver
// that does not tell nothing is known.
func TestAStageTellsWhereItsBytesCameFrom(t *testing.T) {
	for _, remote := range []*int64{nil, new(int64(0)), new(int64(2000))} {
		b := done(4)
		b.BytesRead, b.BytesRemote, b.BytesCached = 5000, remote, 1000
		r := profiles.NewRecorder("one")
		r.Ready(2, ready(4, 0, "map"))
		r.Done(6, b)
		p, err := r.Finish(7, 2)
		if err != nil {
			t.Fatal(err)
		}
		if h := p.Habit.Stages[0]; cmp.Diff(remote, h.BytesRemote) != "" || remote != nil && h.BytesCached != 1000 {
			t.Errorf("%+v, want %v", h, remote)
		}
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// The nominal rate is input records per core-second that the stage's cgroups really used.
func TestWorkIsWhatTheCgroupsUsed(t *testing.T) {
	b := done(0) // Its tasks report 2 s.
	for _, c := range []struct{ seen, want units.Work }{{3, 3}, {0, 2}, {1.5, 2}} {
		if got := recordOne(t, ready(0, 0, "map"), b, c.seen).CoreSeconds; got != c.want {
			t.Errorf("nodes saw %v core-seconds: recorded %v, want %v", c.seen, got, c.want)
		}
	}
	b.TaskCPU = 0
	if got := recordOne(t, ready(0, 0, "map"), b, 0).CoreSeconds; !(got > 0) {
		t.Errorf("nobody saw any work: recorded %v, want something above 0", got)
	}
}

func TestRecordsAreTheNumberOfTasksWhereSparkCountsNone(t *testing.T) {
	a, b := ready(0, 0, "parallelize"), done(0)
	s := recordOne(t, a, b, 8)
	if s.Records != 4 || s.NominalRate != 0.5 || s.Bytes != 0 {
		t.Errorf("no counts: %+v", s)
	}
	b.RecordsRead, b.BytesRead = 80, 640
	s = recordOne(t, a, b, 8)
	if s.Records != 80 || s.NominalRate != 10 || s.Bytes != 640 {
		t.Errorf("counted while it ran: %+v", s)
	}
}

// Eq 6 with the real input: inputRecords is the sum of what the parents wrote, which is so many times the annotation's.
func TestEq6TakesTheInputThatTheStageReallyHas(t *testing.T) {
	counted := api.ProfileStage{Tasks: 4, Records: 1000, Bytes: 64000, CoreSeconds: 10, NominalRate: 100}
	tasks := api.ProfileStage{Tasks: 4, Records: 4, Bytes: 64000, CoreSeconds: 10, NominalRate: 0.4}
	blind := api.ProfileStage{Tasks: 4, Records: 4, CoreSeconds: 10, NominalRate: 0.4}
	for _, c := range []struct {
		what           string
		annotation     api.ProfileStage
		records, bytes int64
		ratio          float64
	}{
		{"records first", counted, 1500, 64000, 1.5},
		{"bytes where records are not known", counted, api.Unknown, 128000, 2},
		{"nothing counted says nothing", counted, 0, 0, 1},
		{"a number of tasks is no number of records", tasks, 1500, 32000, 0.5},
		{"no measure in common", blind, 1500, 32000, 1},
	} {
		if got, _ := profiles.Ratio(c.annotation, c.records, c.bytes); got != c.ratio {
			t.Errorf("%s: ratio %v, want %v", c.what, got, c.ratio)
		}
	}
}
