package planner_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// pages asks for an answer part by part, each of which has at most that many bytes.
func (w *world) pages(verb api.Verb, q api.ControlRequest, most int) (parts []api.ControlReply) {
	w.Helper()
	q.Page = &api.Page{}
	for {
		part := w.control(verb, q)
		if body, err := json.Marshal(part); err != nil || len(body) > most || part.Error != nil {
			w.Fatalf("%s: part %d has %d bytes: %v, %v", verb, len(parts), len(body), err, part.Error)
		}
		if parts = append(parts, part); part.More == "" {
			return parts
		}
		q.Page = &api.Page{After: part.More}
	}
}

// An answer that is larger than the bus takes comes in parts, which are together what it is.
func TestLongAnswersAreCutIntoPages(t *testing.T) {
	w := newWorld(t, "a")
	for i := range 1000 { // A row has no body: only their names are long.
		w.put(bigProfile(strings.Repeat("x", 1000)+fmt.Sprint(i), 1))
	}
	var got []api.ProfileSummary
	parts := w.pages(api.VerbProfiles, api.ControlRequest{}, 2<<20)
	for _, part := range parts {
		got = append(got, part.Listed...)
	}
	whole := w.control(api.VerbProfiles, api.ControlRequest{})
	if d := cmp.Diff(whole.Listed, got); d != "" || whole.More != "" || len(parts) < 2 {
		t.Errorf("%d parts, more after the whole: %q; whole and parts: %s", len(parts), whole.More, d)
	}
	for _, verb := range []api.Verb{api.VerbApps, api.VerbNodes} {
		if parts := w.pages(verb, api.ControlRequest{}, 1<<20); len(parts) != 1 {
			t.Errorf("%s: a short answer comes in %d parts", verb, len(parts))
		}
	}
}

// bigProfile is a profile of so many stages, one after the other.
func bigProfile(name string, stages int) api.Profile {
	p := chain(name)
	one := p.Stages[0]
	p.Stages = nil
	for i := range stages {
		s := one
		s.ID, s.Signature, s.Parents = i, fmt.Sprintf("%016x", i), []int{}
		if i > 0 {
			s.Parents = []int{i - 1}
		}
		p.Stages = append(p.Stages, s)
	}
	p.Duration = units.Seconds(stages)*one.Duration + 10
	return p
}

// However many long stages an application runs, it is shown, in parts, and its samples have a bound.
func TestALongRunIsShown(t *testing.T) {
	const stages, statuses = 30, 150
	w := newWorld(t, "a")
	r := registration("p", 0)
	id := w.mustRegister(r).AppID
	for stage := range stages {
		w.tell(id, r.Submission, ready(1, stage, "read", 1, "1"))
	}
	for range statuses {
		s := w.status("a")
		for stage := range stages {
			one := api.StageStatus{App: id, StageKey: api.StageKey{Stage: stage}, Executor: "1"}
			for range api.MostSamples {
				one.Samples = append(one.Samples, api.StageSample{Age: 0.25, SetPoint: 0.5, Progress: 0.4, Grant: 2, Used: 1.5})
			}
			s.Stages = append(s.Stages, one)
		}
		w.step(planner.Status{Status: &s})
	}
	whole := w.app(id)
	sum := 0
	for _, s := range whole.Stages {
		sum += len(s.Samples)
	}
	if sum > 20000 || sum < 5000 {
		t.Errorf("%d samples are kept of %d", sum, stages*statuses*api.MostSamples)
	}
	var got *api.AppDetail
	parts := w.pages(api.VerbApp, api.ControlRequest{App: id}, 2<<20)
	for _, part := range parts {
		if got == nil {
			got = part.App
			continue
		}
		got.Stages = append(got.Stages, part.App.Stages...)
	}
	if d := cmp.Diff(&whole, got); d != "" || len(parts) < 2 {
		t.Errorf("%d parts; whole and parts: %s", len(parts), d)
	}
}
