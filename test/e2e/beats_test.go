package e2e

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestHeartbeats runs stages whose accumulators end heartbeats, on each Spark: one that is asked whether it is zero before
// it has been read back whole, 50,000 times, and one that throws whenever the heartbeater asks. The first ends no
// heartbeats; where the second one has ended those of its executor, the executor's plugin beats in their place: it stays, and
// its tasks run once.
func TestHeartbeats(t *testing.T) {
	realenv.RequireAll(t)
	realenv.Beside(t)
	jar := realenv.Compiled(t, "testdata/Beats.java")
	s := realenv.New(t)
	s.UseArchives(daemon.NoArchives) // Each Spark would have one made for two runs.
	s.StartUp()
	for _, c := range []struct {
		way, want string
		conf      []string
	}{
		{"late", "RESULT read 50000 ended 0 attempt 0", []string{"spark.executor.heartbeatInterval=20ms",
			"spark.executor.heartbeat.maxFailures=1000000"}},
		{"throws", "RESULT read 2 ended 1 attempt 0", []string{"spark.executor.heartbeat.dropZeroAccumulatorUpdates=true",
			"spark.network.timeout=12s", "spark.network.timeoutInterval=1s", "spark.executor.heartbeatInterval=1s"}},
	} {
		args := []string{"--class", "Beats"}
		for _, conf := range c.conf {
			args = append(args, "--conf", conf)
		}
		run := s.Submit(append(args, jar, c.way)...)
		if code := run.Wait(patience); code != 0 {
			t.Fatalf("%s: exit %d", c.way, code)
		}
		if got := realenv.Results(run.Answer()); got != c.want {
			t.Errorf("%s: %s, want %s", c.way, got, c.want)
		}
		app := s.AwaitApp("the run to be finished", patience, finished)
		if log := s.Log(app.ID); len(log.Added) != len(app.Executors) {
			t.Errorf("%s: %d executors were added, %d ran: %s", c.way, len(log.Added), len(app.Executors), app.Notices)
		}
		for _, notice := range app.Notices {
			if strings.Contains(notice, "sends no heartbeats") {
				t.Errorf("%s: %s", c.way, notice)
			}
		}
	}
}
