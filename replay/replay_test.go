package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/replay"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
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

// A replay goes by the configuration that the engine was given while it ran.
func TestAReplayGoesByAnotherConfiguration(t *testing.T) {
	cfg := node.Default()
	cfg.Node, cfg.Incarnation, cfg.Total, cfg.Offered, cfg.Memory = "n1", "one", 2, 2, units.GiB
	e, err := node.New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	next := cfg
	next.Supervisor.Strategy = supervisor.Proportional
	write := func(leaveOut bool) *bytes.Buffer {
		var history bytes.Buffer
		w := replay.NewWriter(&history)
		begin, sample := replay.New("n1", cfg, nil), &node.Sample{}
		lines := []replay.Line{begin, replay.Asked("n1", &node.Call{Kind: node.CallStep, Now: 1e9, Sample: sample, Actions: e.Step(1e9, sample)})}
		actions, err := e.Configure(2e9, next)
		if err != nil || len(actions) == 0 {
			t.Fatalf("%d actions, %v", len(actions), err)
		}
		lines = append(lines, replay.Asked("n1", &node.Call{Kind: node.CallConfigure, Now: 2e9, Config: &next, Actions: actions}))
		lines = append(lines, replay.Asked("n1", &node.Call{Kind: node.CallStep, Now: 4e9, Sample: sample, Actions: e.Step(4e9, sample)}))
		if leaveOut {
			lines = append(lines[:2], lines[3])
		}
		faults := []error{w.Head(replay.Line{Title: "n1"})}
		for i := range lines {
			faults = append(faults, w.Write(&lines[i]))
		}
		if err := errors.Join(append(faults, w.End(4, ""))...); err != nil {
			t.Fatal(err)
		}
		if e, err = node.New(cfg, nil); err != nil {
			t.Fatal(err)
		}
		return &history
	}
	if r, err := replay.Run(write(false), ""); err != nil || r.Calls != 4 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := replay.Run(write(true), ""); err == nil {
		t.Error("without the change the same was answered")
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
