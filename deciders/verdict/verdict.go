package verdict

import (
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// Policy says what is promised.
type Policy struct {
	// PaceInfeasible gives targets to an application whose deadline is infeasible, too.
	PaceInfeasible bool
}

// Judge is the verdict on an application that starts at that moment, with the line that
// says it. The forecast is for what the nodes of its seating offer and nobody else has been
// promised: what others need to be in time is theirs until they are due.
func (p Policy) Judge(o *estimate.Outlook, a *ledger.App, seating placement.Seating,
	at units.Instant) ledger.Judgement {
	v := ledger.Judgement{Gate: ledger.Gate{Unpaced: seating.Open}}
	deadline, name := a.Promise.Deadline, a.Promise.Profile
	switch {
	case a.Promise.Mode == ledger.Off:
		v.Verdict = api.VerdictNone
		v.Reason = "mode off: all cores, nothing is judged, paced or recorded"
	case a.Tenant.Nodes.Lone() && deadline > 0:
		v.Verdict = api.VerdictUnknown
		v.Reason = due(o.View, a) + " is unknown to be feasible: programs other than Spark's are not paced"
	case a.Tenant.Nodes.Lone():
		v.Verdict, v.Reason = api.VerdictNone, "no deadline: programs other than Spark's are not paced"
	case a.Promise.Mode == ledger.Unpaced:
		v.Verdict = api.VerdictNone
		v.Reason = "a session without an end: all cores, nothing is judged, paced or recorded"
	case a.Profile == nil && deadline > 0 && a.At(at) >= deadline:
		v.Verdict = api.VerdictInfeasible
		v.Reason = fmt.Sprintf("%s has passed: this run takes all cores and is recorded as profile %q", due(o.View, a), name)
	case a.Profile == nil && deadline > 0:
		v.Verdict = api.VerdictUnknown
		v.Reason = fmt.Sprintf(
			"%s is unknown to be feasible: there is no profile %q yet; this run takes all cores and records it%s",
			due(o.View, a), name, nearest(o.View, a.Tenant.Owner.User, name))
	case a.Profile == nil:
		v.Verdict = api.VerdictNone
		v.Reason = fmt.Sprintf("no deadline: all cores; the run is recorded as profile %q%s", name,
			nearest(o.View, a.Tenant.Owner.User, name))
	default:
		q := o.Turns(a.Profile.Graph, o.Together(a.Profile.Graph))
		if a.Promise.Mode == ledger.Paced {
			q = o.Turns(a.Profile.Graph, seating.Abreast())
			q.Open, q.Nodes = seating.Open, seating.Executors()
		}
		f, said := Forecast(o.View, seating.Case(o, a), q, at)
		v.Verdict, v.Earliest = f.Verdict, f.Earliest
		v.Reason = said + turns(a, f.Verdict, seating)
		v.Gate.Infeasible = f.Verdict == api.VerdictInfeasible && !p.PaceInfeasible
	}
	if a.Observed() {
		v.Reason += " (mode observe: nothing is held back)"
	}
	return v
}

// Waiting is the verdict on an application that is queued: j is what it is if it starts when that is expected.
func Waiting(o *estimate.Outlook, a *ledger.App, j ledger.Judgement, w waiting.State) ledger.Judgement {
	at := max(o.View.Now(), w.Start)
	if w.Start == 0 && a.Promise.Deadline > 0 && j.Verdict != api.VerdictInfeasible && a.Promise.Mode != ledger.Off {
		j.Verdict = api.VerdictUnknown
		j.Reason = due(o.View, a) + " is unknown to be feasible: nobody knows when the application starts"
	}
	start := "when memory comes free"
	if w.Plan {
		start = "when others have ended"
	}
	if wait := units.FromDuration(at.Sub(o.View.Now())); w.Start > 0 {
		start = "in " + finishText(wait)
	}
	j.Reason = fmt.Sprintf("queued at place %d of %d, starts %s (%s); %s", w.Place, w.Of, start, w.Reason(), j.Reason)
	return j
}

// Latest is when a, which would have that seating, has to start in order to be in time; 0
// where that is not known. A driver has done by then what it does by itself before its first stage.
func Latest(o *estimate.Outlook, a *ledger.App, seating placement.Seating) units.Instant {
	if a.Profile == nil || a.Promise.Deadline <= 0 || a.Promise.Mode != ledger.Paced {
		return 0
	}
	q := o.Equations
	q.Open = true
	f := a.Profile.Graph.Forecast(q, a.Promise.Deadline, dag.Supply{Cores: seating.Cores, Slots: seating.Slots}, 0)
	return a.Instant(a.Promise.Deadline - (f.FullCores - a.Profile.Body.Head))
}

// turns is what a verdict's line says of branches that take turns, "" of none.
func turns(a *ledger.App, verdict api.Verdict, s placement.Seating) string {
	switch {
	case a.Promise.Mode != ledger.Paced || verdict == api.VerdictInfeasible || Suspected(a):
		return ""
	case s.Open:
		return "; it has all cores, since holding its branches back leaves no room"
	case s.PerNode == 0 || s.PerNode >= a.Profile.Graph.Width():
		return ""
	}
	return fmt.Sprintf("; stages that could run side by side take turns on %d per node", s.PerNode)
}

// Again is a's verdict from where it stands, if its gate is that.
func (p Policy) Again(o *estimate.Outlook, a *ledger.App, gate ledger.Gate) ledger.Judgement {
	v := ledger.Judgement{Gate: gate}
	deadline, paced := a.Promise.Deadline, a.Promise.Mode == ledger.Paced
	head := due(o.View, a)
	if a.Reserved() > 0 {
		v.Verdict, v.Reason = a.Promise.Verdict, a.Promise.Reason // The reservation, and its reason.
		return v
	}
	if a.Profile == nil || a.Promise.Mode == ledger.Unpaced {
		v.Verdict = api.VerdictUnknown
		v.Reason = head + " is unknown to be feasible: the application is not paced and has all cores"
		return v
	}
	full := o.End(a, true)
	finish := full
	if paced {
		finish = o.End(a, false)
	}
	switch {
	case finish > deadline && full <= deadline && o.Turning(a):
		v.Verdict, v.Gate.Unpaced = api.VerdictTight, true
	case finish > deadline:
		v.Verdict, v.Gate.Infeasible = api.VerdictInfeasible, paced && !p.PaceInfeasible
		v.Earliest = full / units.Seconds(o.Equations.Alpha)
	case full > dag.TightShare*deadline, full+estimate.Kept(a, o) > deadline:
		v.Verdict = api.VerdictTight
	default:
		v.Verdict = api.VerdictFeasible
	}
	v.Reason = fmt.Sprintf("%s is %s: all cores would finish in %s", head, v.Verdict, finishText(full))
	switch {
	case Suspected(a):
		v.Reason += "; " + WhySuspected
	case v.Gate.Infeasible || v.Gate.Unpaced:
		v.Reason += ", all cores from now on"
	case !paced:
		v.Reason += "; the application is not paced and has them"
	}
	v.Reason += bound(estimate.BoundsOf(a, o))
	if order := estimate.Order(a); order != "" {
		v.Reason += "; " + order
	}
	return v
}

// nearest is what a verdict's line says of the profile that is most like one that is not there, "" of none.
func nearest(v ledger.View, user, name string) string {
	if near := profiles.Nearest(v.ProfileNames(user), name); near != "" {
		return fmt.Sprintf("; the nearest is %q: --pacer-profile would plan with that", near)
	}
	return ""
}

// due names a's deadline as its user has: a time from its start, or a moment, on its user's clock. A
// part of a deadline is nobody's moment.
func due(v ledger.View, a *ledger.App) string {
	if !a.Promise.ByMoment || a.Promise.Followers > 0 {
		return "deadline " + Deadline(a.Promise.Deadline)
	}
	zone := time.FixedZone("", a.Tenant.UTCOffset)
	moment := time.Unix(0, int64(a.Instant(a.Promise.Deadline))).In(zone).Round(time.Second)
	layout := "Monday 2 January 15:04"
	if moment.Sub(time.Unix(0, int64(v.Now()))) > yearAway {
		layout = "Monday 2 January 2006 15:04"
	}
	if moment.Second() != 0 {
		layout += ":05"
	}
	return "due " + moment.Format(layout)
}

// yearAway is from when on a moment is told with its year.
const yearAway = 300 * 24 * time.Hour

// Deadline prints a deadline as users write them: 1m30s.
func Deadline(s units.Seconds) string {
	return s.Duration().Round(100 * time.Millisecond).String()
}

// finishText prints a predicted time in seconds, whole ones from ten on.
func finishText(s units.Seconds) string {
	if s < 10 {
		return fmt.Sprintf("%.1fs", float64(s))
	}
	return fmt.Sprintf("%.0fs", float64(s))
}

// earliestText rounds up, so that what is said is feasible.
func earliestText(s units.Seconds) string {
	if s <= 0 {
		return "not known"
	}
	return (s + 0.999).Duration().Truncate(time.Second).String()
}
