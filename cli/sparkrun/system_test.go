package sparkrun

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
)

func TestCommandsOfASystem(t *testing.T) {
	s := System{Pacer: "/bin/pacer", Dir: "/d", Address: "h:1", Node: "n", Inside: []string{"enter", "net"}, Behind: []string{"count"}, Env: []string{"A=b"}}
	up, err1 := s.Up("--cores", "2")
	daemon, err2 := s.Daemon("planner", "p", "--listen", "h:1")
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for _, c := range []struct {
		command Command
		want    string
	}{
		{up, "count enter net /bin/pacer up --listen h:1 --node-name n --planner-http PORT --node-http PORT --state-dir /d/state --cores 2"},
		{daemon, "count enter net /bin/planner --http PORT --state-dir /d/p --listen h:1"},
		{s.Submit("app.py"), "count enter net /bin/pacer submit --pacer-planner h:1 app.py"},
		{s.Ask("apps"), "enter net /bin/pacer --planner h:1 apps"},
		{System{Pacer: "pacer", Address: "h:1"}.Ask(), "pacer --planner h:1"},
	} {
		line := append([]string{c.command.Path}, c.command.Args...)
		for i, word := range line {
			if strings.HasPrefix(word, "127.0.0.1:") {
				line[i] = "PORT"
			}
		}
		if got := strings.Join(line, " "); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if want := []string{"A=b", "PACER_CREDENTIALS_DIR=/d/credentials"}; !slices.Equal(up.Env, want) || !slices.Equal(s.Ask().Env, want) {
		t.Errorf("environment %q", up.Env)
	}
}

func TestFreePortsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 50 {
		address, err := FreePort()
		if err != nil || seen[address] {
			t.Fatalf("%s, %v: given before: %t", address, err, seen[address])
		}
		seen[address] = true
	}
}

func TestReadLog(t *testing.T) {
	dir := t.TempDir()
	lines := []string{
		`{"Event":"SparkListenerLogStart","Spark Version":"4.3.0"}`,
		`{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{"spark.app.name":"x"}}`,
		`{"Event":"SparkListenerExecutorAdded","Executor ID":"1"}`,
		`{"Event":"SparkListenerStageSubmitted","Stage Info":{"Stage ID":0,"Parent IDs":[]}}`,
		`{"Event":"SparkListenerTaskEnd","Stage ID":0,"Task End Reason":{"Reason":"Success"},"Task Info":{"Executor ID":"1","Launch Time":1000,"Finish Time":3000},` +
			`"Task Metrics":{"Executor CPU Time":1500000000,"Shuffle Read Metrics":{"Remote Bytes Read":5,"Local Bytes Read":7}}}`,
		`{"Event":"SparkListenerStageSubmitted","Stage Info":{"Stage ID":1,"Parent IDs":[0]}}`,
		`{"Event":"SparkListenerTaskEnd","Stage ID":1,"Task End Reason":{"Reason":"FetchFailed"},"Task Info":{"Executor ID":"1","Launch Time":3500,"Finish Time":4500,"Failed":true}}`,
		`{"Event":"SparkListenerApplicationEnd","Timestamp":5000}`,
		`{"Event":"SparkListenerExecutorRemoved","Executor ID":"1"}`,
	}
	if err := os.WriteFile(filepath.Join(dir, "app-1.inprogress"), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := ReadLog(dir, "app-1")
	if err != nil {
		t.Fatal(err)
	}
	want := Log{Spark: "4.3.0", Properties: map[string]string{"spark.app.name": "x"}, Parents: map[int][]int{0: {}, 1: {0}}, Added: []api.ExecutorID{"1"}, AddedAt: map[api.ExecutorID]int64{"1": 0}, RemovedAt: map[api.ExecutorID]int64{}, End: 5000,
		Tasks: []Task{
			{Executor: "1", OK: true, Reason: "Success", Launch: 1000, Finish: 3000, CPU: 1.5, Remote: 5, Local: 7},
			{StageKey: api.StageKey{Stage: 1}, Executor: "1", Reason: "FetchFailed", Launch: 3500, Finish: 4500},
		}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	remote, local := got.Shuffled()
	if first, last := got.Bounds(); first != 1000 || last != 4500 || got.Wall() != 3.5 || remote != 5 || local != 7 {
		t.Errorf("from %d to %d, %v s, %d and %d bytes", first, last, got.Wall(), remote, local)
	}
	if _, err := ReadLog(dir, "app-2"); err == nil {
		t.Error("a log that is not there is read")
	}
	if err := os.WriteFile(filepath.Join(dir, "app-3"), []byte(lines[0]+"\n{\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadLog(dir, "app-3"); err == nil || !strings.Contains(err.Error(), "app-3") {
		t.Errorf("a torn log: %v", err)
	}
}
