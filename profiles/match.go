package profiles

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/sparkpacer/pacer/api"
)

// Matcher matches the stages of one run to the annotations of a profile: NewMatcher makes
// one, and Restore gives it what it knew. It is not safe for concurrent use.
type Matcher struct {
	Profile api.Profile
	// Matched maps the run's stage ids to those of the profile.
	Matched map[int]int
	// taken says of each stage of the profile, in its order, whether one of the run has
	// matched it.
	taken []bool
}

// NewMatcher returns a Matcher for a run of which no stage is ready yet.
func NewMatcher(p api.Profile) *Matcher {
	return &Matcher{Profile: p, Matched: make(map[int]int), taken: make([]bool, len(p.Stages))}
}

// Copy returns a Matcher that knows what m knows, and learns nothing of what that learns.
func (m *Matcher) Copy() *Matcher {
	return &Matcher{Profile: m.Profile, Matched: maps.Clone(m.Matched), taken: slices.Clone(m.taken)}
}

// Match returns the annotation of a stage that became ready, and remembers it. A
// further attempt of a stage, and one that repeats another, gets the annotation of the
// first. One whose signature is not left is the next one of its lineage: where the same job was
// called from may differ from run to run. It returns false when the profile knows no such stage,
// or no more of them: the run does not match its profile.
func (m *Matcher) Match(ready api.StageReady) (api.ProfileStage, bool) {
	if id, again := m.Matched[ready.Stage]; again {
		return m.stage(id)
	}
	if ready.Repeats != nil {
		if id, known := m.Matched[*ready.Repeats]; known {
			m.Restore(ready.Stage, id)
			return m.stage(id)
		}
	}
	for _, same := range []func(*api.ProfileStage) bool{
		func(s *api.ProfileStage) bool { return s.Signature == ready.Signature },
		func(s *api.ProfileStage) bool { return ready.Lineage != "" && s.Lineage == ready.Lineage },
	} {
		for i := range m.Profile.Stages {
			if s := &m.Profile.Stages[i]; !m.taken[i] && same(s) {
				m.Restore(ready.Stage, s.ID)
				return *s, true
			}
		}
	}
	return api.ProfileStage{}, false
}

// Restore remembers that a stage of the run has matched the profile's stage id.
func (m *Matcher) Restore(stage, id int) {
	m.Matched[stage] = id
	m.mark(m.taken, id)
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
	over, job := slices.Clone(m.taken), math.MinInt
	coming := len(over)
	for i := len(over) - 1; i >= 0; i-- {
		if !over[i] {
			continue
		}
		coming--
		job = max(job, m.Profile.Stages[i].Job)
		for _, parent := range m.Profile.Stages[i].Parents {
			m.mark(over, parent)
		}
	}
	if coming == 0 {
		return nil
	}
	ids := make([]int, 0, coming)
	for i, s := range m.Profile.Stages {
		if !over[i] && s.Job >= job {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// mark sets the flag of the profile's stage id, if there is one.
func (m *Matcher) mark(flags []bool, id int) {
	if i, ok := m.find(id); ok {
		flags[i] = true
	}
}

// find returns the place of the profile's stage id: they are in order of id.
func (m *Matcher) find(id int) (int, bool) {
	return sort.Find(len(m.Profile.Stages), func(i int) int { return cmp.Compare(id, m.Profile.Stages[i].ID) })
}

func (m *Matcher) stage(id int) (api.ProfileStage, bool) {
	if i, ok := m.find(id); ok {
		return m.Profile.Stages[i], true
	}
	return api.ProfileStage{}, false
}
