package meter

import (
	"errors"
	"fmt"

	"github.com/sparkpacer/pacer/units"
)

// Counted says which tasks count as progress. It is a setting of its own, apart from
// the control law: the paper's tables need Tasks.
type Counted string

const (
	// Tasks counts the weight of finished tasks only, as the paper does.
	Tasks Counted = "tasks"
	// Work counts finished tasks and what the running ones have done so far.
	Work Counted = "work"
)

// Settings say how a Meter estimates.
type Settings struct {
	// Progress says which tasks count.
	Progress Counted
	// Reading is how much of a task is done when all its records are read, 0 to 1. Sorts
	// and group-bys read everything before their dearer half, maps are done when they
	// have read; CPU time used corrects it.
	Reading units.Fraction
	// TaskCost is what a task takes whatever it reads, in core-seconds, 0 to 1: its
	// launch, its code, its answer. Weights, which go by bytes, know little of that. It
	// stands in for a target's (api.StageTarget.TaskCost) that is not known.
	TaskCost units.Work
}

// Default returns what daemons use: running tasks count; a task that has read
// everything is half done, which is wrong by half a running task at most; 0.045
// core-seconds of cost, seen at a quota.
func Default() Settings { return Settings{Progress: Work, Reading: 0.5, TaskCost: 0.045} }

// Validate reports every fault of s at once.
func (s Settings) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	check(s.Progress == Tasks || s.Progress == Work, "progress: %q, want %q or %q", s.Progress, Tasks, Work)
	check(s.TaskCost >= 0 && s.TaskCost <= 1, "task cost: %v core-seconds, want 0 to 1", float64(s.TaskCost))
	check(s.Reading >= 0 && s.Reading <= 1, "reading: %v, want 0 to 1", float64(s.Reading))
	return errors.Join(faults...)
}
