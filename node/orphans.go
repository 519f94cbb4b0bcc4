package node

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// orphans are the applications with executors here that the Plan in force knows nothing of,
// since when, on this node's clock. A State's copy of them is not changed.
//
// An orphan is an application with executors here of which the Plan in force knows nothing:
// its planner has lost its state, or is another one. That is no reason to end what works, so
// the node keeps it in the Plan for Config.Grace, without targets, and tells of it. The period
// begins anew while tasks run there: its driver lives, though no planner can hear it. So it does
// while the node can hear no planner, and when another one succeeds, to which the driver may
// still come. It is one no more when a Plan names it, as running or over, or when its executors
// have exited.
type orphans map[api.AppID]units.Instant

// adopt puts the applications into p that run here and of which it knows nothing, and returns
// them.
func (o orphans) adopt(r *roster, now units.Instant, p *api.Plan) orphans {
	var next orphans
	var apps []api.PlanApp
	for _, a := range r.apps {
		id := a.plan.ID
		if p.Names(id) {
			continue
		}
		living := a.living()
		if len(living) == 0 {
			continue
		}
		since, was := o[id]
		if p.Planner != r.plan.Planner {
			since = now
		}
		if !was {
			since = now
			r.out.event(Event{Kind: EventOrphaned, Key: Key{App: id}, Count: len(living),
				Detail: fmt.Sprintf("the planner does not know it: its executors run on with all cores for %v, or until it does",
					r.cfg.Grace)})
		}
		if next == nil {
			next = orphans{}
		}
		next[id] = since
		kept := a.stays(now)
		kept.Executors, kept.Stages, kept.Least = living, nil, 0
		apps = append(apps, kept)
	}
	addApps(p, apps)
	return next
}

// stays is a as the Plan in force has it, with the time that it has left now.
func (a *app) stays(now units.Instant) api.PlanApp {
	kept := *a.plan
	if kept.HasDeadline {
		kept.Remaining = units.FromDuration(a.deadline.Sub(now))
	}
	return kept
}

// addApps puts applications into p that it does not have.
func addApps(p *api.Plan, apps []api.PlanApp) {
	if len(apps) == 0 {
		return
	}
	p.Apps = append(slices.Clone(p.Apps), apps...)
	slices.SortStableFunc(p.Apps, func(a, b api.PlanApp) int { return cmp.Compare(a.ID, b.ID) })
}

// living are the executors of a that run, or are about to.
func (a *app) living() (ids []api.ExecutorID) {
	for _, x := range slices.Concat(a.executors, a.components) {
		if x.life.state != api.ExecutorExited && (x.life.started || x.life.here) {
			ids = append(ids, x.key.ID)
		}
	}
	return ids
}

// works reports whether tasks of a run here.
func (a *app) works(now units.Instant, stale time.Duration) bool {
	return slices.ContainsFunc(a.executors, func(x *executor) bool { return x.known(now, stale) && x.running() > 0 })
}

// renewals is how often a grace period begins anew, in its parts, while tasks run or no planner
// can be heard: each time is saved.
const renewals = 10

// pass ends orphans whose grace period is over, and forgets those whose executors
// have exited.
func (o orphans) pass(r *roster, now units.Instant, deaf bool) {
	if len(o) == 0 {
		return
	}
	for _, a := range slices.Clone(r.apps) {
		since, orphan := o[a.plan.ID]
		if !orphan {
			continue
		}
		living, waited := len(a.living()), now.Sub(since)
		switch {
		case living == 0:
			abandon(r, a)
		case waited >= r.cfg.Grace/renewals && (deaf || a.works(now, r.cfg.Stale)):
			r.orphans = maps.Clone(r.orphans)
			r.orphans[a.plan.ID], r.out.dirty = now, true
		case waited >= r.cfg.Grace:
			r.out.event(Event{Kind: EventOrphanStopped, Key: slices.Concat(a.executors, a.components)[0].key, Count: living,
				Detail: fmt.Sprintf("no planner has named it for %v, and it has no task here", r.cfg.Grace)})
			abandon(r, a)
		}
	}
}

// abandon takes an orphan out of the Plan: reconcile stops what is left of it.
func abandon(r *roster, a *app) {
	id := a.plan.ID
	for _, x := range slices.Concat(a.executors, a.components) {
		x.life.listed = false
	}
	r.apps = slices.DeleteFunc(r.apps, func(b *app) bool { return b == a })
	r.plan.Apps = slices.DeleteFunc(slices.Clone(r.plan.Apps), func(p api.PlanApp) bool { return p.ID == id })
	r.orphans = maps.Clone(r.orphans)
	delete(r.orphans, id)
	r.out.changed, r.out.dirty = true, true
}

// tell appends the orphans, which are among apps, to list, in order.
func (o orphans) tell(apps []*app, list []api.Orphan) []api.Orphan {
	if len(o) == 0 {
		return list
	}
	for _, a := range apps {
		if _, orphan := o[a.plan.ID]; orphan {
			list = append(list, api.Orphan{App: a.plan.ID, Owner: a.plan.Launch.Owner})
		}
	}
	return list
}
