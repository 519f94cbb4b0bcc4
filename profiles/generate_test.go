package profiles_test

import (
	"cmp"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// drawProfile makes a random valid profile of up to n stages, in order of
// submission, whose stages have names of their own.
func drawProfile(t *rapid.T, n int) api.Profile {
	seconds := func(least, most float64, what string) units.Seconds {
		return units.Seconds(rapid.Float64Range(least, most).Draw(t, what))
	}
	size := func(least int64, what string) int64 { return rapid.Int64Range(least, 1e9).Draw(t, what) }
	p := api.Profile{Schema: api.ProfileSchema, Name: "drawn", Runs: 1, Cores: 2,
		Head: seconds(0, 20, "head"), Tail: seconds(0, 3, "tail")}
	job := 0
	for id := range rapid.IntRange(1, n).Draw(t, "stages") {
		job += rapid.SampledFrom([]int{0, 0, 1}).Draw(t, "job step") * min(id, 1)
		s := api.ProfileStage{ID: id, Job: job, Name: fmt.Sprint("stage ", id),
			Signature: rapid.SampledFrom([]string{"map", "join", "sort"}).Draw(t, "signature"),
			Tasks:     rapid.IntRange(1, 40).Draw(t, "tasks"), Duration: seconds(0.01, 9, "duration"), Gap: seconds(0, 1, "gap"),
			Records: size(1, "records"), Bytes: size(0, "bytes"), RecordsWritten: size(0, "written"), BytesWritten: size(0, "bytes written"),
			CoreSeconds: units.Work(rapid.Float64Range(0.01, 50).Draw(t, "work")), LongestTask: seconds(0, 5, "longest")}
		s.NominalRate = units.Rate(float64(s.Records) / float64(s.CoreSeconds))
		for _, earlier := range p.Stages {
			if rapid.IntRange(0, 2).Draw(t, "edge") == 0 {
				s.Parents = append(s.Parents, earlier.ID)
			}
		}
		p.Stages = append(p.Stages, s)
	}
	p.Stages[0].Gap = 0 // What passes before the first stage is the head.
	_, ends := play(p)
	p.Duration = slices.Max(ends) + p.Tail
	return p
}

// play is the oracle's run of a profile: when each stage is ready and done, by
// place.
func play(p api.Profile) (starts, ends []units.Seconds) {
	starts, ends = make([]units.Seconds, len(p.Stages)), make([]units.Seconds, len(p.Stages))
	for i, s := range p.Stages {
		start := p.Head
		for k, other := range p.Stages[:i] {
			if other.Job < s.Job || slices.Contains(s.Parents, other.ID) {
				start = max(start, ends[k])
			}
		}
		starts[i] = start + s.Gap
		ends[i] = starts[i] + s.Duration
	}
	return starts, ends
}

// sparkID is the stage id that Spark might give to a stage of a profile: ids
// have holes where stages were skipped.
func sparkID(id int) int { return 3*id + 7 }

// event is one thing that a recorder is told.
type event struct {
	at    units.Seconds
	ready *api.StageReady
	done  *api.StageDone
}

// run plays a profile as a run of an application: its events in order of time.
func run(p api.Profile) []event {
	var events []event
	starts, ends := play(p)
	for i, s := range p.Stages {
		key := api.StageKey{Stage: sparkID(s.ID)}
		parents := []int{key.Stage - 1} // one that was skipped
		for _, parent := range s.Parents {
			parents = append(parents, sparkID(parent))
		}
		events = append(events,
			event{at: starts[i], ready: &api.StageReady{StageKey: key, Job: 2 * s.Job, Name: s.Name, Signature: s.Signature,
				Parents: parents, Tasks: s.Tasks, Records: s.Records, Bytes: api.Unknown, Bindings: []api.Binding{{Executor: "1"}}}},
			event{at: ends[i], done: &api.StageDone{StageKey: key, Tasks: s.Tasks, RecordsRead: 1, BytesRead: s.Bytes,
				RecordsWritten: s.RecordsWritten, BytesWritten: s.BytesWritten, TaskCPU: units.Seconds(s.CoreSeconds / 2), LongestTask: s.LongestTask}})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return events
}

// record tells a recorder all of a run.
func record(p api.Profile) *profiles.Recorder {
	r := profiles.NewRecorder(p.Name)
	for _, e := range run(p) {
		if e.ready != nil {
			r.Ready(e.at, *e.ready)
			continue
		}
		r.Done(e.at, *e.done)
	}
	for _, s := range p.Stages {
		key := api.StageKey{Stage: sparkID(s.ID)}
		r.Work(key, s.CoreSeconds)
		r.Work(key, s.CoreSeconds/3) // An older report changes nothing.
	}
	return r
}
