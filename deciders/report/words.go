package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Line is the line about the end of an application that had a deadline, "" for others.
func Line(c ledger.Account, state api.AppState, ended units.Seconds, by api.EndedBy) string {
	if c.Deadline <= 0 || by == "" {
		return ""
	}
	early := c.Deadline - ended
	switch {
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
	case early >= 0:
		return strings.Join(append([]string{"ended " + saySpan(early) + " before " + clock(c, c.Deadline) + sayCores(c) +
			saySaved(c)}, c.Unforeseen...), "; ")
	case lateByExit(c, ended):
		return fmt.Sprintf("ended late by its exit: %s after %s, %s after its context stopped",
			saySpan(-early), clock(c, c.Deadline), saySpan(ended-c.Stopped))
	}
	text := saySpan(-early) + " late, at " + clock(c, ended) + sayCores(c)
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
	r, is := &a.Reservation, "are"
	if r.Over || !a.Running() {
		is = "were"
	}
	return fmt.Sprintf("%.2f cores %s reserved from %s on, and it has had %.2f", float64(r.Cores), is, saySpan(r.From),
		float64(had))
}

// Untaught notes in s why its run is in no profile, "" where it is in one or was not to be. A
// user who was promised that the run is recorded is told at its end, unless it has failed.
func Untaught(s *api.AppSummary, why string) {
	s.Unrecorded = why
	if why == "" || s.State == api.AppFailed || s.Pacing != string(ledger.Recording) {
		return
	}
	line := fmt.Sprintf("this run is not recorded as profile %q: %s", s.Profile, why)
	if s.Headline != "" {
		line = s.Headline + "; " + line
	}
	s.Headline = line
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

func sayCores(c ledger.Account) string {
	if c.Mean <= 0 {
		return ""
	}
	return fmt.Sprintf(", on %.1f of %s cores", float64(c.Mean), sayCount(float64(c.Cores)))
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

// sayCount prints a number of cores without needless decimals.
func sayCount(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }

// saySpan prints a length of time for a sentence.
func saySpan(s units.Seconds) string {
	switch {
	case s < 9.95:
		return fmt.Sprintf("%.1f s", float64(s))
	case s < 120:
		return fmt.Sprintf("%.0f s", float64(s))
	}
	return s.Duration().Round(time.Second).String()
}

// Causes are named from these on, at most mostCauses of them.
const (
	leastLacked units.Seconds = 1
	leastLost   units.Work    = 1
	leastMore                 = 1.1
	mostCauses                = 3
)

// causes are what the figures of a's stages say against them: time without the cores
// that they asked for, more to read or more work than their profile says, attempts
// that were repeated.
func causes(a *ledger.App) []string {
	var causes []string
	missing, repeated := units.Seconds(0), 0
	for _, s := range a.Order {
		missing += lacked(s)
		if s.Key().Attempt > 0 {
			repeated++
		}
	}
	if missing >= leastLacked {
		causes = append(causes, saySpan(missing)+" waiting for cores")
	}
	for _, s := range a.Tenant.Short {
		if s.GivenUp {
			causes = append(causes, "given up, since not all on "+s.Node+" could be in time")
			break
		}
	}
	if all := losses(a); len(all) > 0 && all[0].CoreSeconds >= leastLost {
		causes = append(causes, sayLoss(all[0]))
	}
	if repeated > 0 {
		causes = append(causes, fmt.Sprintf("%d repeated stage attempts", repeated))
	}
	for _, s := range a.Order {
		if s.Annotation != ledger.Unmatched && !s.Estimated() && s.Done != nil && len(causes) < mostCauses {
			if text := more(s, a.Profile.Graph); text != "" {
				causes = append(causes, text)
			}
		}
	}
	return causes
}

// sayLoss says who had what an application asked for.
func sayLoss(x api.Loss) string {
	to := string(x.To)
	if to == "" {
		to = "what is not Pacer's"
	}
	return fmt.Sprintf("%.0f core-seconds went to %s", float64(x.CoreSeconds), to)
}

// more says what s had more of than its profile says, "" of nothing.
func more(s *ledger.Stage, g *dag.Graph) string {
	annotation, _ := g.Stage(s.Annotation)
	if s.Key().Attempt > 0 {
		return ""
	}
	read := ratio(float64(s.Done.RecordsRead), float64(annotation.Records))
	if annotation.Records == int64(annotation.Tasks) {
		read = ratio(float64(s.Done.BytesRead), float64(annotation.Bytes))
	}
	switch used := ratio(float64(s.CPU()), float64(annotation.CoreSeconds)); {
	case read >= leastMore:
		return fmt.Sprintf("stage %d read %.1fx its profile", s.Key().Stage, read)
	case used >= leastMore:
		return fmt.Sprintf("stage %d used %.1fx the CPU time of its profile", s.Key().Stage, used)
	}
	return ""
}

// ratio is 0 where one of the two is not known.
func ratio(now, profiled float64) float64 {
	if now <= 0 || profiled <= 0 {
		return 0
	}
	return now / profiled
}

// lacked is how long the worst off of s's executors lacked cores.
func lacked(s *ledger.Stage) (most units.Seconds) {
	for i := range s.Sights {
		most = max(most, s.Sights[i].Lacked)
	}
	return most
}
