package sim

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/units"
)

// Outcome is what came of one application of an experiment.
type Outcome struct {
	App      string        `json:"app"`
	Deadline units.Seconds `json:"deadline_s"`
	Duration units.Seconds `json:"duration_s"`
	// Error is eps_a of Eq 4 in per cent, negative when late; StageError and
	// StageSpread are mean and standard deviation of eps_s (Eq 5).
	Error float64 `json:"error_pct"`
	// StopError is eps_a at the context's stop, as the source has it; Error is at the
	// exit of the driver's process, which is the same where that takes no time.
	StopError   float64 `json:"stop_error_pct"`
	StageError  float64 `json:"stage_error_pct"`
	StageSpread float64 `json:"stage_spread_pct"`
	MeanCores   float64 `json:"mean_cores"`
	CoreSeconds float64 `json:"core_seconds"`
	// Changes is how many quotas were written, Variation how far the grants moved to
	// and fro: controller.Movement.Score, the mean over a stage's executors, summed
	// over the stages.
	Changes   int     `json:"quota_changes"`
	Variation float64 `json:"variation"`
	// Pacing is how it ran in the end, "failed" if it did, "killed" if its user ended it.
	Pacing string `json:"pacing"`
	// Verdict is the planner's when it came, Reserved says that cores have been reserved for it.
	Verdict  api.Verdict `json:"verdict,omitempty"`
	Reserved bool        `json:"reserved,omitempty"`
	// Waited is how long it was queued. Memory is nil where its application declares none.
	Waited units.Seconds `json:"waited_s,omitempty"`
	// Executors is how many it had in the mean of another cluster manager.
	Executors float64        `json:"executors,omitempty"`
	Memory    *MemoryOutcome `json:"memory,omitempty"`
}

// MemoryOutcome is what became of the off-heap memory of an application's executors: how
// often it was resized, which blocks had to go for that, and what tasks spilled.
type MemoryOutcome struct {
	Moves   int         `json:"moves"`
	Evicted units.Bytes `json:"evicted_bytes"`
	Spilled units.Bytes `json:"spilled_bytes"`
}

// Outcome is what has come of d's application once the world has run. The error is that
// the planner has refused it or has no figures of it.
func (d *Driver) Outcome() (Outcome, error) {
	r := d.Result()
	if r == nil {
		if d.refused != nil {
			return Outcome{}, fmt.Errorf("application %s: %w", d.spark.App.Name, d.refused)
		}
		return Outcome{}, fmt.Errorf("application %s has no result", d.spark.App.Name)
	}
	o := Outcome{App: d.spark.App.Name, Deadline: r.Deadline, Duration: r.Duration, MeanCores: float64(r.MeanCores),
		CoreSeconds: float64(r.CoreSeconds),
		Changes:     r.QuotaChanges, Pacing: r.Pacing}
	o.Waited, o.Verdict, o.Reserved = d.waited, d.verdict, d.w.granted[d.reply.AppID]
	o.Executors = d.spark.Manager.Held()
	if d.spark.App.Memory.Heap > 0 {
		o.Memory = &MemoryOutcome{}
		for _, x := range r.Executors {
			o.Memory.Moves += x.Memory.Moves
			o.Memory.Evicted += x.Memory.Evicted
			o.Memory.Spilled += x.Memory.Spilled
		}
	}
	if r.ErrorPct != nil {
		o.Error, o.StopError = *r.ErrorPct, dag.AppError(r.Deadline, d.spark.Duration)
	}
	var errs []float64
	for _, s := range r.Stages {
		if s.ErrorPct != nil {
			errs = append(errs, math.Abs(*s.ErrorPct))
		}
		o.Variation += variation(s.Samples)
	}
	o.StageError, o.StageSpread = meanAndSpread(errs)
	switch {
	case d.unwanted && r.State == api.AppFailed:
		o.Pacing = killed
	case r.State == api.AppFailed:
		o.Pacing = string(r.State)
	}
	return o, nil
}

// variation is how restless the grants of a stage's executors were: the mean of
// their controller.Movement scores.
func variation(samples []api.AppSample) float64 {
	moves := map[api.ExecutorID]*controller.Movement{}
	for _, s := range samples {
		if s.Grant < 0 {
			continue // No quota.
		}
		if moves[s.Executor] == nil {
			moves[s.Executor] = &controller.Movement{}
		}
		moves[s.Executor].Add(s.Grant)
	}
	total := 0.0
	for _, id := range slices.Sorted(maps.Keys(moves)) {
		total += moves[id].Score()
	}
	return total / max(1, float64(len(moves)))
}

func meanAndSpread(v []float64) (mean, spread float64) {
	if len(v) == 0 {
		return 0, 0
	}
	for _, x := range v {
		mean += x
	}
	mean /= float64(len(v))
	for _, x := range v {
		spread += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(spread / float64(len(v)))
}
