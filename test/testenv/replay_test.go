package testenv_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/replay"
	"github.com/sparkpacer/pacer/test/testenv"
)

// recordNode returns the history of a node controller that has controlled two
// applications, one beside the other, and was killed and stopped in mid-run.
func recordNode(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	testenv.Run(t, func(e *testenv.Env) {
		e.Node = func(c *daemon.NodeConfig) { c.History, c.Release = path, "1.2.3" }
		n := one(e)
		other := testenv.Chain("other", 2, 10)
		other.Deadline = record(e, other) * 4
		d := paced(e, testenv.Fork("join", 30), 2.5)
		beside := submit(e, other)
		n.Crash(d.ID(), underQuota(e, n, d))
		e.Pass(time.Second)
		n.Kill()
		n.Start()
		e.Pass(3 * time.Second)
		n.Stop()
		e.Pass(time.Second)
		n.Start()
		beside.Wait()
		d.Wait()
		n.Stop()
	})
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// withoutState is the history with the second start's saved state left out.
func withoutState(t *testing.T, lines []string) string {
	t.Helper()
	lines = slices.Clone(lines)
	at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `"state":{`) })
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(lines[at]), &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "state")
	body, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	lines[at] = string(body) + "\n"
	return strings.Join(lines, "")
}

// TestAReplayOfARealNodeGivesItsActions: the daemon's loop, runtime, store and
// cgroup files have made the history, its restarts go on from the states that the
// store had. A history that was tampered with breaks where it was.
func TestAReplayOfARealNodeGivesItsActions(t *testing.T) {
	history := recordNode(t)
	got, err := replay.Run(strings.NewReader(history), "")
	if err != nil {
		t.Fatal(err)
	}
	if got.Nodes != 1 || got.Starts != 3 || got.Calls < 100 || got.Actions < 100 || got.Release != "1.2.3" || got.Stopped != "" {
		t.Errorf("replayed %+v", got)
	}
	for _, what := range []string{`"do":"set quota"`, `"call":"observe"`, `"call":"shutdown"`, `"call":"status"`, "law pacer", `"said":"executor exited`} {
		if !strings.Contains(history, what) {
			t.Errorf("the history has no %s", what)
		}
	}
	if n := strings.Count(history, `"state":{`); n != 2 {
		t.Errorf("%d starts have a saved state, want the second and the third", n)
	}

	lines := strings.SplitAfter(history, "\n")
	middle := len(lines) / 2
	layout := func(n int) string {
		return strings.Replace(history, fmt.Sprintf(`"pacer_history":%d`, replay.Version), fmt.Sprintf(`"pacer_history":%d`, n), 1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"cut":               {strings.Join(lines[:middle], ""), "without its last line"},
		"cut in a line":     {history[:len(history)*2/3], "was cut off after"},
		"without its start": {lines[0] + strings.Join(lines[2:], ""), "line 2 "},
		"without its state": {withoutState(t, lines), "now "},
		"other law":         {strings.Replace(history, `"law":"pacer"`, `"law":"pi"`, 1), "now "},
		"older":             {layout(replay.Version - 1), fmt.Sprintf("line 1: the history has layout %d", replay.Version-1)},
		"newer":             {layout(replay.Version + 1), fmt.Sprintf("line 1: the history has layout %d", replay.Version+1)},
		"without a layout":  {layout(0), "line 1: this is no history"},
	} {
		if _, err := replay.Run(strings.NewReader(c.text), ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
