package torture

import (
	"fmt"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

const (
	// sparkEvery is how often TestSparkSoak submits: 60 applications in half an hour.
	sparkEvery = 30 * time.Second
	// sparkKept is how many ended ones are kept: all that can be kept before the first quarter
	// of half an hour is over.
	sparkKept = 10
	sparkApp  = "../e2e/testdata/entrance.py"
)

// TestSparkSoak is TestSoak with applications on real Spark, one after the other, and `pacer up`
// as a process: 60 in half an hour. The first one is recorded, the others have a deadline. Each
// ends with the answer of the first one, and nothing that the process has grows.
func TestSparkSoak(t *testing.T) {
	if *soakFor <= 0 {
		t.Skip("takes as long as is asked for: make soak ARGS='-soak 30m'")
	}
	realenv.RequireSpark(t)
	up := realenv.StartUp(t, "--set", fmt.Sprint("planner.history=", sparkKept), "--set", fmt.Sprint("node.keep-logs-apps=", sparkKept))
	s, all := Soak{Minutes: soakFor.Minutes(), Spark: true}, series{}
	var want string
	began, every := time.Now(), time.NewTicker(5*time.Second)
	defer every.Stop()
	sample := func(now time.Time) {
		if elapsed := now.Sub(began); elapsed > *soakFor/4 {
			all.add(elapsed, processHas(up.Up.PID(), up.Dir))
		}
	}
	for time.Since(began) < *soakFor {
		args := []string{sparkApp, "1"}
		if s.Applications > 0 {
			args = append([]string{"--pacer-deadline", "28s"}, args...)
		}
		run := up.Submit(args...)
		next := time.After(sparkEvery)
		for ended := false; !ended; {
			select {
			case <-run.Done():
				ended = true
			case now := <-every.C:
				sample(now)
			}
		}
		got := realenv.Results(run.Answer())
		if want == "" {
			want = got
		}
		if code := run.Wait(time.Minute); code != 0 || got == "" || got != want {
			t.Fatalf("application %d: exit %d, answer %q, want %q", s.Applications, code, got, want)
		}
		s.Applications++
		for waits := time.Since(began) < *soakFor; waits; {
			select {
			case <-next:
				waits = false
			case now := <-every.C:
				sample(now)
			}
		}
	}
	for _, a := range up.Apps() {
		if a.State != api.AppFinished {
			t.Errorf("%s has ended %s", a.ID, a.State)
		}
	}
	all.into(&s)
	delete(s.Slope, Stores) // They grow until they are compacted, from 4 MiB on: more than 60 applications write.
	report(t, s)
	keepSoak(t, s)
}
