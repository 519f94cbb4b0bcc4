package planner

import (
	"cmp"
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// driverEvents takes a driver's batch: its events are applied in order, then the
// stages that became ready are planned together, in order of id.
func (e *Engine) driverEvents(ev DriverEvents) {
	b := ev.Batch
	a, err := e.sender(b)
	if err != nil {
		e.reply(ev.To, func() any { return api.EventsReply{V: api.Version, Error: api.ToWire(err)} })
		return
	}
	if a == nil {
		e.acknowledgeEnded(ev)
		return
	}
	a.silent = 0
	e.concern(a)
	var ready []*stage
	for _, event := range b.Events {
		if event.Seq <= a.marks.AckedSeq {
			continue
		}
		a.marks.AckedSeq, a.marked = event.Seq, true
		if s := e.driverEvent(a, event); s != nil {
			ready = append(ready, s)
		}
	}
	e.planReady(a, ready)
	if a.running() {
		e.replace(a)
		e.grow(a)
	}
	e.reply(ev.To, func() any {
		a.noticeSent = true
		return api.EventsReply{V: api.Version, AckedSeq: a.marks.AckedSeq, Directive: a.Directive}
	})
}

// sender returns the application that a batch is from, nil for one that has
// ended in good order and only repeats itself.
func (e *Engine) sender(b api.Events) (*app, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	if a := e.apps[b.AppID]; a != nil && a.Submission == b.Submission && (a.running() || a.DriverEnd) {
		return a, nil
	}
	for _, d := range e.ended {
		if d.Detail.ID == b.AppID && d.Detail.Submission == b.Submission && !d.DriverLost {
			return nil, nil
		}
	}
	return nil, api.Errorf(api.KindNotFound, "application %s is not known: register again", b.AppID)
}

// acknowledgeEnded tells a driver that its last words have been heard.
func (e *Engine) acknowledgeEnded(ev DriverEvents) {
	var acked uint64
	if n := len(ev.Batch.Events); n > 0 {
		acked = ev.Batch.Events[n-1].Seq
	}
	e.reply(ev.To, func() any {
		return api.EventsReply{V: api.Version, AckedSeq: acked, Directive: api.Directive{Epoch: e.epoch, Executors: []api.DirectiveExecutor{}}}
	})
}

// driverEvent applies one event and returns the stage that became ready, if any.
func (e *Engine) driverEvent(a *app, ev api.Event) *stage {
	if ev.Type == api.EventExit {
		e.lastWord(a, ev)
		return nil
	}
	if !a.running() {
		return nil
	}
	switch ev.Type {
	case api.EventExecutorUp:
		if x := a.executor(ev.Executor.ID); x != nil && !x.Gone {
			x.Registered, a.Connected, a.dirty = true, true, true
		}
	case api.EventExecutorGone:
		if x := a.executor(ev.Executor.ID); x != nil {
			e.gone(a, x, cmp.Or(ev.Executor.Reason, "the driver lost it"))
		}
	case api.EventStageReady:
		return e.stageReady(a, ev)
	case api.EventStageBound:
		if s := a.stages[ev.Bound.StageKey]; s != nil {
			e.rebind(a, s, ev.Bound.Bindings)
		}
	case api.EventStageDone:
		if s := a.stages[ev.Done.StageKey]; s != nil {
			e.stageDone(a, s, ev)
		}
	case api.EventUnpaced:
		if a.Mode != modeUnpaced {
			a.Mode, a.dirty = modeUnpaced, true
			e.ungate(a, cmp.Or(ev.Reason, "the application cannot be paced")+": it runs unpaced, with all cores")
		}
	case api.EventEnd:
		e.driverEnd(a, ev)
	}
	return nil
}

// stageReady takes a stage attempt in; nil if it is known already.
func (e *Engine) stageReady(a *app, ev api.Event) *stage {
	if a.stages[ev.Stage.StageKey] != nil {
		return nil
	}
	s := &stage{stageRecord: stageRecord{V: stateVersion, Ready: *ev.Stage, ReadyAt: ev.At, Seq: ev.Seq, Annotation: unmatched}}
	s.dirty = true
	a.stages[s.key()] = s
	a.order = append(a.order, s)
	a.begin(s)
	e.cut(a)
	a.launched(ev.At)
	e.forget(a)
	return s
}

// forget drops the oldest ended stage attempt when there are too many, as in an
// application that streams for months.
func (e *Engine) forget(a *app) {
	if len(a.order) <= e.cfg.Stages {
		return
	}
	for i, s := range a.order {
		if s.Done != nil {
			a.order = append(a.order[:i], a.order[i+1:]...)
			delete(a.stages, s.key())
			e.removeStage(a.ID, s)
			a.Forgotten++
			a.dirty = true
			return
		}
	}
}

func (e *Engine) stageDone(a *app, s *stage, ev api.Event) {
	if s.Done != nil {
		return
	}
	s.Done, s.DoneAt, s.dirty = ev.Done, max(ev.At, s.ReadyAt), true
	a.finish(s)
	if first := ev.Done.FirstLaunch; first > 0 && len(a.order) > 0 && a.order[0] == s {
		a.First, a.dirty = first, true
	}
	a.marks.LastTask = max(a.marks.LastTask, ev.Done.LastFinish)
	a.drop(s)
	e.occur(StageEnded{App: a.ID, Stage: s.key(), Duration: s.DoneAt - s.ReadyAt, Deadline: s.First, Failed: ev.Done.Failed})
}

// driverEnd takes the driver's word that its context stops. The nodes stop the
// executors; the driver's exit and the final figures are waited for.
func (e *Engine) driverEnd(a *app, ev api.Event) {
	state := api.AppFinished
	if ev.Failed {
		state = api.AppFailed
	}
	a.DriverEnd, a.Stopped = true, max(0, ev.At)
	e.occur(AppStopped{App: a.ID, At: a.Stopped, Deadline: a.Deadline})
	e.end(a, state, a.Stopped, api.EndedByStop, ev.Reason)
	if would := e.sayWould(a); would != "" {
		a.say(would) // The reply to this event carries it.
	}
}

// end takes an application out of the Plans.
func (e *Engine) end(a *app, state api.AppState, duration units.Seconds, by api.EndedBy, reason string) {
	a.State, a.Ended, a.EndedBy, a.EndReason, a.endWait = state, duration, by, reason, 0
	a.dropAll()
	a.Pending = nil
	a.touch()
}

// appTick counts a driver's silence and looks at the deadline; of an ended
// application it waits for the driver's exit and the last figures.
func (e *Engine) appTick(a *app, dt time.Duration) {
	a.silent += dt
	if !a.running() {
		a.endWait += dt
		if !e.leaves(a) && (a.endWait >= e.cfg.FinalWait || e.settled(a)) {
			e.conclude(a)
		}
		return
	}
	if a.unsaved += dt; a.unsaved >= flushEvery && a.Launched && e.flushes > 0 {
		a.unsaved, a.flush = 0, true
		e.flushes--
	}
	if e.driverGone(a) {
		e.end(a, api.AppFailed, a.at(e.now), api.EndedBySilence, fmt.Sprintf("driver gone: it has been silent for %v", a.silent.Round(time.Second)))
		return
	}
	e.reconsider(a)
	e.stepTick(a)
	if a.paced() && a.at(e.now) >= a.Deadline {
		e.late(a)
	}
}

// driverGone applies the rules for a silent driver: its executors exit by
// themselves when they lose it, so all of them gone says that it is, too.
func (e *Engine) driverGone(a *app) bool {
	switch {
	case a.silent >= e.cfg.DriverLost:
		return true
	case a.silent >= e.cfg.DriverSilent:
		return !a.Connected || len(a.alive()) == 0
	}
	return false
}

// late gives all cores to an application whose deadline has passed, and lets stages
// that take turns run side by side. Another deadline may still be given.
func (e *Engine) late(a *app) {
	a.Late = true
	a.dropAll()
	a.say(fmt.Sprintf("the deadline of %s has passed: all cores from now on", sayDeadline(a.Deadline)))
	a.touch()
	e.occur(PacingChanged{App: a.ID, Pacing: a.pacing(), Why: "its deadline has passed"})
}

// settled reports whether the nodes have said all there is about an ended
// application: every executor has exited.
func (e *Engine) settled(a *app) bool {
	for _, x := range a.Executors {
		if x.State != api.ExecutorExited {
			return false
		}
	}
	return true
}
