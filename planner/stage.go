package planner

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// unmatched is the annotation of a stage that has none.
const unmatched = -1

// stage is one stage attempt of an application: what is stored of it and what the
// nodes say.
type stage struct {
	stageRecord
	figures  []figure // By number of the executor, from 1; those that are missing are zero.
	views    []view   // Likewise.
	samples  samples
	handOver units.Instant // When its tail was last handed over.
	step     *experiment   // A step response that was asked for, nil for none.
	dirty    bool          // The record has to be saved at the end of the step.
	stale    bool          // Figures of nodes have come in since they were saved.
}

// stageRecord is what is stored of a stage attempt for its events, under
// app/ID/stage/STAGE.ATTEMPT.
type stageRecord struct {
	V       int            `json:"v"`
	Ready   api.StageReady `json:"ready"` // With the bindings in force.
	ReadyAt units.Seconds  `json:"ready_at_s"`
	Seq     uint64         `json:"seq"`
	Done    *api.StageDone `json:"done,omitempty"`
	DoneAt  units.Seconds  `json:"done_at_s,omitempty"`

	// Annotation is the profile's stage, unmatched (-1) without one.
	Annotation int `json:"annotation"`
	// First is the first deadline given to it, counted from ReadyAt; 0 without.
	First units.Seconds `json:"first_deadline_s,omitempty"`
	// Planned says that it has a deadline, which ends at DeadlineAt.
	Planned    bool          `json:"planned,omitempty"`
	DeadlineAt units.Instant `json:"deadline_at,omitempty"`
	Work       units.Work    `json:"core_seconds,omitempty"` // Predicted, all executors.
	Records    float64       `json:"records,omitempty"`
	Last       bool          `json:"last,omitempty"`
	Targets    []target      `json:"targets,omitempty"` // In order of executor.
	// Shares are those that the driver was last asked to take, in hand-over
	// number ShareRev; 0 before the first.
	ShareRev uint64              `json:"share_rev,omitempty"`
	Shares   []api.ExecutorShare `json:"shares,omitempty"`
}

// target is a StageTarget without the time left, which depends on when it is
// told.
type target struct {
	Executor api.ExecutorID `json:"executor"`
	Node     string         `json:"node"`
	Rev      uint64         `json:"rev"`
	Weight   float64        `json:"weight"`
	Tasks    int            `json:"tasks"`
	Work     units.Work     `json:"core_seconds"`
	Records  float64        `json:"records"`
	Longest  units.Seconds  `json:"longest_task_s,omitempty"`
	Reading  units.Fraction `json:"reading,omitempty"`
	Even     units.Fraction `json:"even,omitempty"`
	Init     units.Cores    `json:"init_cores"`
}

// key returns the stage attempt's name.
func (s *stage) key() api.StageKey { return s.Ready.StageKey }

// work returns the CPU time that the nodes saw, at least what the tasks reported.
func (s *stage) work() units.Work {
	sum := units.Work(0)
	for i := range s.figures {
		sum += s.figures[i].CPU
	}
	if s.Done != nil {
		sum = max(sum, units.Work(s.Done.TaskCPU))
	}
	return sum
}

// leastRead is the CPU time, in core-seconds, from which what heavy tasks read in is
// believed: less is noise beside the time between two pages.
const leastRead units.Work = 1

// reading is the part of their CPU time in which the stage's heavy tasks read their
// records, those of all executors together; 0 where that is not known.
func (s *stage) reading() units.Fraction {
	var heavy, reading units.Work
	for i := range s.figures {
		heavy += s.figures[i].Heavy
		reading += s.figures[i].Reading
	}
	if heavy < leastRead || reading <= 0 {
		return 0
	}
	return units.Fraction(reading / heavy).Clamp()
}

// targetOf is an executor's target.
func (s *stage) targetOf(id api.ExecutorID) (target, bool) {
	i, found := slices.BinarySearchFunc(s.Targets, id, func(t target, id api.ExecutorID) int { return compareIDs(t.Executor, id) })
	if !found {
		return target{}, false
	}
	return s.Targets[i], true
}

func (s *stage) quotaChanges() int {
	sum := 0
	for i := range s.figures {
		sum += int(s.figures[i].Quotas)
	}
	return sum
}

// done returns the fraction of the stage that is done, as far as the nodes told.
func (s *stage) done() units.Fraction {
	var weight, done float64
	for _, b := range s.Ready.Bindings {
		weight += b.Weight
		done += b.Weight * float64(s.view(b.Executor).progress)
	}
	if weight <= 0 {
		return 0
	}
	return units.Fraction(done / weight).Clamp()
}

// target returns the stage's target for t as a node reads it now.
func (s *stage) target(t target, now units.Instant) api.StageTarget {
	hold := s.step.hold(t.Executor)
	return api.StageTarget{
		StageKey: s.key(), Executor: t.Executor, Rev: t.Rev, Remaining: units.FromDuration(s.DeadlineAt.Sub(now)),
		Weight: t.Weight, Tasks: t.Tasks, Work: t.Work, Records: t.Records, LongestTask: t.Longest, Reading: t.Reading, Even: t.Even, InitCores: t.Init, Last: s.Last,
		Hold: hold, HoldFor: s.step.holdFor(hold, now),
	}
}
