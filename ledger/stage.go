package ledger

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// Unmatched is the annotation of a stage that has none.
const Unmatched = -1

// Stage is one stage attempt of an application: what is stored of it and what the
// nodes say.
type Stage struct {
	StageRecord
	Counters []Counters // By number of the executor, from 1; those that are missing are zero.
	Sights   []Sight    // Likewise.
	Samples  Samples
	HandOver units.Instant // When its tail was last handed over.
	versions stageVersions
	copied   *Stage // What snapshots share of it until it changes, nil when that is to be made.
}

// stageVersions are the batches in which a stage's record changed last, its counters did, and these were
// last saved by a flush.
type stageVersions struct{ changed, counted, flushed uint64 }

// StageRecord is what is stored of a stage attempt for its events.
type StageRecord struct {
	Ready   api.StageReady `json:"ready"` // With the bindings in force.
	ReadyAt units.Seconds  `json:"ready_at_s"`
	Seq     uint64         `json:"seq"`
	Done    *api.StageDone `json:"done,omitempty"`
	DoneAt  units.Seconds  `json:"done_at_s,omitempty"`

	// Annotation is the profile's stage, Unmatched without one.
	Annotation int `json:"annotation"`
	// Extra is the annotation of a stage that the profile lacks; nil for others.
	Extra *Extra `json:"extra,omitempty"`
	// First is the first deadline given to it, counted from ReadyAt; 0 without.
	First units.Seconds `json:"first_deadline_s,omitempty"`
	Aim
	Targets []Target `json:"targets,omitempty"` // In order of executor.
	// Shares are those that the driver was last asked to take, in hand-over
	// number ShareRev; 0 before the first.
	ShareRev uint64              `json:"share_rev,omitempty"`
	Shares   []api.ExecutorShare `json:"shares,omitempty"`
}

// Extra is what is estimated of a stage that its run's profile lacks, and its place in the run's course.
type Extra struct {
	dag.Extra
	// By is what its work was estimated from when it became ready.
	By profiles.Basis `json:"by"`
}

// Aim is what a stage was planned to do.
type Aim struct {
	// Planned says that it has a deadline, which ends at DeadlineAt.
	Planned    bool          `json:"planned,omitempty"`
	DeadlineAt units.Instant `json:"deadline_at,omitempty"`
	Work       units.Work    `json:"core_seconds,omitempty"` // Predicted, all executors.
	Records    float64       `json:"records,omitempty"`
	Last       bool          `json:"last,omitempty"`
	// Least is the least number of cores with which the application could be in time when
	// the stage was planned.
	Least units.Cores `json:"least_cores,omitempty"`
}

// Target is what an executor has to reach, without what depends on when it is told: the
// time left and a step response's hold.
type Target struct {
	Node string `json:"node"`
	api.StageTarget
}

// Estimated reports whether the profile of s's run lacks it, and what it takes is estimated.
func (s *Stage) Estimated() bool { return s.Extra != nil }

// Key returns the stage attempt's name.
func (s *Stage) Key() api.StageKey { return s.Ready.StageKey }

// CPU returns the CPU time that the nodes saw, at least what the tasks reported.
func (s *Stage) CPU() units.Work {
	sum := units.Work(0)
	for i := range s.Counters {
		sum += s.Counters[i].CPU
	}
	if s.Done != nil {
		sum = max(sum, units.Work(s.Done.TaskCPU))
	}
	return sum
}

// leastRead is the CPU time, in core-seconds, from which what large tasks read in is
// believed: less is noise beside the time between two pages.
const leastRead units.Work = 1

// Reading is the part of their CPU time in which the stage's large and long tasks read their
// records, those of all executors together; 0 where that is not known.
func (s *Stage) Reading() units.Fraction {
	var large, reading units.Work
	for i := range s.Counters {
		large += s.Counters[i].Large
		reading += s.Counters[i].Reading
	}
	if large < leastRead || reading <= 0 {
		return 0
	}
	return units.Fraction(reading / large).Clamp()
}

// TargetOf is an executor's target.
func (s *Stage) TargetOf(id api.ExecutorID) (Target, bool) {
	i, found := slices.BinarySearchFunc(s.Targets, id, func(t Target, id api.ExecutorID) int {
		return api.CompareExecutors(t.Executor, id)
	})
	if !found {
		return Target{}, false
	}
	return s.Targets[i], true
}

// QuotaChanges is how often quotas were written for the stage.
func (s *Stage) QuotaChanges() int {
	sum := 0
	for i := range s.Counters {
		sum += int(s.Counters[i].Quotas)
	}
	return sum
}

// Progress returns the fraction of the stage that is done, as far as the nodes told.
func (s *Stage) Progress() units.Fraction {
	var weight, done float64
	for _, b := range s.Ready.Bindings {
		weight += b.Weight
		done += b.Weight * float64(s.Sight(b.Executor).Progress)
	}
	if weight <= 0 {
		return 0
	}
	return units.Fraction(done / weight).Clamp()
}

// Finished is how many of the stage's tasks have finished, as far as the nodes told.
func (s *Stage) Finished() (tasks int) {
	for i := range s.Sights {
		tasks += s.Sights[i].Finished
	}
	return tasks
}

// Counter is what was told of an executor's work for the stage in all.
func (s *Stage) Counter(id api.ExecutorID) Counters { return reached(s.Counters, id) }

// Sight is what was told last of an executor at work on the stage.
func (s *Stage) Sight(id api.ExecutorID) Sight { return reached(s.Sights, id) }

// target returns the stage's target for t, which is held like that, as a node reads it now.
func (s *Stage) target(t Target, held Hold, now units.Instant) api.StageTarget {
	told := t.StageTarget
	told.StageKey, told.Remaining, told.Last = s.Key(), units.FromDuration(s.DeadlineAt.Sub(now)), s.Last
	told.Hold, told.HoldFor = held.Cores, held.lasts(now)
	return told
}

// reach makes list long enough for the executor of that number.
func reach[T any](list []T, number int) []T {
	if missing := number - len(list); missing > 0 {
		return append(list, make([]T, missing)...)
	}
	return list
}

// reached is the value of the executor of that id, zero where nothing was told of it.
func reached[T any](list []T, id api.ExecutorID) (v T) {
	if n := Number(id); n > 0 && n <= len(list) {
		v = list[n-1]
	}
	return v
}
