package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// order is the one in which parts of an application's time are told: about that of the time itself.
var order = [...]api.Part{api.PartQueued, api.PartStarting, api.PartPlanned, api.PartHeld, api.PartShort, api.PartMore,
	api.PartRepeated, api.PartUnexplained, api.PartStages, api.PartBetween, api.PartAfter, api.PartExit, api.PartSuspended}

// spent is how long an application was at each part of its time: they add up to its duration.
type spent map[api.Part]units.Seconds

// timeOf is a's duration until now, or in all, as Summary has it.
func timeOf(p estimate.Policy, a *ledger.App, now units.Instant) units.Seconds {
	if p.Leaves(a) {
		return max(a.Outcome.Stopped, a.At(now))
	}
	return a.Elapsed(now)
}

// spend divides the time that a has taken, all of it. Events of the driver are on a clock that stands still
// while its machine is suspended, so what is known of a suspension comes after them, and so does the exit.
func spend(a *ledger.App, all units.Seconds, now units.Instant) spent {
	o, by := &a.Outcome, spent{}
	by[api.PartSuspended] = min(max(0, o.Suspended), all)
	end := all - by[api.PartSuspended]
	if o.DriverEnd {
		end = min(o.Stopped, end)
		by[api.PartExit] = all - by[api.PartSuspended] - end
	}
	first := end
	if a.Promise.Launched {
		first = min(a.Promise.First, end)
	}
	by[api.PartQueued] = min(waiting.Of(a).Took(a, now), first)
	by[api.PartStarting] = first - by[api.PartQueued]

	stages := slices.SortedStableFunc(slices.Values(a.Order), func(x, y *ledger.Stage) int {
		return cmp.Compare(x.ReadyAt, y.ReadyAt)
	})
	reach := first // Up to where the time is divided.
	if a.Partial() && len(stages) > 0 {
		reach = min(max(first, stages[0].ReadyAt), end)
		by[api.PartStages] = reach - first
	}
	for _, s := range stages {
		from, until := min(max(reach, s.ReadyAt), end), end
		if s.Done != nil {
			until = min(s.DoneAt, end)
		}
		if until <= reach {
			continue // Others ran all the time.
		}
		by[api.PartBetween] += from - reach
		by.stage(a, s, from, until)
		reach = until
	}
	if a.Over() {
		by[api.PartAfter] += end - reach
	} else {
		by[api.PartBetween] += end - reach
	}
	return by
}

// stage divides the time between from and until, in which s ran, and no other one of those before it. The time that it
// was to take comes first, so that one which was late says why it was.
func (by spent) stage(a *ledger.App, s *ledger.Stage, from, until units.Seconds) {
	planned := plannedFor(a, s)
	switch {
	case s.Key().Attempt > 0 || s.Ready.Repeats != nil:
		by[api.PartRepeated] += until - from
		return
	case planned <= 0:
		by[api.PartStages] += until - from
		return
	}
	over := max(0, until-max(from, s.ReadyAt+planned))
	held := min(until-from-over, max(0, until-over-max(from, s.ReadyAt+leftFor(a, s))))
	by[api.PartHeld] += held
	by[api.PartPlanned] += until - from - over - held
	if over == 0 {
		return
	}
	late := until - s.ReadyAt - planned // Its whole lateness, of which over is a part.
	short, more := shortOf(a, s, until), moreWork(a, s, until-s.ReadyAt)
	if all := short + more; all > late {
		short, more = short*late/all, more*late/all
	}
	share := over / late
	by[api.PartShort] += share * short
	by[api.PartMore] += share * more
	by[api.PartUnexplained] += max(0, over-share*(short+more))
}

// leftFor is the time that s could have had from when it was ready. That is what its application's deadline leaves
// beside what came after it at all cores, and what itself takes at all cores in any case. It is without end where the
// application is in time.
func leftFor(a *ledger.App, s *ledger.Stage) units.Seconds {
	deadline := a.Promise.Deadline
	if deadline <= 0 || a.Profile == nil || s.First <= 0 || max(a.Outcome.Ended, lastSeen(a)) <= deadline {
		return units.Seconds(math.Inf(1))
	}
	left := deadline - a.Profile.Body.Tail - a.Profile.Body.Exit - s.ReadyAt
	for _, later := range a.Order {
		if later.ReadyAt > s.ReadyAt {
			left -= atAllCores(a, later)
		}
	}
	return max(left, atAllCores(a, s))
}

// lastSeen is the last moment of a's clock at which a stage was ready or ended.
func lastSeen(a *ledger.App) (last units.Seconds) {
	for _, s := range a.Order {
		last = max(last, s.ReadyAt, s.DoneAt)
	}
	return last
}

// atAllCores is about what s would have taken at all cores: by its profile, or for the CPU time that it used.
func atAllCores(a *ledger.App, s *ledger.Stage) units.Seconds {
	took := units.Seconds(s.CPU()) / units.Seconds(max(1, a.Tenant.Cores))
	if s.Annotation != ledger.Unmatched && !s.Estimated() && a.Profile.Graph.Alone(s.Annotation) {
		annotation, _ := a.Profile.Annotated(s)
		took = max(took, annotation.Gap+annotation.Duration)
	}
	return took
}

// plannedFor is how long s was to take: until its first deadline or, without one, what it takes at all cores
// by its profile; 0 where neither is known.
func plannedFor(a *ledger.App, s *ledger.Stage) units.Seconds {
	if s.First > 0 {
		return s.First
	}
	if a.Profile == nil || s.Annotation == ledger.Unmatched || s.Estimated() {
		return 0
	}
	annotation, _ := a.Profile.Annotated(s)
	return annotation.Duration
}

// shortOf is for how long s lacked cores that it asked for, until then. Shortages that executors have shown are not
// kept over a planner's restart; the application's shortages are.
func shortOf(a *ledger.App, s *ledger.Stage, until units.Seconds) units.Seconds {
	if shown := lacked(s); shown > 0 {
		return shown
	}
	var most units.Seconds
	for _, x := range a.Tenant.Short {
		if x.Asked <= 0 {
			continue
		}
		end := until
		if x.End > 0 {
			end = min(end, x.End)
		}
		most += max(0, end-max(x.Begin, s.ReadyAt)) * units.Seconds(1-min(max(0, x.Had/x.Asked), 1))
	}
	return min(most, until-s.ReadyAt)
}

// moreWork is the part of the time for which s has run that went to work beyond what was predicted for it.
func moreWork(a *ledger.App, s *ledger.Stage, ran units.Seconds) units.Seconds {
	predicted := s.Work
	if predicted <= 0 && a.Profile != nil && s.Annotation != ledger.Unmatched {
		annotation, _ := a.Profile.Annotated(s)
		predicted = annotation.CoreSeconds
	}
	used := s.CPU()
	if predicted <= 0 || used <= predicted {
		return 0
	}
	return ran * units.Seconds(1-predicted/used)
}

// lacked is how long the worst off of s's executors lacked cores.
func lacked(s *ledger.Stage) (most units.Seconds) {
	for i := range s.Sights {
		most = max(most, s.Sights[i].Lacked)
	}
	return most
}

// parts are by as they are told, without those of no time.
func (by spent) parts(a *ledger.App) []api.WhyPart {
	parts := []api.WhyPart{}
	for _, part := range order {
		if by[part] <= 0 {
			continue
		}
		w := api.WhyPart{Part: part, For: by[part]}
		if part == api.PartShort {
			all := losses(a)
			for _, l := range all[:min(len(all), mostCauses)] {
				w.Who = append(w.Who, api.WhyWho{App: l.To, CoreSeconds: l.CoreSeconds})
			}
		}
		parts = append(parts, w)
	}
	return parts
}

// settle makes parts, which were told before the exit was known, add up to what the application has taken in
// all: the driver's machine was suspended for a part of that.
func settle(parts []api.WhyPart, all, suspended units.Seconds) []api.WhyPart {
	left, settled := all, []api.WhyPart{}
	for _, w := range parts {
		if w.Part == api.PartExit || w.Part == api.PartSuspended {
			continue
		}
		if w.For = min(w.For, left); w.For > 0 {
			left -= w.For
			settled = append(settled, w)
		}
	}
	suspended = min(suspended, left)
	for _, part := range []api.WhyPart{{Part: api.PartExit, For: left - suspended},
		{Part: api.PartSuspended, For: suspended}} {
		if part.For > 0 {
			settled = append(settled, part)
		}
	}
	return settled
}

// losses are what a lost to others, the most first.
func losses(a *ledger.App) []api.Loss {
	return slices.SortedFunc(slices.Values(a.Tenant.Lost), func(x, y api.Loss) int {
		return cmp.Or(cmp.Compare(y.CoreSeconds, x.CoreSeconds), cmp.Compare(x.To, y.To))
	})
}
