package planner

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/units"
)

// account is what the line about an application's end is made of. It is kept with the
// application's history: the exit may become known later.
type account struct {
	Start     units.Instant `json:"start,omitempty"`
	UTCOffset int           `json:"utc_offset_s,omitempty"`
	Deadline  units.Seconds `json:"deadline_s,omitempty"`
	// Stopped is when the context stopped, 0 where the driver did not say; Exit is
	// what the profile reckoned with after it.
	Stopped units.Seconds `json:"stopped_s,omitempty"`
	Exit    units.Seconds `json:"exit_s,omitempty"`
	// Suspended is for how long its machine was.
	Suspended units.Seconds `json:"suspended_s,omitempty"`
	Mean      units.Cores   `json:"mean_cores,omitempty"`
	Cores     units.Cores   `json:"cores,omitempty"`
	// Work is what its stages used, Profiled what they use at all cores; 0 where that
	// is not known.
	Work     units.Work `json:"core_seconds,omitempty"`
	Profiled units.Work `json:"profiled_core_seconds,omitempty"`
	Reason   string     `json:"reason,omitempty"`
	// Causes are what made it slower than planned.
	Causes []string `json:"causes,omitempty"`
}

// account is a's.
func (e *Engine) account(a *app) account {
	if a.Deadline <= 0 {
		return account{}
	}
	c := account{Start: a.Start, UTCOffset: a.UTCOffset, Deadline: a.Deadline, Cores: a.Cores, Reason: a.EndReason, Suspended: a.Suspended}
	c.Mean = a.meanCores(a.coreSeconds(), e.now)
	if a.DriverEnd {
		c.Stopped = a.Stopped
	}
	if a.profile == nil {
		return c
	}
	c.Exit = a.profile.body.Exit
	c.Causes = a.causes()
	if a.Mismatch == "" && len(a.profile.match.Remaining()) == 0 {
		for _, s := range a.order {
			c.Work += s.work()
		}
		c.Profiled = totalWork(a.profile.body)
	}
	return c
}

// say is the line about the end of an application that had a deadline, "" for others.
func (c account) say(state api.AppState, ended units.Seconds, by api.EndedBy) string {
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
		when := saySpan(early) + " before "
		if early < 0 {
			when = saySpan(-early) + " after "
		}
		return "stopped its context " + when + c.clock(c.Deadline) + "; its exit is not known"
	case early >= 0:
		return "ended " + saySpan(early) + " before " + c.clock(c.Deadline) + c.sayCores() + c.saySaved()
	case c.lateByExit(ended):
		return fmt.Sprintf("ended late by its exit: %s after %s, %s after its context stopped",
			saySpan(-early), c.clock(c.Deadline), saySpan(ended-c.Stopped))
	}
	text := saySpan(-early) + " late, at " + c.clock(ended) + c.sayCores()
	causes := c.Causes
	if c.Suspended > 0 {
		causes = append([]string{saySpan(c.Suspended) + " suspended"}, causes...)
	}
	if len(causes) > 0 {
		text += ": " + strings.Join(causes, ", ")
	}
	return text
}

// lateByExit reports whether the driver was in time when its context stopped, and would
// have been at its exit had that been what it is in other runs.
func (c account) lateByExit(ended units.Seconds) bool {
	return c.Stopped > 0 && c.Suspended == 0 && c.Stopped+c.Exit <= c.Deadline && ended > c.Deadline
}

// clock is a moment of the deadline clock as its user's clock shows it.
func (c account) clock(at units.Seconds) string {
	moment := time.Unix(0, int64(c.Start.Add(at.Duration()))).In(time.FixedZone("", c.UTCOffset))
	return moment.Round(time.Second).Format(time.TimeOnly)
}

func (c account) sayCores() string {
	if c.Mean <= 0 {
		return ""
	}
	return fmt.Sprintf(", on %.1f of %s cores", float64(c.Mean), sayCount(float64(c.Cores)))
}

// sameWork is the difference of two works, as a part of them, that says nothing.
const sameWork = 0.02

func (c account) saySaved() string {
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
	leastMore                 = 1.1
	mostCauses                = 3
)

// causes are what the figures of a's stages say against them: time without the cores
// that they asked for, more to read or more work than their profile says, attempts
// that were repeated.
func (a *app) causes() (causes []string) {
	lacked, repeated := units.Seconds(0), 0
	for _, s := range a.order {
		lacked += s.lacked()
		if s.key().Attempt > 0 {
			repeated++
		}
	}
	if lacked >= leastLacked {
		causes = append(causes, saySpan(lacked)+" waiting for cores")
	}
	if repeated > 0 {
		causes = append(causes, fmt.Sprintf("%d repeated stage attempts", repeated))
	}
	for _, s := range a.order {
		if s.Annotation != unmatched && s.Done != nil && len(causes) < mostCauses {
			if more := s.more(a.profile.graph); more != "" {
				causes = append(causes, more)
			}
		}
	}
	return causes
}

// more says what s had more of than its profile says, "" of nothing.
func (s *stage) more(g *dag.Graph) string {
	annotation, _ := g.Stage(s.Annotation)
	if s.key().Attempt > 0 {
		return ""
	}
	read := ratio(float64(s.Done.RecordsRead), float64(annotation.Records))
	if annotation.Records == int64(annotation.Tasks) {
		read = ratio(float64(s.Done.BytesRead), float64(annotation.Bytes))
	}
	switch used := ratio(float64(s.work()), float64(annotation.CoreSeconds)); {
	case read >= leastMore:
		return fmt.Sprintf("stage %d read %.1fx its profile", s.key().Stage, read)
	case used >= leastMore:
		return fmt.Sprintf("stage %d used %.1fx the CPU time of its profile", s.key().Stage, used)
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

// lack takes in a tick of an executor at work: which part of its request it was not
// granted, from the tick before to this one. It is to be called before the pace has it.
func (v *view) lack(at units.Seconds, tick api.StageSample) {
	if !v.pace.seen || tick.Running <= 0 || tick.Grant < 0 || tick.Grant >= tick.Request {
		return
	}
	v.lacked += min(max(0, at-v.pace.at), paceTime) * units.Seconds(1-tick.Grant/tick.Request)
}

// lacked is how long the worst off of s's executors lacked cores.
func (s *stage) lacked() (most units.Seconds) {
	for i := range s.views {
		most = max(most, s.views[i].lacked)
	}
	return most
}
