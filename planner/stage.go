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
	figureRecord
	progress map[api.ExecutorID]units.Fraction
	paces    map[api.ExecutorID]*pace
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

// figureRecord is what its nodes told of a stage attempt, stored with the samples
// and when it is done, under app/ID/figures/STAGE.ATTEMPT.
type figureRecord struct {
	// CPU and QuotaChanges are what the nodes measured, by executor.
	CPU          map[api.ExecutorID]units.Work `json:"cpu,omitempty"`
	QuotaChanges map[api.ExecutorID]int        `json:"quota_changes,omitempty"`
	// Heavy are the heavy tasks that have finished, by executor; few stages have any.
	Heavy map[api.ExecutorID]heavyTasks `json:"heavy,omitempty"`
	// Would is kept of observed applications only.
	Would map[api.ExecutorID]would `json:"would,omitempty"`
}

// heavyTasks are what a StageStatus says of them.
type heavyTasks struct {
	CPU     units.Work `json:"core_seconds"`
	Reading units.Work `json:"reading_core_seconds"`
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
	Init     units.Cores    `json:"init_cores"`
}

func newStage(r stageRecord) *stage {
	f := figureRecord{CPU: make(map[api.ExecutorID]units.Work), QuotaChanges: make(map[api.ExecutorID]int)}
	return &stage{stageRecord: r, figureRecord: f, progress: make(map[api.ExecutorID]units.Fraction), paces: make(map[api.ExecutorID]*pace)}
}

// key returns the stage attempt's name.
func (s *stage) key() api.StageKey { return s.Ready.StageKey }

// work returns the CPU time that the nodes saw, at least what the tasks reported.
func (s *stage) work() units.Work {
	sum := units.Work(0)
	for _, id := range sortedKeys(s.CPU) {
		sum += s.CPU[id]
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
	var all heavyTasks
	for _, id := range sortedKeys(s.Heavy) {
		all.CPU += s.Heavy[id].CPU
		all.Reading += s.Heavy[id].Reading
	}
	if all.CPU < leastRead || all.Reading <= 0 {
		return 0
	}
	return units.Fraction(all.Reading / all.CPU).Clamp()
}

// targetOf is an executor's target.
func (s *stage) targetOf(id api.ExecutorID) (target, bool) {
	i, found := slices.BinarySearchFunc(s.Targets, id, func(t target, id api.ExecutorID) int { return compareIDs(t.Executor, id) })
	if !found {
		return target{}, false
	}
	return s.Targets[i], true
}

// noteWould takes in a tick of an observed application.
func (s *stage) noteWould(id api.ExecutorID, sample api.StageSample, offered units.Cores) {
	if s.Would == nil {
		s.Would = make(map[api.ExecutorID]would)
	}
	s.Would[id], s.stale = s.Would[id].add(sample, offered), true
}

func (s *stage) quotaChanges() int {
	sum := 0
	for _, n := range s.QuotaChanges {
		sum += n
	}
	return sum
}

// done returns the fraction of the stage that is done, as far as the nodes told.
func (s *stage) done() units.Fraction {
	var weight, done float64
	for _, b := range s.Ready.Bindings {
		weight += b.Weight
		done += b.Weight * float64(s.progress[b.Executor])
	}
	if weight <= 0 {
		return 0
	}
	return units.Fraction(done / weight).Clamp()
}

// target returns the stage's target for t as a node reads it now.
func (s *stage) target(t target, now units.Instant) api.StageTarget {
	return api.StageTarget{
		StageKey: s.key(), Executor: t.Executor, Rev: t.Rev, Remaining: units.FromDuration(s.DeadlineAt.Sub(now)),
		Weight: t.Weight, Tasks: t.Tasks, Work: t.Work, Records: t.Records, LongestTask: t.Longest, Reading: t.Reading, InitCores: t.Init, Last: s.Last,
		Hold: s.step.hold(t.Executor),
	}
}
