package report

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
)

// match is what the profile of a's run knows of its stage s; nil without a profile.
func match(a *ledger.App, s *ledger.Stage) *api.StageMatch {
	if a.Profile == nil {
		return nil
	}
	m := &api.StageMatch{Known: api.StageNew, Stage: ledger.Unmatched}
	if found, known := a.Profile.Match.Of(s.Key().Stage); known && s.Annotation != ledger.Unmatched {
		m.Known, m.Stage, m.By, m.Sure = api.StageKnown, found.Annotation.ID, string(found.By), found.Sure
	}
	return m
}

// mostGone is how many stages are told of that do not come.
const mostGone = 20

// gone are the stages of a's profile that do not come in its run, the first of them. Of a run that has ended
// well all are gone that have not come.
func gone(a *ledger.App) (rows []api.AppStage) {
	if a.Profile == nil {
		return nil
	}
	ids := a.Profile.Match.Gone()
	if a.Outcome.State == api.AppFinished {
		ids = append(ids, a.Profile.Match.Remaining()...)
	}
	for _, id := range ids[:min(len(ids), mostGone)] {
		annotation, _ := a.Profile.Graph.Stage(id)
		rows = append(rows, api.AppStage{StageKey: api.StageKey{Stage: ledger.Unmatched}, Name: annotation.Name,
			State: string(api.StageGone), Tasks: annotation.Tasks, Executors: []api.ExecutorID{}, Samples: []api.AppSample{},
			Match: &api.StageMatch{Known: api.StageGone, Stage: id}})
	}
	return rows
}
