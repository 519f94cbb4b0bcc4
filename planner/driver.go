package planner

import (
	"cmp"
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/handover"
	"github.com/sparkpacer/pacer/deciders/recording"
	"github.com/sparkpacer/pacer/deciders/schedule"
	"github.com/sparkpacer/pacer/deciders/session"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// take takes a driver's batch: its events are applied in order. It returns the application that speaks, nil for none.
func (r drivers) take(ev DriverEvents) *ledger.App {
	b := ev.Batch
	a, err := r.sender(b)
	if err != nil {
		if api.KindOf(err) == api.KindInvalid {
			r.record(ledger.MessageRefused{From: "the driver of " + api.Clip(string(b.AppID), api.MostToken), Err: err})
		}
		r.reply(ev.To, func() any { return api.EventsReply{V: api.Version, Error: api.ToWire(err)} })
		return nil
	}
	if a == nil {
		r.acknowledgeEnded(ev)
		return nil
	}
	r.record(ledger.Heard{App: a.ID})
	var ready []*ledger.Stage
	var newest units.Seconds
	for _, event := range b.Events {
		if event.Seq <= a.Marks.AckedSeq {
			continue
		}
		r.record(ledger.EventTaken{App: a.ID, Seq: event.Seq})
		newest = max(newest, event.At)
		if s := r.driverEvent(a, event); s != nil {
			ready = append(ready, s)
		}
	}
	if readClock(r.core, a, newest-session.Of(a).At, false) {
		redeadline(r.core, a, a.Promise.Deadline)
	}
	r.said.ready, r.said.idle = ready, len(b.Events) == 0
	r.reply(ev.To, func() any {
		r.told(a)
		return api.EventsReply{V: api.Version, AckedSeq: a.Marks.AckedSeq, Directive: a.Directive}
	})
	return a
}

// sender returns the application that a batch is from, nil for one that has
// ended in good order and only repeats itself.
func (r drivers) sender(b api.Events) (*ledger.App, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	if a := r.view.App(b.AppID); a != nil && a.Tenant.Submission == b.Submission && (!a.Over() || a.Outcome.DriverEnd) {
		if !a.Over() && another(r.view, b.Planner) {
			r.record(ledger.Heard{App: a.ID})
			return nil, api.Errorf(api.KindNotFound, "application %s was another planner's: register again", b.AppID)
		}
		if !a.Over() && a.Tenant.Launch.Withheld > 0 {
			r.record(ledger.Heard{App: a.ID})
			return nil,
				api.Errorf(api.KindNotFound, "the planner has started again and has no secrets of application %s: register again",
					b.AppID)
		}
		return a, nil
	}
	if d := r.view.EndedApp(b.AppID); d != nil && d.Detail.Submission == b.Submission && !d.DriverLost &&
		d.Detail.EndedBy != api.EndedByKill {
		return nil, nil
	}
	return nil, api.Errorf(api.KindNotFound, "application %s is not known: register again", b.AppID)
}

// acknowledgeEnded tells a driver that its last words have been heard.
func (r drivers) acknowledgeEnded(ev DriverEvents) {
	var acked uint64
	if n := len(ev.Batch.Events); n > 0 {
		acked = ev.Batch.Events[n-1].Seq
	}
	r.reply(ev.To, func() any {
		return api.EventsReply{V: api.Version, AckedSeq: acked,
			Directive: api.Directive{Epoch: r.view.Epoch(), Executors: []api.DirectiveExecutor{}}}
	})
}

// driverEvent applies one event and returns the stage that became ready, if any.
func (r drivers) driverEvent(a *ledger.App, ev api.Event) *ledger.Stage {
	if ev.Type == api.EventExit {
		r.lastWord(a, ev)
		return nil
	}
	if a.Over() {
		return nil
	}
	switch ev = session.OnClock(a, ev); ev.Type {
	case api.EventExecutorUp:
		switch x := a.Executor(ev.Executor.ID); {
		case a.Tenant.Launch.Attach != nil:
			attached{r.core}.up(a, ev.Executor)
		case x != nil && x.MayRun():
			executors{r.core}.up(x, ledger.ExecutorUp{App: a.ID, ID: x.ID})
		case a.Running() && a.Promise.Reclaimed && (x == nil || x.Unknown()) && !attached{r.core}.beyond(a, ev.Executor.ID):
			r.record(ledger.ExecutorNamed{App: a.ID, ID: ev.Executor.ID})
		}
	case api.EventExecutorGone:
		switch x := a.Executor(ev.Executor.ID); {
		case a.Tenant.Launch.Attach != nil:
			attached{r.core}.gone(a, x, cmp.Or(ev.Executor.Reason, "the driver lost it"))
		case x == nil:
		case executors{r.core}.starts(a, x):
			r.record(ledger.ExecutorUnseen{App: a.ID, ID: x.ID})
		case x.Named:
			r.record(ledger.ExecutorNamed{App: a.ID, ID: x.ID, Lost: true})
		default:
			r.gone(a, x, cmp.Or(ev.Executor.Reason, "the driver lost it"))
		}
	case api.EventStageReady:
		if a.Stages[ev.Stage.StageKey] == nil && r.takes(a, nil, ev.Stage.Bindings) {
			if len(a.Order) >= r.cfg.Stages && a.Promise.Forgotten == 0 {
				if ended, into := recording.Fold(r.view, a); len(ended) > 0 {
					r.record(ledger.StagesFolded{App: a.ID, Stages: ended, Into: into})
				}
			}
			r.record(ledger.StageReady{App: a.ID, Ready: *ev.Stage, At: ev.At, Seq: ev.Seq})
			return a.Stages[ev.Stage.StageKey]
		}
	case api.EventStageBound:
		if s := a.Stages[ev.Bound.StageKey]; s != nil && r.takes(a, s, ev.Bound.Bindings) {
			r.rebind(a, s, ev.Bound.Bindings)
		}
	case api.EventStageDone:
		if s := a.Stages[ev.Done.StageKey]; s != nil && s.Done == nil {
			r.record(ledger.StageEnded{App: a.ID, Done: *ev.Done, At: ev.At, ReadyAt: s.ReadyAt, First: s.First})
			if a.Profile.Beside(s) && !estimate.Asked(a) {
				r.retarget(a)
			}
		}
	case api.EventQueryEnded:
		if a.Profile != nil {
			course{r.core}.queryEnded(a, ev.Query.Execution)
		}
	case api.EventPartBegan:
		parts{r.core}.begin(a, *ev.Part)
	case api.EventPartOver:
		parts{r.core}.over(a, *ev.Part, ev.Failed)
	case api.EventUnpaced:
		if a.Promise.Mode != ledger.Unpaced {
			r.apply(ledger.ModeSet{App: a.ID, Mode: ledger.Unpaced,
				Why: cmp.Or(ev.Reason, "the application cannot be paced") + ": it runs unpaced, with all cores"})
		}
	case api.EventEnd:
		ev.At += session.Of(a).At
		parts{r.core}.end(a)
		r.contextStops(a, ev)
	}
	return nil
}

// What of an application's running stages a planner paces: mostBound executors that they are bound to together,
// for each may be a target, and mostPaced of them times the stages of its profile, extra ones too, for the time of
// each depends on all others.
const (
	mostBound = 16 << 10
	mostPaced = 400_000
)

// takes reports whether a's driver may bind a running stage s, nil for another one, to executors. An application
// with more of either than a planner can keep runs unpaced from then on.
func (r drivers) takes(a *ledger.App, s *ledger.Stage, bindings []api.Binding) bool {
	stages, bound := len(a.Opened()), len(bindings)
	many := s == nil && stages >= r.cfg.Stages
	for _, o := range a.Opened() {
		if !many && o != s {
			bound += len(o.Ready.Bindings)
		}
	}
	switch {
	case many:
		r.unpaceable(a, "more than %d stages run at once", r.cfg.Stages)
		return false
	case bound > mostBound:
		r.unpaceable(a, "the stages that run are bound to more than %d executors", mostBound)
		return false
	case a.Paced() && stages*len(a.Profile.Body.Stages) > mostPaced:
		r.unpaceable(a, "%d stages run at once beside %d that are known", stages, len(a.Profile.Body.Stages))
	}
	return true
}

// unpaceable has a, which is more than a planner can pace, run unpaced, and says so.
func (r drivers) unpaceable(a *ledger.App, format string, args ...any) {
	if a.Promise.Mode == ledger.Unpaced {
		return
	}
	why := fmt.Sprintf(format, args...)
	r.record(ledger.MessageRefused{From: fmt.Sprintf("the driver of %s", a.ID),
		Err: api.Errorf(api.KindInvalid, "%s", why)})
	r.apply(ledger.ModeSet{App: a.ID, Mode: ledger.Unpaced, Why: why + ": it runs unpaced, with all cores"})
}

// rebind takes new bindings of a running stage. Its deadline stays, unless nobody
// works on it: a stage that has waited for executors, which start or are taken,
// is given its deadline when it gets one, of the time that is left then. So a
// start never counts against a stage.
func (r drivers) rebind(a *ledger.App, s *ledger.Stage, bindings []api.Binding) {
	waited := len(s.Targets) == 0
	r.record(ledger.StageRebound{App: a.ID, Stage: s.Key(), Bindings: bindings, HandOver: handover.AfterRebinding(r.now)})
	switch {
	case !a.Paced() || !s.Planned || s.Done != nil:
	case waited && len(bindings) > 0:
		r.apply(schedule.Late(r.outlook, a, s)...)
	default:
		r.apply(schedule.Bound(r.outlook, a, s))
	}
}
