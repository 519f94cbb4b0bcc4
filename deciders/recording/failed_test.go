package recording_test

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/recording"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// twoJobs is a profile of a job of 20 s and one of 10 on four cores.
func twoJobs() api.Profile {
	p := ledgertest.Chain("p")
	p.Cores, p.Stages = 4, p.Stages[:2]
	p.Stages[0].Signature, p.Stages[1].Signature, p.Stages[1].Job, p.Stages[1].Parents = "read", "sum", 1, []int{}
	return p
}

// given is a run of twoJobs that is held back where it is Paced, whose stages take so long, the last one to the stop of
// its context where it is open.
func given(t *testing.T, old api.Profile, deadline units.Seconds, open bool, took ...units.Seconds) (*ledgertest.Cluster, *ledger.App) {
	t.Helper()
	c := ledgertest.New(t, "a")
	c.Know(ledger.ProfileSaved{Body: old})
	a := c.App("app-1", "p", deadline, "a")
	at := units.Seconds(2)
	for i, s := range took {
		c.To(at)
		stage := c.Ready(a, i+1, []string{"read", "sum"}[i], 1000, "1")
		if a.Paced() {
			c.Know(ledger.StageAimed{App: a.ID, Stage: stage.Key(), Aim: ledger.Aim{Planned: true}, First: s})
		}
		c.To(at + s)
		if !open || i < len(took)-1 {
			c.Done(a, stage, 30, at)
		}
		at += s + 2
	}
	c.To(at - 2)
	c.Know(ledger.ContextStopped{App: a.ID, At: at - 2})
	return c, a
}

func failure(c *ledgertest.Cluster, a *ledger.App) ledger.Fact {
	return ledger.Exited{App: a.ID, At: a.At(c.Now) + 1, By: api.EndedByExit, Code: 9}
}

// A paced run that fails by itself is remembered with how many times what it takes what it had waited for had taken.
func TestAPacedRunThatFailsIsSuspected(t *testing.T) {
	bounded := twoJobs()
	bounded.Habit.FailedAt = 1.8
	for _, w := range []struct {
		name string
		old  api.Profile
		open bool
		took []units.Seconds
		want float64
	}{
		{"in its first job", twoJobs(), true, []units.Seconds{44}, 2.2},
		{"in its second job", twoJobs(), true, []units.Seconds{44, 16}, 1.6},
		{"after its second job has ended well, which it has given up before", twoJobs(), false, []units.Seconds{44, 16}, 1.3},
		{"just after its second job has begun: both are waited for", twoJobs(), true, []units.Seconds{44, 2}, 48.0 / 30},
		{"of several runs the least counts", bounded, true, []units.Seconds{32}, 1.6},
		{"what was bounded has failed no sooner: half of what is left", bounded, true, []units.Seconds{40}, 1.4},
	} {
		c, a := given(t, w.old, 100, w.open, w.took...)
		c.Know(failure(c, a))
		did, p, err := recording.Record(c.View(), a)
		if did != recording.Suspected || err == nil || math.Abs(p.Habit.Suspected-w.want) > 1e-9 || p.Habit.FailedAt != w.old.Habit.FailedAt {
			t.Errorf("%s: %q, %v, suspected %v, want %v", w.name, did, err, p.Habit.Suspected, w.want)
		}
		if p.Runs != w.old.Runs || p.Stages[0].Duration != 20 {
			t.Errorf("%s: it taught what it takes: %+v", w.name, p)
		}
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// A broadcast of 4 s whose query fails by its timeout after 10, beside a stage of 8: pacing is suspected by what stood
// still, though the query had not taken what it takes.
func TestAStageThatFailedInItsQueryCounts(t *testing.T) {
	query := twoJobs()
	for i, exchange := range []int{1, 2} {
		s := &query.Stages[i]
		s.Job, s.Duration, s.Query = 0, []units.Seconds{4, 8}[i], &api.QueryStage{Shape: "0f", Exchange: exchange}
	}
	last := query.Stages[1]
	last.ID, last.Signature, last.Parents, last.Duration = 2, "join", []int{0, 1}, 20
	query.Stages = append(query.Stages, last)
	c := ledgertest.New(t, "a")
	c.Know(ledger.ProfileSaved{Body: query})
	a := c.App("app-1", "p", 100, "a")
	c.To(2)
	for i, signature := range []string{"read", "sum"} {
		s := c.Ready(a, i+1, signature, 1000, "1")
		c.Know(ledger.StageAimed{App: a.ID, Stage: s.Key(), Aim: ledger.Aim{Planned: true}, First: 12})
	}
	c.To(12)
	c.Know(ledger.StageEnded{App: a.ID, At: 12, Done: api.StageDone{StageKey: a.Order[0].Key(), Failed: true}}, ledger.ContextStopped{App: a.ID, At: 12})
	c.Know(failure(c, a))
	if did, p, _ := recording.Record(c.View(), a); did != recording.Suspected || p.Habit.Suspected != 1.25 {
		t.Errorf("%q, suspected %v, want 10 s of 8", did, p.Habit.Suspected)
	}
}

// What ends a run from outside says nothing of pacing, nor does a run that was not held back.
func TestWhatIsNoFailureOfAPacedRun(t *testing.T) {
	exit := func(code int, suspended units.Seconds) func(*ledgertest.Cluster, *ledger.App) ledger.Fact {
		return func(c *ledgertest.Cluster, a *ledger.App) ledger.Fact {
			return ledger.Exited{App: a.ID, At: a.At(c.Now) + 1, By: api.EndedByExit, Code: code, Suspended: suspended}
		}
	}
	for _, w := range []struct {
		name     string
		deadline units.Seconds
		took     units.Seconds
		ends     func(*ledgertest.Cluster, *ledger.App) ledger.Fact
	}{
		{"without a deadline", 0, 44, failure},
		{"as fast as at all cores", 100, 20, failure},
		{"by a signal", 100, 44, exit(143, 0)},
		{"with a suspended machine", 100, 44, exit(9, 30)},
		{"it has not failed", 100, 44, exit(0, 0)},
		{"nobody knows", 100, 44, func(_ *ledgertest.Cluster, a *ledger.App) ledger.Fact { return ledger.NoticeTold{App: a.ID} }},
	} {
		c, a := given(t, twoJobs(), w.deadline, true, w.took)
		c.Know(w.ends(c, a))
		if did, p, _ := recording.Record(c.View(), a); did == recording.Suspected || did == recording.Cleared || p.Habit.Suspected != 0 {
			t.Errorf("%s: %q, suspected %v", w.name, did, p.Habit.Suspected)
		}
	}
	for name, end := range map[string]func(c *ledgertest.Cluster, a *ledger.App){
		"killed": func(c *ledgertest.Cluster, a *ledger.App) {
			c.Know(ledger.KillAsked{App: a.ID, By: "ann"}, ledger.RunEnded{App: a.ID, State: api.AppFailed, At: 46, By: api.EndedByKill})
		},
		"its driver is gone": func(c *ledgertest.Cluster, a *ledger.App) {
			c.Know(ledger.RunEnded{App: a.ID, State: api.AppFailed, At: 46, By: api.EndedBySilence})
		},
	} {
		c := ledgertest.New(t, "a")
		c.Know(ledger.ProfileSaved{Body: twoJobs()})
		a := c.App("app-1", "p", 100, "a")
		c.To(2)
		s := c.Ready(a, 1, "read", 1000, "1")
		c.Know(ledger.StageAimed{App: a.ID, Stage: s.Key(), Aim: ledger.Aim{Planned: true}, First: 40})
		c.To(46)
		end(c, a)
		if did, _, err := recording.Record(c.View(), a); did != "" || err == nil {
			t.Errorf("%s: %q, %v", name, did, err)
		}
	}
}

// A run at all cores after one that is suspected tells whether pacing was why; one that is held back itself does not.
func TestARunAtAllCoresTellsWhetherPacingWasWhy(t *testing.T) {
	for _, shared := range []bool{false, true} {
		suspected := twoJobs()
		suspected.Habit.Suspected, suspected.Habit.FailedAt, suspected.Shared = 1.6, 3, shared
		for _, w := range []struct {
			name                string
			deadline            units.Seconds
			code                int
			did                 string
			suspected, failedAt float64
		}{
			{"ends well", 0, 0, recording.Merged, 0, 1.6},
			{"fails", 0, 9, recording.Cleared, 0, 3},
			{"by a signal", 0, 143, "", 0, 0},
			{"paced, ends well", 100, 0, recording.Merged, 1.6, 3},
		} {
			c, a := given(t, twoJobs(), w.deadline, false, 20, 10)
			c.Know(ledger.ProfileSaved{Body: suspected}) // By another run meanwhile.
			c.Know(ledger.Exited{App: a.ID, At: 40, By: api.EndedByExit, Code: w.code})
			did, p, _ := recording.Record(c.View(), a)
			if did != w.did || did != "" && (p.Habit.Suspected != w.suspected || p.Habit.FailedAt != w.failedAt || p.Shared) {
				t.Errorf("%s: %q, suspected %v, failed at %v", w.name, did, p.Habit.Suspected, p.Habit.FailedAt)
			}
		}
	}
}
