package profiles

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/units"
)

// A job is paced each night, on data that grow by 2 % a night: each run teaches records and CPU time, and no times, for
// all its stages were held back. What the profile says of all cores grows with its work: no stage takes less time than
// its CPU time on all the cores that there were.
func TestANightlyJobThatGrows(t *testing.T) {
	stage := func(id int, by float64) api.ProfileStage {
		records := int64(1e6 * by)
		s := api.ProfileStage{ID: id, Job: id, Name: "s", Signature: string(rune('a' + id)), Parents: []int{}, Tasks: 64,
			Records: records, Bytes: 100 * records, CoreSeconds: units.Work(80 * by), Duration: units.Seconds(11 * by),
			Gap: 0.5, LongestTask: 1.5}
		s.NominalRate = units.Rate(float64(s.Records) / float64(s.CoreSeconds))
		return s
	}
	run := func(by float64) api.Profile {
		p := api.Profile{Schema: api.ProfileSchema, Name: "p", Runs: 1, Cores: 8, Head: 2, Tail: 1, Exit: 1}
		for id := range 3 {
			p.Stages = append(p.Stages, stage(id, by))
		}
		p.Duration = replay(p)
		return p
	}
	known := run(1)
	held := Terms{Held: map[int]bool{0: true, 1: true, 2: true}}
	by := 1.0
	for range 60 {
		by *= 1.02
		known = Merge(known, run(by), held)
	}
	g, err := dag.New(known)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := dag.New(run(by))
	if err != nil {
		t.Fatal(err)
	}
	says := g.Forecast(dag.Default(), 60, dag.Supply{Cores: 8, Slots: 8}, 0)
	is := truth.Forecast(dag.Default(), 60, dag.Supply{Cores: 8, Slots: 8}, 0)
	if s := known.Stages[0]; float64(s.Duration)*8 < float64(s.CoreSeconds) {
		t.Errorf("%.0f core-seconds in %.1f s on 8 cores", s.CoreSeconds, s.Duration)
	}
	if says.Verdict != is.Verdict || math.Abs(float64(says.FullCores/is.FullCores)-1) > 0.06 {
		t.Errorf("the verdict is %s (%.0f s), and %s (%.0f s) would be right", says.Verdict, says.FullCores, is.Verdict,
			is.FullCores)
	}
}

// The duration of a stage that was held back grows with what is counted of its input, and stays where nothing is.
func TestADurationGrowsWithWhatIsCounted(t *testing.T) {
	whole := weights{all: 1}
	for name, c := range map[string]struct {
		old, run api.ProfileStage
		want     units.Seconds
	}{
		"records":            {api.ProfileStage{Tasks: 4, Records: 100}, api.ProfileStage{Tasks: 4, Records: 150}, 15},
		"fewer":              {api.ProfileStage{Tasks: 4, Records: 100}, api.ProfileStage{Tasks: 4, Records: 50}, 5},
		"bytes":              {api.ProfileStage{Tasks: 4, Records: 4, Bytes: 10}, api.ProfileStage{Tasks: 4, Records: 4, Bytes: 20}, 20},
		"records no more":    {api.ProfileStage{Tasks: 4, Records: 100}, api.ProfileStage{Tasks: 4, Records: 4}, 10},
		"bytes in its stead": {api.ProfileStage{Tasks: 4, Records: 100, Bytes: 10}, api.ProfileStage{Tasks: 4, Records: 4, Bytes: 12}, 12},
		"neither":            {api.ProfileStage{Tasks: 4, Records: 4}, api.ProfileStage{Tasks: 8, Records: 8}, 10},
	} {
		c.old.Duration, c.old.CoreSeconds, c.run.Duration, c.run.CoreSeconds = 10, 20, 99, 30
		if got := mergeStage(c.old, c.run, 1, whole).Duration; math.Abs(float64(got-c.want)) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A stage that was tried again teaches nothing, one that ran beside its further attempt no times, and the others all;
// no stage counts as missed.
func TestARunWithARetriedStageTeachesTheOthers(t *testing.T) {
	attempt := func(r *Recorder, stage, n, job int, from, to units.Seconds, work units.Work) {
		key := api.StageKey{Stage: stage, Attempt: n}
		r.Ready(from, api.StageReady{StageKey: key, Job: job, Name: "s", Signature: string(rune('a' + stage)), Tasks: 4, Records: 100})
		r.Done(to, api.StageDone{StageKey: key, Failed: stage == 0 && n == 0})
		r.Work(key, work)
	}
	run := func(retried bool) (api.Profile, Terms) {
		r := NewRecorder("p")
		at := units.Seconds(2)
		attempt(r, 0, 0, 0, at, at+3, 10)
		if retried {
			attempt(r, 0, 1, 0, at+4, at+14, 30)
			attempt(r, 1, 0, 0, at+1, at+11, 30)
			at += 14
		} else {
			r.Attempts[0].Done.Failed = false
			attempt(r, 1, 0, 0, at+1, at+4, 10)
			at += 4
		}
		attempt(r, 2, 0, 2, at+1, at+9, 40)
		p, err := r.Finish(at+10, 8)
		if err != nil {
			t.Fatal(err)
		}
		return p, r.Terms()
	}
	old, _ := run(false)
	old.Stages[2].CoreSeconds, old.Stages[2].Duration, old.Stages[0].Missed = 20, 4, 2
	p, terms := run(true)
	got := Merge(old, p, terms)
	if len(got.Stages) != 3 || got.Runs != 2 {
		t.Fatalf("%+v", got)
	}
	tried, beside, other := got.Stages[0], got.Stages[1], got.Stages[2]
	if tried.CoreSeconds != 10 || tried.Duration != old.Stages[0].Duration || tried.Missed != 0 {
		t.Errorf("the stage that was tried again: %+v", tried)
	}
	if beside.CoreSeconds != 20 || beside.Duration != old.Stages[1].Duration {
		t.Errorf("the stage beside its further attempt: %+v", beside)
	}
	if other.CoreSeconds != 30 || other.Duration != 6 || other.Gap != old.Stages[2].Gap {
		t.Errorf("another stage: %+v", other)
	}
}
