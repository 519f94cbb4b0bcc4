package profiles_test

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// What an unknown stage takes is estimated from the first that is known of: its kind in the profile, what
// has run that reads the same way, the profile's mean task.
func TestEstimate(t *testing.T) {
	at := func(name string, tasks int, records, bytes int64, work units.Work) api.ProfileStage {
		return api.ProfileStage{Name: name, Signature: name, Lineage: name + "'s lineage", Tasks: tasks, Records: records, Bytes: bytes,
			CoreSeconds: work, NominalRate: units.Rate(float64(records) / float64(work)), LongestTask: 2 * units.Seconds(work) / units.Seconds(tasks),
			Query: &api.QueryStage{Shape: name + "'s shape", Exchange: 1}}
	}
	p := api.Profile{Cores: 8, Stages: []api.ProfileStage{at("scan", 10, 1000, 4000, 20), at("join", 20, 500, 1000, 40)}}
	ran := func(parents []int, tasks int, records, bytes int64, work units.Work) profiles.Ended {
		return profiles.Ended{Ready: api.StageReady{Parents: parents, Tasks: tasks, Records: records, Bytes: bytes}, Work: work}
	}
	ended := []profiles.Ended{ran(nil, 4, api.Unknown, 100, 5), ran([]int{1}, 4, 300, 100, 1), ran([]int{1}, 4, 100, 100, 3)}
	for name, c := range map[string]struct {
		ready api.StageReady
		work  units.Work
		by    profiles.Basis
	}{
		"of its signature, by byte": {api.StageReady{Signature: "scan", Tasks: 5, Records: 9, Bytes: 2000}, 10, profiles.ByKind},
		"by record":                 {api.StageReady{Signature: "scan", Tasks: 5, Records: 500, Bytes: api.Unknown}, 10, profiles.ByKind},
		"by task":                   {api.StageReady{Signature: "scan", Tasks: 5, Records: api.Unknown, Bytes: api.Unknown}, 10, profiles.ByKind},
		"of its lineage":            {api.StageReady{Signature: "new", Lineage: "join's lineage", Tasks: 5, Bytes: 500}, 20, profiles.ByKind},
		"of its query's shape": {api.StageReady{Signature: "new", Query: &api.QueryStage{Shape: "join's shape", Nth: 7, Exchange: 1}, Tasks: 5, Bytes: 500},
			20, profiles.ByKind},
		"of another exchange of that": {api.StageReady{Signature: "new", Query: &api.QueryStage{Shape: "join's shape", Exchange: 2}, Tasks: 5, Bytes: 50},
			2.5, profiles.ByRun},
		"of its name":                 {api.StageReady{Signature: "new", Name: "join", Tasks: 5, Bytes: 500}, 20, profiles.ByKind},
		"one that reads a source":     {api.StageReady{Signature: "new", Tasks: 5, Bytes: 50}, 2.5, profiles.ByRun},
		"one that reads a shuffle":    {api.StageReady{Signature: "new", Parents: []int{1}, Tasks: 5, Bytes: 50}, 1, profiles.ByRun},
		"one that nothing is told of": {api.StageReady{Signature: "new", Parents: []int{1}, Tasks: 4, Bytes: api.Unknown, Records: api.Unknown}, 2, profiles.ByRun},
	} {
		s, by := profiles.Estimate(p, ended, c.ready)
		if math.Abs(float64(s.CoreSeconds-c.work)) > 1e-9 || by != c.by {
			t.Errorf("%s: %v core-seconds by %s, want %v by %s", name, float64(s.CoreSeconds), by, float64(c.work), c.by)
		}
		if work := units.Work(float64(s.Records) / float64(s.NominalRate)); math.Abs(float64(work-c.work)) > 1e-9 {
			t.Errorf("%s: its rate says %v core-seconds", name, float64(work))
		}
	}
	s, by := profiles.Estimate(p, nil, api.StageReady{Signature: "new", Tasks: 16, Bytes: 50})
	if by != profiles.ByTask || s.CoreSeconds != 32 || s.LongestTask != 4 || s.Duration != 4 {
		t.Errorf("by the mean task: %+v, %s", s, by)
	}
}
