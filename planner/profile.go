package planner

import (
	"fmt"
	"maps"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// annotated is a profile with its graph: stored ones, and each running
// application's own copy, which also matches its stages.
type annotated struct {
	body  api.Profile
	graph *dag.Graph
	// match is nil for a stored profile.
	match *profiles.Matcher
	// rate is the application's average nominal rate (dag.Graph.Rate).
	rate units.Rate
	// even is api.RegisterReply.Even; nil for a stored profile.
	even map[string]units.Fraction
}

func annotate(p api.Profile) (*annotated, error) {
	g, err := dag.New(profiles.Alone(p))
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", p.Name, err)
	}
	return &annotated{body: p, graph: g}, nil
}

// forRun returns p for one application: what is stored may change while it runs.
func (p *annotated) forRun(beta float64) *annotated {
	return &annotated{body: profiles.Alone(p.body), graph: p.graph, match: profiles.NewMatcher(p.body), rate: p.graph.Rate(beta),
		even: evenParts(p.body)}
}

// leastEven is the least that a driver is told: less one run finds and the next one does
// not, and the node's estimate does as well without (node.Config.TaskCost).
const leastEven = 0.3

// evenParts is api.RegisterReply.Even of a profile.
func evenParts(p api.Profile) map[string]units.Fraction {
	means, counts := map[string]units.Fraction{}, map[string]int{}
	for _, s := range p.Stages {
		counts[s.Signature]++
		means[s.Signature] += (min(api.MostEven, s.Even) - means[s.Signature]) / units.Fraction(counts[s.Signature])
	}
	maps.DeleteFunc(means, func(_ string, even units.Fraction) bool { return even < leastEven })
	return means
}

// settle finishes what the ended applications of a profile have left to do, so
// that whoever asks for it next finds their runs in it. Of one whose driver has not
// exited nobody knows yet whether it is to be recorded.
func (e *Engine) settle(profile string) {
	for _, a := range e.applications() {
		if !a.running() && a.Profile == profile && !e.leaves(a) {
			e.conclude(a)
		}
	}
}

// conclude makes an ended application history: its run goes into its profile if
// it may, its record into the history.
func (e *Engine) conclude(a *app) {
	e.occur(AppEnded{App: a.ID, State: a.State, Duration: a.Ended, Deadline: a.Deadline, By: a.EndedBy, Reason: a.EndReason})
	if a.State == api.AppFinished && a.Mode != modeUnpaced && a.Mode != modeOff {
		before := e.profiles[a.Profile]
		if how, err := e.record(a); err != nil {
			e.occur(RunNotRecorded{App: a.ID, Err: err})
		} else if how != "" {
			e.newest[a.Profile] = recorded{a.ID, before, e.profiles[a.Profile]}
			e.occur(ProfileChanged{Profile: a.Profile, How: how, App: a.ID})
		}
	}
	e.bury(a)
}

// record folds a's run into its profile (doc.go, Recording) and says how; "" if
// there is nothing to do.
func (e *Engine) record(a *app) (string, error) {
	switch {
	case !a.DriverEnd:
		return "", fmt.Errorf("its driver did not say when its context stopped")
	case !a.Clean && (a.EndedBy != api.EndedByExit || a.ExitCode != 0):
		return "", fmt.Errorf("its exit code is not known to be 0: pacer submit would report it")
	case a.Suspended > 0:
		return "", fmt.Errorf("its machine was suspended for %s while it ran", sayDeadline(a.Suspended))
	case a.Forgotten > 0:
		return "", fmt.Errorf("it had more than %d stage attempts", len(a.order))
	}
	r := profiles.NewRecorder(a.Profile)
	for _, s := range a.order {
		r.Ready(s.ReadyAt, s.Ready)
		if s.Done != nil {
			r.Done(s.DoneAt, *s.Done)
		}
		r.Work(s.key(), s.work())
		r.Reading(s.key(), s.reading())
	}
	a.noteCold(r)
	run, err := r.Finish(a.Stopped, a.Cores)
	if err != nil {
		return "", err
	}
	if a.EndedBy.Known() {
		run = profiles.WithExit(run, a.Ended-a.Stopped)
	}
	run.ExecutorStart = a.executorStart()
	run.Contended = a.contended()
	old := e.profiles[a.Profile]
	switch {
	case a.Resized && !a.Targeted:
		return "", fmt.Errorf("nodes came or were drained while it ran")
	case a.Targeted && (old == nil || a.Mode != modePaced || a.Late || a.Mismatch != "" || !r.Clean()):
		return "", fmt.Errorf("it was held back for a part of the time only, or did not run as profiled")
	case a.Targeted:
		return e.mergeRun(a, old, run, r.ColdStages(), profiles.MergePaced)
	case old == nil:
		return "recorded", e.storeProfile(run)
	case !r.Clean():
		return "", fmt.Errorf("some stages were tried again")
	}
	how, err := e.mergeRun(a, old, run, nil, profiles.Merge)
	if api.KindOf(err) == api.KindConflict && (a.Deadline == 0 || a.Mismatch == "") {
		return "replaced", e.storeProfile(run)
	}
	return how, err
}

// likeness bounds how much more or less CPU time a paced run may have used
// than its profile says and still be a run of the same thing.
const likeness = 2

// mergeRun merges run into old; cold are its stages on cold executors. What was not
// alone teaches no times, however it ran.
func (e *Engine) mergeRun(a *app, old *annotated, run api.Profile, cold map[int]int, merge func(old, run api.Profile) (api.Profile, error)) (string, error) {
	if a.Targeted {
		before, now := totalWork(old.body), totalWork(run)
		if now > likeness*before || before > likeness*now {
			return "", fmt.Errorf("it used %.1f core-seconds where its profile says %.1f", float64(now), float64(before))
		}
	}
	if run.Contended {
		merge = profiles.MergeContended
	}
	merged, err := merge(old.body, run)
	if err != nil {
		return "", err
	}
	return "merged", e.storeProfile(profiles.Warmed(merged, old.body, run, cold))
}

func totalWork(p api.Profile) units.Work {
	var sum units.Work
	for _, s := range p.Stages {
		sum += s.CoreSeconds
	}
	return sum
}

// storeProfile makes p the profile of its name.
func (e *Engine) storeProfile(p api.Profile) error {
	stored, err := annotate(p)
	if err != nil {
		return err
	}
	e.profiles[p.Name] = stored
	e.put(profileKey(p.Name), p)
	return nil
}
