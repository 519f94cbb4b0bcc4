package sparklog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/eventlog"
)

func TestALogIsReadWithItsTasks(t *testing.T) {
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
	got, err := Read(dir, "app-1")
	if err != nil {
		t.Fatal(err)
	}
	want := []eventlog.Task{
		{Executor: "1", OK: true, Reason: "Success", Launch: 1000, Finish: 3000,
			Metrics: eventlog.Metrics{CPU: 1.5, RemoteBytes: 5, Fetched: eventlog.Flow{Bytes: 12}}},
		{StageKey: api.StageKey{Stage: 1}, Executor: "1", Reason: "FetchFailed", Launch: 3500, Finish: 4500},
	}
	if d := cmp.Diff(want, got.Tasks); d != "" {
		t.Error(d)
	}
	if got.Spark != "4.3.0" || got.Settings["spark.app.name"] != "x" || got.End != 5000 || got.Removed != nil || len(got.Added) != 1 ||
		len(got.Executors) != 1 || got.Executor("1").ID != "1" || len(got.Stages) != 2 || got.Stage(1).ID != 1 {
		t.Errorf("%+v", got.Application)
	}
	remote, local := got.Shuffled()
	if first, last := got.Bounds(); first != 1000 || last != 4500 || got.Wall() != 3.5 || remote != 5 || local != 7 {
		t.Errorf("from %d to %d, %v s, %d and %d bytes", first, last, got.Wall(), remote, local)
	}
	if _, err := Read(dir, "app-2"); err == nil {
		t.Error("a log that is not there is read")
	}
	if err := os.WriteFile(filepath.Join(dir, "app-3"), []byte(lines[0]+"\n{\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir, "app-3"); err == nil || !strings.Contains(err.Error(), "app-3") {
		t.Errorf("a torn log: %v", err)
	}
}
