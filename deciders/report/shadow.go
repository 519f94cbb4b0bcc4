package report

import (
	"fmt"

	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// stageShadow is what all executors of s together would have been granted.
func stageShadow(s *ledger.Stage) units.Cores {
	sum := units.Cores(0)
	for i := range s.Counters {
		if f := &s.Counters[i]; f.Ticks > 0 {
			sum += f.Shadow / units.Cores(f.Ticks)
		}
	}
	return sum
}

// Shadow is the mean of what a would have been granted, from the first task's
// launch on: comparable with MeanCores.
func Shadow(a *ledger.App, now units.Instant) units.Cores {
	work := units.Work(0)
	for _, s := range a.Order {
		end := s.DoneAt
		if s.Done == nil {
			end = a.Elapsed(now)
		}
		work += units.Work(float64(stageShadow(s)) * max(0, float64(end-s.ReadyAt)))
	}
	return a.MeanCores(work, now)
}

// Observed is the line that an observed application ends with, "" if there is
// nothing to say.
func Observed(a *ledger.App, now units.Instant) string {
	planned, changes := 0, 0
	for _, s := range a.Order {
		if s.Planned {
			planned++
		}
		changes += s.QuotaChanges()
	}
	if !a.Observed() || planned == 0 {
		return ""
	}
	return fmt.Sprintf(
		"observed: Pacer would have held %d of %d stages to %.2f cores on average by %d quotas; they used %.2f",
		planned, len(a.Order), float64(Shadow(a, now)), changes, float64(a.MeanCores(a.CoreSeconds(), now)))
}
