package profiles_test

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
)

// A deadline hangs on the pool with most of the work, which a run tells its profile.
func TestADeadlineHangsOnThePoolWithMostWork(t *testing.T) {
	r := profiles.NewRecorder("asked")
	for i, pool := range []string{"interactive", "nightly", "interactive", "nightly"} {
		s := ready(i, i, "job "+pool)
		s.Pool = pool
		r.Ready(2, s)
		r.Done(9, done(i))
		r.Work(s.StageKey, 3)
	}
	r.Work(api.StageKey{Stage: 3}, 5)
	p := finish(t, r, 10)
	if got := p.Habit.Pool; got != "nightly" {
		t.Errorf("it hangs on %q", got)
	}
	none := p
	none.Habit.Pool = ""
	if learnt, _, err := profiles.Learn(none, p, profiles.Terms{}); err != nil || learnt.Habit.Pool != "nightly" {
		t.Errorf("after a run that tells of pools it hangs on %q: %v", learnt.Habit.Pool, err)
	}
}
