package report

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/deciders/devices"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/reservation"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Summary is a's row of `pacer apps`.
func Summary(v ledger.View, p estimate.Policy, a *ledger.App) api.AppSummary {
	return (*Kept)(nil).Summary(v, p, a)
}

// Summary is the function of that name with the predictions that k has.
func (k *Kept) Summary(v ledger.View, p estimate.Policy, a *ledger.App) api.AppSummary {
	now := v.Now()
	work, o := a.CoreSeconds(), &a.Outcome
	s := api.AppSummary{
		ID: a.ID, Name: a.Name, Profile: a.Promise.Profile, User: a.Tenant.Owner.User, State: o.State, Pacing: a.Pacing(),
		Verdict:  a.Promise.Verdict,
		Deadline: a.Promise.Deadline, Duration: a.Elapsed(now), Submitted: time.Unix(0, int64(a.Promise.Start)).UTC(),
		FirstLaunch: a.Promise.First,
		Predicted:   k.Predicted(v, p, a), CoreSeconds: work, MeanCores: a.MeanCores(work, now),
		Submission: a.Tenant.Submission,
		Context:    a.Tenant.Owner.Context, Before: a.Tenant.Owner.Before, ExitCode: o.ExitCode,
	}
	for _, st := range a.Order {
		s.QuotaChanges += st.QuotaChanges()
	}
	if a.Observed() {
		would := Shadow(a, now)
		s.WouldCores = &would
	}
	switch {
	case !a.Over():
		s.Queue = a.Queue()
	case p.Leaves(a):
		s.Duration = timeOf(p, a, now)
		if s.State != api.AppFailed {
			s.State = api.AppEnding
		}
	default:
		s.EndedBy, s.ErrorPct = o.EndedBy, ErrorPct(o.State, a.Promise.Deadline, o.Ended)
	}
	s.Headline, s.Risk = headline(v, p, a, s.Predicted)
	return s
}

// ErrorPct is Eq 4 of an application that has finished; nil where there is none: one
// that failed before its deadline was not early, nor was one that ended nobody knows how.
func ErrorPct(state api.AppState, deadline, ended units.Seconds) *float64 {
	if state != api.AppFinished || deadline <= 0 {
		return nil
	}
	pct := dag.AppError(deadline, ended)
	return &pct
}

// Detail is what `pacer apps show` prints of a.
func Detail(v ledger.View, p estimate.Policy, a *ledger.App) api.AppDetail {
	return (*Kept)(nil).Detail(v, p, a)
}

// Detail is the function of that name with the predictions that k has.
func (k *Kept) Detail(v ledger.View, p estimate.Policy, a *ledger.App) api.AppDetail {
	d := api.AppDetail{
		AppSummary: k.Summary(v, p, a), Reason: verdict.Reason(a), Notices: slices.Clone(a.Notices),
		Earliest: a.Promise.Earliest, Losses: losses(a), Shortages: shortages(a), Cap: a.Tenant.Cap,
		UIWebURL:  a.Tenant.Owner.UI,
		Executors: []api.AppExecutor{}, Stages: []api.AppStage{},
	}
	if d.Notices == nil {
		d.Notices = []string{}
	}
	if reservation.Of(a).Cores > 0 {
		d.Notices = append(d.Notices, reserved(a, d.MeanCores))
	}
	if a.Outcome.Reason != "" && a.Outcome.State == api.AppFailed {
		d.Notices = append(d.Notices, a.Outcome.Reason)
	}
	d.Executors = append(append(d.Executors, driver(a)...), components(a)...)
	for _, x := range a.Tenant.Executors {
		told := api.AppExecutor{ID: x.ID, Node: x.Node, State: x.Shown(), Registered: x.Registered, Exit: x.Exit,
			Memory: x.Memory}
		if at := x.Attached; at != nil {
			told.Host, told.Container, told.Cores, told.Ceiling = at.Host, at.Container, at.Cores, at.Ceiling
			told.Unguarded, told.Unpaced = at.Unguarded, at.Unpaced
		}
		d.Executors = append(d.Executors, told)
	}
	for _, s := range a.Order {
		d.Stages = append(d.Stages, stage(v.Now(), a, s))
	}
	d.Stages = slices.Concat(d.Stages, coming(v, p, a), gone(a))
	return d
}

// driver is the row of a's driver where a node runs it: its log is there.
func driver(a *ledger.App) []api.AppExecutor {
	s := component.Of(a)
	if s.Last == "" {
		return nil
	}
	row := api.AppExecutor{ID: s.ID(), Node: s.Last, State: api.ExecutorStarting, Registered: s.Came, Exit: s.Exit}
	switch {
	case s.Exited || s.Node == "":
		row.State = api.ExecutorExited
	case s.Running:
		row.State = api.ExecutorRunning
	}
	return []api.AppExecutor{row}
}

// shortages are when a had less cores than it asked for. Shortages of an application that has ended end with it.
func shortages(a *ledger.App) []api.AppShortage {
	all := slices.Clone(a.Tenant.Short)
	for i := range all {
		if all[i].End == 0 && !a.Running() {
			all[i].End = a.Outcome.Stopped
		}
	}
	return all
}

// stage is what is told of s.
func stage(now units.Instant, a *ledger.App, s *ledger.Stage) api.AppStage {
	d := api.AppStage{
		StageKey: s.Key(), Name: s.Ready.Name, State: "running", Tasks: s.Ready.Tasks, Start: s.ReadyAt, Deadline: s.First,
		Job: new(s.Ready.Job), Parents: slices.Clone(s.Ready.Parents),
		Duration: max(0, a.Elapsed(now)-s.ReadyAt), Records: max(0, s.Ready.Records), CoreSeconds: s.CPU(),
		Executors: []api.ExecutorID{}, QuotaChanges: s.QuotaChanges(), Match: match(a, s),
		Samples: s.Samples.All(),
	}
	for _, b := range s.Ready.Bindings {
		d.Executors = append(d.Executors, b.Executor)
	}
	if s.Done == nil {
		if !a.Running() {
			d.State = "failed"
		}
		return d
	}
	d.State, d.Duration, d.FirstLaunch = "done", s.DoneAt-s.ReadyAt, s.Done.FirstLaunch
	if s.Done.Failed {
		d.State = "failed"
	}
	if s.Done.RecordsRead > 0 {
		d.Records = s.Done.RecordsRead
	}
	d.RecordsWritten = s.Done.RecordsWritten
	if s.First != 0 {
		pct := dag.StageError(s.First, d.Duration, a.Promise.Deadline)
		d.ErrorPct = &pct
	}
	return d
}

// The words for a node's state in `pacer nodes`.
const (
	nodeReady    = "ready"
	nodeLost     = "lost"
	nodeLeft     = "left"
	nodeForeign  = "another's" // Executors of another planner run there.
	nodeDraining = "draining"  // Executors still run there.
	nodeDrained  = "drained"
	nodeAsleep   = "asleep" // It drains, or has, until it is wanted.
)

// Node is n's row of `pacer nodes`.
func Node(v ledger.View, n *ledger.Node) api.NodeSummary {
	state := nodeReady
	switch {
	case n.Presence == ledger.Lost:
		state = nodeLost
	case n.Presence == ledger.Left:
		state = nodeLeft
	case n.Allegiance.Foreign:
		state = nodeForeign
	case placement.SleepOf(n).Asleep:
		state = nodeAsleep
	case n.Draining() && n.Executors > 0:
		state = nodeDraining
	case n.Draining():
		state = nodeDrained
	}
	setBy := ""
	if v.Division(n) != nil {
		setBy = "operator"
	}
	return api.NodeSummary{Division: n.Dividing.Division, SetBy: setBy, Node: n.Node, Host: n.Host, State: state,
		Offered: n.Offered, Total: n.Total, Memory: n.Memory, Attach: n.Attaches(),
		NodeRates: devices.Said(n), Pressure: n.Kernel().Pressure, Lacks: n.Kernel().Lacks, Lends: lends(n),
		Epoch: n.Epoch, Executors: n.Executors, Version: n.Release}
}

// lends is what n lends, nil where nothing is lent.
func lends(n *ledger.Node) *api.NodeLends {
	if !n.Lends() {
		return nil
	}
	l, told, seen := &api.NodeLends{Lendable: n.Lendable(), Lent: n.Lent()}, false, false
	for _, t := range n.Tenants() {
		for _, x := range t.Executors {
			told, seen = told || x.Memory.Heap > 0, seen || x.Memory.Resident > 0
		}
	}
	switch {
	case n.Attaches():
		l.Not = "its memory is another cluster manager's"
	case told && !seen:
		l.Not = "it does not see what its executors use: it has no memory controller"
	}
	return l
}
