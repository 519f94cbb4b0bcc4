package planner_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
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

// A list of 10,000 profiles has each once, whatever part of it is asked for, and no part is larger than the bus takes.
func TestTenThousandProfilesAreListed(t *testing.T) {
	const many = 10_000
	cfg := planner.Default()
	cfg.Profiles, cfg.ProfileBytes = 4*many, units.GiB
	w := newWorldOf(t, cfg)
	w.put(chain("etl-00000"))
	for key, value := range maps.Clone(w.disk) { // As it is stored, so are the others.
		for i := 1; i < many && strings.Contains(key, "etl-00000"); i++ {
			name := fmt.Sprintf("etl-%05d", i)
			w.disk[strings.ReplaceAll(key, "etl-00000", name)] = bytes.ReplaceAll(value, []byte("etl-00000"), []byte(name))
		}
	}
	w.restart()
	for most, parts := range map[int]int{0: 2, 1000: 10} { // The command's, and those of the page.
		n, after := 0, ""
		for part := 1; ; part++ {
			r := w.control(api.VerbProfiles, api.ControlRequest{Page: &api.Page{Most: most, After: after}})
			body, err := json.Marshal(r)
			if err != nil || len(body) > 2<<20 || r.Error != nil {
				t.Fatalf("%d bytes, %v, %v", len(body), err, r.Error)
			}
			for _, p := range r.Listed {
				if want := fmt.Sprintf("etl-%05d", n); p.Name != want {
					t.Fatalf("%s is in the place of %s", p.Name, want)
				}
				n++
			}
			if after = r.More; after == "" {
				if part != parts {
					t.Errorf("%d at a time: %d parts, want %d", most, part, parts)
				}
				break
			}
		}
		if n != many {
			t.Errorf("%d at a time: %d profiles", most, n)
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
