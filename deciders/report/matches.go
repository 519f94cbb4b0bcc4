package report

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/pause"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// match is what the profile of a's run knows of its stage s; nil without a profile.
func match(a *ledger.App, s *ledger.Stage) *api.StageMatch {
	if a.Profile == nil {
		return nil
	}
	m := &api.StageMatch{Known: api.StageNew, Stage: ledger.Unmatched}
	if s.Estimated() {
		if _, told := estimate.Told(s); !told {
			m.Known, m.By = api.StageEstimated, string(s.Extra.By)
		}
		return m
	}
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
			State: string(api.StageGone), Tasks: annotation.Tasks, Job: new(annotation.Job),
			Parents: slices.Clone(annotation.Parents), Executors: []api.ExecutorID{}, Samples: []api.AppSample{},
			Match: &api.StageMatch{Known: api.StageGone, Stage: id}})
	}
	return rows
}

// coming are the stages of a's profile that are still to come, of one that runs, as they are planned now.
func coming(v ledger.View, p estimate.Policy, a *ledger.App) (rows []api.AppStage) {
	if a.Profile == nil || !a.Running() {
		return nil
	}
	for _, f := range p.Outlook(v).Ahead(a) {
		annotation, _ := a.Profile.Graph.Stage(f.ID)
		d := api.AppStage{StageKey: api.StageKey{Stage: ledger.Unmatched}, Name: annotation.Name, State: "coming",
			Tasks: annotation.Tasks, Job: new(annotation.Job), Parents: slices.Clone(annotation.Parents), Start: f.Start,
			Duration: f.Duration, Records: annotation.Records, Executors: []api.ExecutorID{}, Samples: []api.AppSample{},
			Match: &api.StageMatch{Known: api.StageKnown, Stage: f.ID}}
		if f.Deadline > 0 {
			d.Deadline, d.Cores = f.Deadline, f.Cores
		}
		rows = append(rows, d)
	}
	return rows
}

// lacking says how much of what a has done its profile lacks, "" where that has all.
func lacking(a *ledger.App) string {
	n, work, all := 0, units.Work(0), units.Work(0)
	for _, s := range a.Order {
		all += s.CPU()
		if s.Estimated() {
			n, work = n+1, work+s.CPU()
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("a stage that its profile lacks took %.1f of %.1f core-seconds", float64(work), float64(all))
	}
	return fmt.Sprintf("%d stages that its profile lacks took %.1f of %.1f core-seconds", n, float64(work), float64(all))
}

// leastPause is from when on a pause of targets is told at the end.
const leastPause units.Seconds = 0.5

// pauses says for how long a's targets were paused, "" for not at all.
func pauses(a *ledger.App, now units.Instant) string {
	paused := pause.Until(a, a.Elapsed(now))
	if paused < leastPause {
		return ""
	}
	return fmt.Sprintf("its targets were paused for %s, as too little was known of its work", saySpan(paused))
}

// leastUsed is from when on time for what nobody foresaw is told.
const leastUsed units.Seconds = 0.5

// used says what a took at all cores for what nobody foresaw, and of what that was kept; "" of little.
func used(p estimate.Policy, v ledger.View, a *ledger.App) string {
	took, most := estimate.Unforeseen(a)
	r := reserve(p, v, a)
	if r == nil || took < leastUsed || most == nil {
		return ""
	}
	return fmt.Sprintf("it took %s for what nobody foresaw, most in stage %d, and had kept %s for that", saySpan(took),
		most.Key().Stage, saySpan(r.Time))
}

// reserve is what a keeps for what nobody foresees, nil for nothing.
func reserve(p estimate.Policy, v ledger.View, a *ledger.App) *api.Reserve {
	if a.Profile == nil {
		return nil
	}
	r, keeps := estimate.ReserveOf(a, p.Outlook(v))
	if !keeps {
		return nil
	}
	return r.Told()
}

// unforeseen is what of a its profile did not foresee, as parts of a sentence.
func unforeseen(p estimate.Policy, v ledger.View, a *ledger.App) (parts []string) {
	for _, part := range []string{lacking(a), used(p, v, a), estimate.Order(a), pauses(a, v.Now())} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}
