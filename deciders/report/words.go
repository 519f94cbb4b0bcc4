package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/recording"
	"github.com/sparkpacer/pacer/deciders/reservation"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Account is what the line about a's end is made of, and where its time went.
func Account(p estimate.Policy, v ledger.View, a *ledger.App) ledger.Account {
	now := v.Now()
	o := &a.Outcome
	c := ledger.Account{Start: a.Promise.Start, UTCOffset: a.Tenant.UTCOffset, Deadline: a.Promise.Deadline,
		Moved: a.Tenant.Owner.Moved, Cores: a.Tenant.Cores, Reason: o.Reason, Suspended: o.Suspended}
	c.Mean = a.MeanCores(a.CoreSeconds(), now)
	if o.DriverEnd {
		c.Stopped = o.Stopped
	}
	by := spend(a, timeOf(p, a, now), now)
	c.Parts, c.Causes = by.parts(a), withJump(by.causes(a), v, a)
	if a.Profile == nil {
		return c
	}
	c.Exit, c.Profiled, c.Work = a.Profile.Body.Exit, a.Profile.Body.Work(), compared(a)
	c.Unforeseen = unforeseen(p, v, a)
	return c
}

// compared is what the stages of a used where they were those of its profile, which it has; 0 where they were not.
func compared(a *ledger.App) (used units.Work) {
	if slices.ContainsFunc(a.Order, (*ledger.Stage).Estimated) || len(a.Profile.Match.Remaining()) > 0 {
		return 0
	}
	for _, s := range a.Order {
		used += s.CPU()
	}
	return used
}

// Line is the line about the end of an application, "" for one that has not ended.
func Line(c ledger.Account, state api.AppState, ended units.Seconds, by api.EndedBy) string {
	early := c.Deadline - ended
	switch {
	case state == api.AppRefused:
		return "refused: " + c.Reason
	case by == "":
		return ""
	case state == api.AppFailed:
		text := "failed after " + saySpan(ended)
		if c.Reason != "" {
			text += ": " + c.Reason
		}
		return text
	case !by.Known():
		return "stopped its context after " + saySpan(ended) + "; its exit is not known"
	case state == api.AppUnknown:
		return "ended after " + saySpan(ended) + "; its exit code is not known"
	case c.Deadline <= 0:
		return "ended after " + saySpan(ended) + sayCores(c.Mean, c.Cores)
	case early >= 0:
		return strings.Join(append([]string{"ended " + saySpan(early) + " before " + clock(c, c.Deadline) +
			sayCores(c.Mean, c.Cores) + saySaved(c)}, c.Unforeseen...), "; ")
	case lateByExit(c, ended):
		return fmt.Sprintf("ended late by its exit: %s after %s, %s after its context stopped",
			saySpan(-early), clock(c, c.Deadline), saySpan(ended-c.Stopped))
	}
	text := saySpan(-early) + " late, at " + clock(c, ended) + sayCores(c.Mean, c.Cores)
	causes := slices.Concat(c.Unforeseen, c.Causes)
	if c.Suspended > 0 {
		causes = append([]string{saySpan(c.Suspended) + " suspended"}, causes...)
	}
	if len(causes) > 0 {
		text += ": " + strings.Join(causes, ", ")
	}
	return text
}

// reserved says what is reserved for a, or was, from when, and how many cores it has had in the mean.
func reserved(a *ledger.App, had units.Cores) string {
	r, is, called := reservation.Of(a), "are", "reserved"
	if r.Over || !a.Running() {
		is = "were"
	}
	if r.Free {
		called = "kept, as they were free,"
	}
	return fmt.Sprintf("%.2f cores %s %s from %s on, and it has had %.2f", float64(r.Cores), is, called, saySpan(r.From),
		float64(had))
}

// Untaught notes in s why its run is in no profile, "" where it is in one or was not to be. A
// user who was promised that the run is recorded is told at its end, unless it has failed.
func Untaught(s *api.AppSummary, why string) {
	s.Unrecorded = why
	if why != "" && s.State != api.AppFailed && s.Pacing == string(ledger.Recording) {
		s.Headline += fmt.Sprintf("; this run is not recorded as profile %q: %s", s.Profile, why)
	}
}

// Tried notes in s what the end of a's run, of which how says what its profile learnt, says of pacing: whether it is
// why the program fails.
func Tried(a *ledger.App, s *api.AppSummary, how string, learnt api.Profile) {
	switch {
	case how == recording.Suspected:
		s.Headline += "; it was held back, so its next run has all cores, which shows whether that is why"
	case how == recording.Cleared:
		s.Headline += "; pacing is not why: it is held back again in its next run"
	case verdict.Suspected(a) && s.State == api.AppFinished && learnt.Habit.FailedAt > 0 && learnt.Habit.Suspected == 0:
		s.Headline += "; held back it failed: from now on no job takes longer than " + verdict.Times(learnt.Habit.FailedAt)
	}
}

// Taught notes in s what the run of a, which had no deadline, has taught its profile, which is learnt now: its
// user may give one next time.
func Taught(p estimate.Policy, a *ledger.App, s *api.AppSummary, learnt api.Profile) {
	known, err := ledger.NewProfile(learnt)
	if err != nil || s.Deadline > 0 || s.State != api.AppFinished {
		return
	}
	said := "recorded profile " + s.Profile
	if learnt.Runs > 1 {
		said = fmt.Sprintf("profile %s knows %d runs", s.Profile, learnt.Runs)
	}
	g, supply := known.Graph, dag.Supply{Cores: a.Tenant.Cores, Slots: a.Tenant.Slots}
	q := p.Turns(g, p.Together(g))
	if earliest := g.Forecast(q, 0, supply, 0).EarliestOf(g, q, 0, supply, 0); earliest > 0 {
		said += fmt.Sprintf("; %s or more would be a feasible deadline", sayAbout(earliest))
	}
	s.Headline += "; " + said
}

// Told is the line that the user of an application is told at its end. It is empty for one that is not judged, and why
// it failed without a deadline its driver has told.
func Told(s *api.AppSummary) string {
	silent := s.Deadline <= 0 && (s.Pacing == string(ledger.Off) || s.Pacing == string(ledger.Unpaced) ||
		s.State == api.AppFailed)
	if silent && s.State != api.AppRefused {
		return ""
	}
	return s.Headline
}

// lateByExit reports whether the driver was in time when its context stopped, and would
// have been at its exit had that been what it is in other runs.
func lateByExit(c ledger.Account, ended units.Seconds) bool {
	return c.Stopped > 0 && c.Suspended == 0 && c.Stopped+c.Exit <= c.Deadline && ended > c.Deadline
}

// clock is a moment of the deadline clock as its user's clock shows it.
func clock(c ledger.Account, at units.Seconds) string {
	moment := time.Unix(0, int64(c.Start.Add(at.Duration()))).In(time.FixedZone("", c.UTCOffset))
	return moment.Round(time.Second).Format(time.TimeOnly)
}

// sameWork is the difference of two works, as a part of them, that says nothing.
const sameWork = 0.02

func saySaved(c ledger.Account) string {
	if c.Work <= 0 || c.Profiled <= 0 {
		return ""
	}
	saved := float64(c.Profiled - c.Work)
	if math.Abs(saved) <= sameWork*float64(c.Profiled) {
		return "; with as much CPU time as at all cores"
	}
	than := "fewer"
	if saved < 0 {
		than = "more"
	}
	text := fmt.Sprintf("%.1f core-seconds", math.Abs(saved))
	if saved = math.Abs(saved); saved >= 120 {
		text = fmt.Sprintf("%.0f core-minutes", saved/60)
	}
	return fmt.Sprintf("; %s %s than at all cores", text, than)
}
