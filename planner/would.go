package planner

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// noteWould takes in a tick of an executor of an observed application. No quota (a
// negative grant) is what the tasks could use.
func (f *figure) noteWould(s api.StageSample, offered units.Cores) {
	if s.Running <= 0 {
		return
	}
	grant := s.Grant
	if grant < 0 {
		grant = min(units.Cores(s.Running), offered)
	}
	f.Would += grant
	f.WouldTicks++
}

// wouldCores is what all executors of s together would have been granted.
func (s *stage) wouldCores() units.Cores {
	sum := units.Cores(0)
	for i := range s.figures {
		if f := &s.figures[i]; f.WouldTicks > 0 {
			sum += f.Would / units.Cores(f.WouldTicks)
		}
	}
	return sum
}

// wouldCores is the mean of what a would have been granted, from the first task's
// launch on: comparable with meanCores.
func (a *app) wouldCores(now units.Instant) units.Cores {
	work := units.Work(0)
	for _, s := range a.order {
		end := s.DoneAt
		if s.Done == nil {
			end = a.elapsed(now)
		}
		work += units.Work(float64(s.wouldCores()) * max(0, float64(end-s.ReadyAt)))
	}
	return a.meanCores(work, now)
}

// sayWould is the line that an observed application ends with, "" if there is
// nothing to say.
func (e *Engine) sayWould(a *app) string {
	planned, changes := 0, 0
	for _, s := range a.order {
		if s.Planned {
			planned++
		}
		changes += s.quotaChanges()
	}
	if !a.observed() || planned == 0 {
		return ""
	}
	return fmt.Sprintf("observed: Pacer would have held %d of %d stages to %.2f cores on average by %d quotas; they used %.2f",
		planned, len(a.order), float64(a.wouldCores(e.now)), changes, float64(a.meanCores(a.coreSeconds(), e.now)))
}
