package profiles

import (
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// Matcher matches the stages of one run to the annotations of a profile. It is a
// plain value that survives JSON; it is not safe for concurrent use.
type Matcher struct {
	Profile api.Profile `json:"profile"`
	// Matched maps the run's stage ids to those of the profile.
	Matched map[int]int `json:"matched"`
}

// NewMatcher returns a Matcher for a run of which no stage is ready yet.
func NewMatcher(p api.Profile) *Matcher {
	return &Matcher{Profile: p, Matched: make(map[int]int)}
}

// Match returns the annotation of a stage that became ready, and remembers it. A
// further attempt of a stage, and one that repeats another, gets the annotation of the
// first. It returns false
// when the profile knows no such stage, or no more of them: the run does not
// match its profile.
func (m *Matcher) Match(ready api.StageReady) (api.ProfileStage, bool) {
	if id, again := m.Matched[ready.Stage]; again {
		return m.stage(id)
	}
	if ready.Repeats != nil {
		if id, known := m.Matched[*ready.Repeats]; known {
			m.Matched[ready.Stage] = id
			return m.stage(id)
		}
	}
	taken := m.taken()
	for _, s := range m.Profile.Stages {
		if s.Signature == ready.Signature && !taken[s.ID] {
			if m.Matched == nil {
				m.Matched = make(map[int]int)
			}
			m.Matched[ready.Stage] = s.ID
			return s, true
		}
	}
	return api.ProfileStage{}, false
}

// Annotation returns the annotation of a stage of the run that was matched.
func (m *Matcher) Annotation(stage int) (api.ProfileStage, bool) {
	id, ok := m.Matched[stage]
	if !ok {
		return api.ProfileStage{}, false
	}
	return m.stage(id)
}

// Remaining returns the ids, in the profile, of the stages that may still come,
// ascending: no stage of the run has matched them, nor one that runs after them. What
// a later stage would have read is there already, so the driver has skipped them. At
// the end of a run that fits there are none.
func (m *Matcher) Remaining() []int {
	taken := m.taken()
	passed, job := make(map[int]bool), math.MinInt
	for _, s := range slices.Backward(m.Profile.Stages) {
		if !taken[s.ID] && !passed[s.ID] {
			continue
		}
		job = max(job, s.Job)
		for _, parent := range s.Parents {
			passed[parent] = true
		}
	}
	var ids []int
	for _, s := range m.Profile.Stages {
		if !taken[s.ID] && !passed[s.ID] && s.Job >= job {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

func (m *Matcher) taken() map[int]bool {
	taken := make(map[int]bool, len(m.Matched))
	for _, id := range m.Matched {
		taken[id] = true
	}
	return taken
}

func (m *Matcher) stage(id int) (api.ProfileStage, bool) {
	for _, s := range m.Profile.Stages {
		if s.ID == id {
			return s, true
		}
	}
	return api.ProfileStage{}, false
}
