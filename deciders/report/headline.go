package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// headline says in one sentence how a stands, and what that means for its deadline. Predicted is its duration
// at its end, 0 where nobody knows.
func headline(v ledger.View, p estimate.Policy, a *ledger.App, predicted units.Seconds) (string, api.Risk) {
	switch now := v.Now(); {
	case a.Queued():
		return waits(v, a), queuedRisk(a)
	case p.Leaves(a):
		return "has stopped its context; its exit is waited for", riskAt(a, timeOf(p, a, now))
	case a.Over():
		o := &a.Outcome
		return Line(Account(p, v, a), o.State, o.Ended, o.EndedBy), Risk(o.State, a.Promise.Deadline, o.Ended)
	case a.Outcome.Killed != "":
		return "is being ended: " + a.Outcome.KillReason(), riskAt(a, predicted)
	default:
		text, risk := runs(now, a, predicted)
		if order := estimate.Order(a); order != "" {
			text += "; " + order
		}
		if verdict.Suspected(a) {
			text += "; " + verdict.WhySuspected
		}
		return text, risk
	}
}

// Risk says of an application that has ended how it stood with its deadline.
func Risk(state api.AppState, deadline, ended units.Seconds) api.Risk {
	switch {
	case state == api.AppFailed || deadline > 0 && ended > deadline:
		return api.RiskLate
	case deadline > 0 && state == api.AppFinished:
		return api.RiskOK
	}
	return ""
}

// riskAt is what the end of a at that moment would mean, "" where that is not known.
func riskAt(a *ledger.App, end units.Seconds) api.Risk {
	switch deadline := a.Promise.Deadline; {
	case deadline <= 0 || end <= 0:
		return ""
	case end > deadline:
		return api.RiskLate
	}
	return api.RiskOK
}

// waits says what a, which is queued, waits for, and until when as far as that is known.
func waits(v ledger.View, a *ledger.App) string {
	w, claim := waiting.Of(a), a.Tenant.Claim()
	text := "waits: " + w.Why
	room := func(n *ledger.Node) bool { return n.Live() && v.Free(n) >= claim }
	if live := v.Live(); len(live) > 0 && !w.Plan && !slices.ContainsFunc(live, room) {
		text = fmt.Sprintf("waits for %s on any node", claim.Words())
		if least := placement.Least(a); least > 1 {
			text = fmt.Sprintf("waits for %s on %d nodes", claim.Words(), least)
		}
	}
	switch {
	case w.Start > v.Now():
		text += "; expected start " + moment(v.Now(), a, a.At(w.Start))
	case w.Start > 0:
		text += "; expected to start at any moment"
	}
	return text
}

// queuedRisk is late where a is expected to start too late, and tight where nobody knows when it starts.
func queuedRisk(a *ledger.App) api.Risk {
	w := waiting.Of(a)
	switch {
	case a.Promise.Deadline <= 0:
		return ""
	case a.Promise.Verdict == api.VerdictInfeasible, w.Latest > 0 && w.Start > w.Latest:
		return api.RiskLate
	case a.Promise.Verdict == api.VerdictUnknown && w.Latest > 0, a.Promise.Verdict == api.VerdictTight:
		return api.RiskTight
	case a.Promise.Verdict == api.VerdictFeasible:
		return api.RiskOK
	}
	return ""
}

// runs says when a, which runs, will end, and what it lacks for its deadline.
func runs(now units.Instant, a *ledger.App, predicted units.Seconds) (string, api.Risk) {
	deadline, at := a.Promise.Deadline, a.At(now)
	cores := sayCores(usedNow(a), a.Tenant.Cores)
	if predicted <= 0 {
		text := "runs" + cores + "; when it will end is not known"
		if a.Promise.Mode == ledger.Recording {
			text += fmt.Sprintf(": it is recorded as profile %q", a.Promise.Profile)
		}
		switch {
		case deadline <= 0:
			return text, ""
		case at > deadline:
			return fmt.Sprintf("%s late; %s", sayAbout(at-deadline), text), api.RiskLate
		}
		return fmt.Sprintf("%s; due %s", text, moment(now, a, deadline)), ""
	}
	if deadline <= 0 {
		return "will end " + moment(now, a, predicted) + cores, ""
	}
	early := deadline - predicted
	lacking := sayLacking(a)
	if early < 0 {
		text := sayAbout(-early) + " late"
		if at <= deadline {
			text = "at risk: " + text
		} else {
			text = "will be " + text
		}
		return text + ", at " + moment(now, a, predicted) + cores + lacking, api.RiskLate
	}
	risk := api.RiskOK
	if lacking != "" || a.Promise.Verdict == api.VerdictTight {
		risk = api.RiskTight
	}
	return fmt.Sprintf("will end %s, %s before its deadline%s%s", moment(now, a, predicted), sayAbout(early), cores,
		lacking), risk
}

// usedNow is what a's running stages have used lately, of all cores.
func usedNow(a *ledger.App) (cores units.Cores) {
	for _, s := range a.Opened() {
		for i := range s.Sights {
			if s.Sights[i].Pace.Running > 0 {
				cores += s.Sights[i].Pace.Used
			}
		}
	}
	return cores
}

// sayLacking says how many cores a asks for and does not have now, and who has most of them.
func sayLacking(a *ledger.App) string {
	lacks, most := units.Cores(0), api.AppShortage{}
	for _, s := range a.Tenant.Short {
		if s.End > 0 {
			continue
		}
		lacks += max(0, s.Asked-s.Had)
		if cmp.Compare(s.Asked-s.Had, most.Asked-most.Had) > 0 {
			most = s
		}
	}
	if lacks < leastLack {
		return ""
	}
	return fmt.Sprintf("; short of %.1f cores, which %s has", float64(lacks), most.To.Whose())
}

// leastLack is from how many cores on that a lacks it is told.
const leastLack units.Cores = 0.05

// moment is a reading of a's deadline clock as its user's clock shows it, to the second where it is near.
func moment(now units.Instant, a *ledger.App, at units.Seconds) string {
	zone := time.FixedZone("", a.Tenant.UTCOffset)
	t := time.Unix(0, int64(a.Instant(at))).In(zone)
	switch away := (at - a.At(now)).Duration(); {
	case away > 20*time.Hour:
		return t.Format("Jan 2 15:04")
	case away > 10*time.Minute:
		return t.Round(time.Minute).Format("15:04")
	}
	return t.Round(time.Second).Format(time.TimeOnly)
}
