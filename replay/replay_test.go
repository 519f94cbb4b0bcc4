package replay_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/replay"
	"github.com/sparkpacer/pacer/sim"
)

// recordHistory returns the history of a run with faults.
func recordHistory(t testing.TB) []byte {
	t.Helper()
	s, err := sim.ParseScenario("f", `# A history.
nodes 2 cores=4
app job head=3s tail=0.2s
  stage a tasks=60 work=100 records=1000000
  stage b tasks=60 work=100 after=a records=1000000
at 0s submit job deadline=1.6x
at 10s controller-down n1
at 12s controller-up n1
at 15s quotas-refused n2
at 18s quotas-taken n2
at 20s executor-lost n2
`)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := s.Run(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestAReplayGivesTheRecordedActions, with restarts, refused quotas and a lost
// executor in the history.
func TestAReplayGivesTheRecordedActions(t *testing.T) {
	history := recordHistory(t)
	r, err := replay.Run(bytes.NewReader(history), "")
	if err != nil {
		t.Fatal(err)
	}
	if r.Nodes != 2 || r.Calls < 100 || r.Actions < 50 || r.Title != "A history." {
		t.Errorf("replayed %+v", r)
	}
	one, err := replay.Run(bytes.NewReader(history), "n2")
	if err != nil || one.Nodes != 1 || one.Calls >= r.Calls {
		t.Errorf("of n2 alone %+v, %v", one, err)
	}
}

func TestAReplaySaysWhereAHistoryBreaks(t *testing.T) {
	history := string(recordHistory(t))
	lines := strings.SplitAfter(history, "\n")
	middle := len(lines) / 2
	change := func(old, now string) string { return strings.Replace(history, old, now, 1) }
	layout := func(n int) string {
		return change(fmt.Sprintf(`"pacer_history":%d`, replay.Version), fmt.Sprintf(`"pacer_history":%d`, n))
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":     {"", "line 1: the history is empty"},
		"foreign":   {"{\"msg\":\"hello\"}\n", "line 1: this is no history of pacer"},
		"older":     {layout(replay.Version - 1), fmt.Sprintf("line 1: the history has layout %d, this build reads %d", replay.Version-1, replay.Version)},
		"newer":     {layout(replay.Version + 1), fmt.Sprintf("line 1: the history has layout %d, this build reads %d", replay.Version+1, replay.Version)},
		"unsaid":    {layout(0), "line 1: this is no history"},
		"cut":       {strings.Join(lines[:middle], ""), "the history ends here without its last line"},
		"cut line":  {history[:len(history)-3], "it has no end: the history was cut off after"},
		"a line":    {strings.Join(lines[:middle], "") + strings.Join(lines[middle+1:], ""), "line "},
		"no node":   {strings.Replace(history, lines[1], "", 1), "line 2 "},
		"a quota":   {change(`"do":"set quota"`, `"do":"set weight"`), "action "},
		"two":       {lines[0][:len(lines[0])-1] + " {}\n" + strings.Join(lines[1:], ""), "line 1: this is no history"},
		"behind":    {lines[0] + lines[1][:len(lines[1])-1] + " oops\n", "line 2: 4 bytes follow its JSON object"},
		"no calls":  {lines[0] + `{"at":0,"end":1}` + "\n", "line 2: the history ends without a call"},
		"not JSON":  {strings.Join(lines[:middle], "") + "oops\n", "line "},
		"otherwise": {change(`"Quantum":0.05`, `"Quantum":0.5`), "now "},
	} {
		_, err := replay.Run(strings.NewReader(c.text), "")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := replay.Run(strings.NewReader(history), "n9"); err == nil || !strings.Contains(err.Error(), `no node "n9"`) {
		t.Errorf("unknown node: %v", err)
	}
}
