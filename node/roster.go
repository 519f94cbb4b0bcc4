package node

import (
	"math"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// roster is who is on the node, by the Plan in force and by the Samples: applications,
// executors and their targets.
type roster struct {
	cfg     Config
	out     journal
	plan    api.Plan
	apps    []*app
	weights weights

	execs []*executor // In order of Key.
	index map[Key]*executor
	rows  []*executor // Executors of the newest Sample, in its order.

	orphans orphans
	losses  losses
	samples uint64 // How many Samples have come.
	failing [len(actionNames)]failureStreak
}

// app is an application of the Plan in force.
type app struct {
	plan *api.PlanApp
	// kept is the Plan's Launch as it is saved.
	kept     *api.Launch
	deadline units.Instant
	// need is what it still has to use here to be in time, as predicted: its least cores over the
	// time it had left when these came, less what it has used since.
	need     units.Work
	controls []*control // In order of stage, attempt and executor.
	// executors are those that the Plan lists, in its order, components those of them that are none.
	executors, components []*executor
}

// least is the least number of cores of the node with which a is in time from now on, 0 where
// that is not known.
func (a *app) least(now units.Instant) units.Cores {
	if left, ttc := a.left(), a.deadline.Sub(now); left > 0 && ttc > 0 {
		return left.Per(ttc)
	}
	return 0
}

// left is what a still has to use here to be in time, by what its running stages have turned
// out to use so far; 0 where its need is not known.
func (a *app) left() units.Work {
	if a.need <= 0 {
		return 0
	}
	left := a.need
	for _, c := range a.controls {
		left -= c.saves()
	}
	return max(left, leastNeed)
}

// promised reports whether p has a deadline that can be kept, or that has passed only now.
func promised(p *api.PlanApp) bool { return p.HasDeadline && p.Band != api.BandShared }

// overdue reports whether a's deadline has passed, and that only now: it has no targets any
// more, and keeps its place.
func (a *app) overdue(now units.Instant) bool {
	return promised(a.plan) && a.deadline <= now
}

// waits reports whether a's next stage waits for its driver, which runs on this machine, while
// a has a deadline to keep. A driver that takes longer than Room.Wait is not worth a core: the driver may wait itself.
func (r *roster) waits(a *app, now units.Instant) bool {
	if !promised(a.plan) || a.plan.Cap > 0 || a.plan.Launch.Mode.Unmanaged() || !r.here(a.plan.Launch.DriverURL) {
		return false
	}
	since, up := units.Instant(0), false
	for _, x := range a.executors {
		if !x.alive() || !x.life.here {
			continue
		}
		if x.running() > 0 || x.ctl != nil && x.ctl.active {
			return false
		}
		since, up = max(since, x.busy), true
	}
	return up && since > 0 && now.Sub(since) < r.cfg.Sharing.Room.Wait
}

// use takes what a's executors have used in the last tick off its need. Work that is done is still needed, but next to
// nothing.
func (a *app) use() {
	if a.need <= 0 {
		return
	}
	for _, x := range a.executors {
		a.need -= x.seen.delta
	}
	a.need = max(a.need, leastNeed)
}

// leastNeed stands for a need that is met.
const leastNeed units.Work = 1e-6

// ensure returns the executor of the key, made when it is new.
func (r *roster) ensure(key Key) *executor {
	if x := r.index[key]; x != nil {
		return x
	}
	x := &executor{key: key, life: life{state: api.ExecutorStarting, code: api.Unknown}, quota: units.Unlimited,
		cap: capped{inForce: units.Unlimited}}
	x.room = room{r.slots(0), r.slots(0), 1}
	at, _ := slices.BinarySearchFunc(r.execs, key, func(x *executor, k Key) int { return x.key.Compare(k) })
	r.execs = slices.Insert(r.execs, at, x)
	r.index[key] = x
	return x
}

// row returns the executor of a Sample's i-th entry, made when it is new.
// Samples mostly come in the same order, so the last one's rows are tried first.
func (r *roster) row(i int, key Key) *executor {
	if i < len(r.rows) && r.rows[i].key == key {
		return r.rows[i]
	}
	x := r.ensure(key)
	r.rows = append(r.rows[:i], x)
	return x
}

// slots is how many tasks an executor runs side by side: what its launch says,
// 0 meaning all the cores offered.
func (r *roster) slots(launch int) int {
	if launch > 0 {
		return launch
	}
	return int(math.Ceil(float64(r.cfg.Offered)))
}

// runs reports whether an executor is here, or may be.
func (r *roster) runs() bool {
	return slices.ContainsFunc(r.execs, func(x *executor) bool {
		return x.life.state != api.ExecutorExited && (x.life.started || x.life.here)
	})
}

// exiting are the applications that are over by p, and were not, whose drivers run on this
// machine and have still to exit.
func (r *roster) exiting(p *api.Plan) (ids []api.AppID) {
	for _, a := range r.apps {
		if slices.Contains(p.Exiting, a.plan.ID) && r.here(a.plan.Launch.DriverURL) {
			ids = append(ids, a.plan.ID)
		}
	}
	return ids
}

// launchOf is how the Plan has the application's executors started.
func (r *roster) launchOf(id api.AppID) *api.Launch {
	for _, a := range r.apps {
		if a.plan.ID == id {
			return a.plan.Launch
		}
	}
	return nil
}

// keepLaunches completes a Plan by how the Plan in force has applications started where
// the new one does not say so again, or its planner has started and lacks the secrets. An application of which nobody
// has said it leaves p, and is returned.
func (r *roster) keepLaunches(p *api.Plan) (unsaid []api.PartFault) {
	for i := range p.Apps {
		a := &p.Apps[i]
		switch known := r.launchOf(a.ID); {
		case a.Launch == nil:
			a.Launch = known
		case a.Launch.Withheld > 0 && known != nil && known.Withheld == 0:
			a.Launch = a.Launch.Complete(known)
		}
		if a.Launch == nil {
			unsaid = append(unsaid, api.PartFault{App: a.ID, Fault: "it does not say how to start its executors"})
		}
	}
	if len(unsaid) > 0 {
		p.Apps = slices.DeleteFunc(p.Apps, func(a api.PlanApp) bool { return a.Launch == nil })
	}
	return unsaid
}

// keep makes a's launch as it is saved, unless it is that of before.
func (a *app) keep(old []*app) {
	for _, b := range old {
		if b.plan != nil && b.plan.Launch == a.plan.Launch {
			a.kept = b.kept
			return
		}
	}
	a.kept = a.plan.Launch.Kept()
}

// kept are the Plan's applications as they are saved.
func (r *roster) kept() []api.PlanApp {
	kept := r.plan.Apps
	for i, a := range r.apps {
		if a.kept == a.plan.Launch {
			continue
		}
		if &kept[0] == &r.plan.Apps[0] {
			kept = slices.Clone(kept)
		}
		kept[i].Launch = a.kept
	}
	return kept
}

// exited marks x as gone and takes its stages out of control.
func (r *roster) exited(x *executor, how string, code int) {
	how = api.Clip(how, api.MostText)
	x.life.state, x.life.exit, x.life.code = api.ExecutorExited, how, code
	x.life.launching = false
	for _, rec := range x.records {
		rec.running = 0
	}
	for _, c := range x.controls {
		r.unbind(c, "the executor exited")
	}
	x.controls, x.ctl = nil, nil
	r.out.event(Event{Kind: EventExecutorExited, Key: x.key, Detail: how})
	r.out.changed, r.out.dirty = true, true
}

// unbind ends the control of a stage executor.
func (r *roster) unbind(c *control, why string) {
	c.active = false
	for _, a := range r.apps {
		if i := slices.Index(a.controls, c); i >= 0 {
			a.controls = slices.Delete(a.controls, i, i+1)
		}
	}
	r.out.event(c.event(EventUnbound, why))
}

// forget drops an executor of which all has been told.
func (r *roster) forget(x *executor) {
	delete(r.index, x.key)
	r.rows = r.rows[:0]
	r.out.changed, r.out.dirty = true, true
}

// here reports whether the driver at that URL runs on this machine.
func (r *roster) here(driver string) bool {
	_, address, _ := strings.Cut(driver, "@")
	port := strings.LastIndexByte(address, ':')
	if port < 0 {
		return false
	}
	host := strings.Trim(address[:port], "[]")
	return host == r.cfg.Host || host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}

// controlError counts an input that c's law refused, and tells the first of a row.
func (r *roster) controlError(c *control, err error) {
	r.out.counters.ControlErrors++
	if !c.erring {
		r.out.event(c.event(EventControlError, err.Error()))
	}
}
