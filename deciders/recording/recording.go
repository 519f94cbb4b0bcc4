package recording

import (
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/session"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// Values of the first result of Record.
const (
	Recorded = "recorded"            // The profile is new.
	Merged   = "merged"              // The run went into the profile.
	Founded  = "got another variant" // The run is like no other, and is a variant of the profile.
	// The paced run has failed, or the one after that, at all cores, has, too.
	Suspected = "knows that a paced run failed"
	Cleared   = "knows that a run failed at all cores, too"
)

// Record folds the run of an application that has finished into its profile and says what it did. An error says why it
// cannot teach the profile what it takes, and did is "" then but where its failure itself is to be remembered. A run
// teaches its user's own profile or, where it has none, one that all teach. From any other that is not its user's the
// user's own is made.
func Record(v ledger.View, a *ledger.App) (did string, learnt api.Profile, err error) {
	did, learnt, err = record(v, a)
	user := a.Tenant.Owner.User
	old := v.Profile(user, a.Promise.Profile)
	switch {
	case err == nil:
		learnt = confirmed(a, learnt)
	case old != nil:
		did, learnt = failed(v, a, old.Body)
	}
	learnt.Owner, learnt.Shared, learnt.Taught = user, false, false
	if old != nil && old.Body.Shared && old.Body.Taught {
		learnt.Owner, learnt.Shared, learnt.Taught = "", true, true
	}
	return did, learnt, err
}

func record(v ledger.View, a *ledger.App) (did string, learnt api.Profile, err error) {
	if err := teaches(a); err != nil {
		return "", api.Profile{}, err
	}
	r := recorder(a)
	for _, s := range a.Order {
		note(v, a, r, s)
	}
	if a.Promise.Targeted && a.Folded == nil {
		noteCold(a, r)
	}
	if a.Folded != nil {
		r.Fold(api.MostStages / api.MostVariants) // So that it has room for variants.
	}
	run, err := r.Finish(unqueued(a, a.Outcome.Stopped), a.Tenant.Cores)
	if err != nil {
		return "", api.Profile{}, err
	}
	run = profiles.WithExit(run, a.Outcome.Ended-a.Outcome.Stopped)
	run.ExitContended = exitedBeside(v, a)
	run.ExecutorStart = executorStart(a)
	run.Contended, run.HeadContended = contended(a), startedBeside(a)
	run.Next = a.Outcome.Next
	if declared := a.Tenant.Launch.TaskCores(); declared > 1 {
		for i := range run.Stages {
			run.Stages[i].TaskCores = max(declared, run.Stages[i].TaskCores)
		}
	}
	terms := r.Terms()
	terms.End = missed(a)
	terms.Day = time.Unix(0, int64(v.Now())).UTC().Format(time.DateOnly)
	old := v.Profile(a.Tenant.Owner.User, a.Promise.Profile)
	if old == nil {
		return Recorded, profiles.First(run, terms), nil
	}
	learnt, founded, err := profiles.Learn(old.Body, run, terms)
	if founded {
		return Founded, learnt, err
	}
	return Merged, learnt, err
}

// recorder is one with what of a was folded while it ran.
func recorder(a *ledger.App) *profiles.Recorder {
	r := profiles.NewRecorder(a.Promise.Profile)
	if a.Folded != nil {
		r.Attempts = slices.Clone(a.Folded.Attempts)
	}
	return r
}

// note has r know a stage attempt of a.
func note(v ledger.View, a *ledger.App, r *profiles.Recorder, s *ledger.Stage) {
	r.Ready(unqueued(a, s.ReadyAt), s.Ready)
	if s.Done != nil {
		r.Done(unqueued(a, s.DoneAt), *s.Done)
	} else { // The stop of its context has ended it.
		r.Done(unqueued(a, a.Outcome.Stopped), api.StageDone{StageKey: s.Key(), Failed: true})
	}
	r.Work(s.Key(), s.CPU())
	r.Reading(s.Key(), s.Reading())
	if heldBack(v, a, s) {
		r.Held(s.Key())
	}
}

// Fold folds the older half of the stage attempts of a, which runs, so that nobody keeps all of them: of jobs that
// have ended, those that look alike are one. It returns these attempts, none where none has ended, and what has them
// then, nil where too many look like no others.
func Fold(v ledger.View, a *ledger.App) (ended []api.StageKey, into *profiles.Recorder) {
	r, most := recorder(a), len(a.Order)/2
	stays := make(map[int]bool) // By job.
	for i, s := range a.Order {
		if s.Done == nil || i >= most {
			stays[s.Ready.Job] = true
		}
	}
	for _, s := range a.Order[:most] {
		if !stays[s.Ready.Job] {
			note(v, a, r, s)
			ended = append(ended, s.Key())
		}
	}
	if a.Promise.Targeted && a.Folded == nil {
		noteCold(a, r)
	}
	if r.Fold(most); len(r.Attempts) > 2*most {
		r = nil
	}
	return ended, r
}

// missed is by how much a ended after what its last stage was aimed at, 0 where that had no aim.
func missed(a *ledger.App) units.Seconds {
	gate := a.Promise.Gate
	gate.Late, gate.Overdue = false, false // By this very end.
	if a.Profile == nil || a.Promise.Mode != ledger.Paced || gate != (ledger.Gate{}) {
		return 0
	}
	var last *ledger.Stage
	for _, s := range a.Order {
		if s.Done != nil && (last == nil || s.DoneAt >= last.DoneAt) {
			last = s
		}
	}
	if last == nil || !last.Planned || last.First <= 0 {
		return 0
	}
	aim := a.At(last.DeadlineAt) + a.Profile.Body.Tail + a.Profile.Body.Exit
	return a.Outcome.Ended - aim
}

// teaches says why a run teaches no profile, nil if it may.
func teaches(a *ledger.App) error {
	o := &a.Outcome
	switch {
	case o.State == api.AppFailed:
		return fmt.Errorf("it failed")
	case !o.DriverEnd:
		return fmt.Errorf("its driver did not say when its context stopped")
	case o.State != api.AppFinished:
		return fmt.Errorf("its exit code is not known to be 0: pacer submit would report it")
	case o.Suspended > 0:
		return fmt.Errorf("its machine was suspended for %s while it ran", verdict.Deadline(o.Suspended))
	case a.Promise.Forgotten > 0:
		return fmt.Errorf("it had more than %d stage attempts that look like no others", len(a.Order))
	}
	return nil
}

// heldBack reports whether s did not have all cores all the time: it had targets, and quotas
// below all cores, or a's cores were not those of its start.
func heldBack(v ledger.View, a *ledger.App, s *ledger.Stage) bool {
	switch {
	case a.Tenant.Resized:
		return true
	case !a.Promise.Targeted || s.First == 0 && !s.Planned:
		return false
	}
	ticks := s.Samples.All()
	return s.QuotaChanges() > 0 || len(ticks) == 0 || slices.ContainsFunc(ticks, func(t api.AppSample) bool {
		x := a.Executor(t.Executor)
		return t.Grant >= 0 && (x == nil || v.Node(x.Node) == nil || t.Grant < a.Tenant.MostOf(x, v.Offered(x.Node)))
	})
}

// executorStart is the mean CPU time of a's executors X// session were there before it.
func executorStart(a *ledger.App) units.Work {
	if session.Of(a).ID != "" {
		return 0
	}
	var sum units.Work
	count := 0
	for _, x := range a.Tenant.Executors {
		if x.Based && x.Base > 0 {
			sum += x.Base
			count++
		}
	}
	if count == 0 {
		return 0
	}
	return sum / units.Work(count)
}

// noteCold tells r which stages ran on executors that had run nothing while another
// one of their node had: the first on a node is cold in every run.
func noteCold(a *ledger.App, r *profiles.Recorder) {
	ran, nodes := make(map[*ledger.Executor]bool), make(map[string]bool)
	for _, s := range a.Order {
		cold := 0
		var worked []*ledger.Executor
		for i := range s.Counters {
			if i >= len(a.Tenant.Executors) || s.Counters[i].CPU <= 0 {
				continue
			}
			x := a.Tenant.Executors[i]
			if worked = append(worked, x); !ran[x] && nodes[x.Node] {
				cold++
			}
		}
		for _, x := range worked {
			ran[x], nodes[x.Node] = true, true
		}
		if cold > 0 {
			r.Cold(s.Key(), cold)
		}
	}
}
