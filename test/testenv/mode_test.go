package testenv_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/testenv"
)

// An observed application runs at all cores, beside it stands what would have
// been, and nothing is written into its groups; a restart of its node controller
// changes that as little as its end does.
func TestAnObservedApplicationIsOnlyWatched(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		n := one(e)
		app := testenv.Fork("join", 20)
		full := record(e, app)
		app.Deadline, app.Mode = full*1.5, api.ModeObserve
		d := submit(e, app)
		if !strings.Contains(d.Reply().Reason, "observe") || d.Reply().Verdict != api.VerdictFeasible {
			t.Errorf("reply %+v", d.Reply())
		}
		untouched := func(when string) {
			for _, id := range []api.ExecutorID{"1", "2"} {
				if w := n.Written(d.ID(), id); len(w) != 0 {
					t.Errorf("%s executor %s has %v", when, id, w)
				}
			}
		}
		e.Until("grants are known", func() bool {
			stages := e.App(d.ID()).Stages
			return len(stages) > 0 && len(stages[0].Samples) > 4
		})
		untouched("in mid-run")
		n.Stop()
		untouched("after its node controller left")
		n.Start()
		e.Pass(5 * time.Second)
		untouched("under the next one")

		ended := d.Wait()
		if ended.Duration > full*1.1 || ended.Pacing != "observed" || ended.WouldCores == nil {
			t.Errorf("it took %v of %v at all cores, pacing %s", ended.Duration, full, ended.Pacing)
		}
		if *ended.WouldCores <= 0 || *ended.WouldCores >= ended.MeanCores || ended.QuotaChanges == 0 {
			t.Errorf("it would have had %v cores of %v by %d quotas", *ended.WouldCores, ended.MeanCores, ended.QuotaChanges)
		}
		if last := len(ended.Notices) - 1; last < 0 || !strings.HasPrefix(ended.Notices[last], "observed: Pacer would have held 3 of 3 stages") {
			t.Errorf("notices %q", ended.Notices)
		}
	})
}
