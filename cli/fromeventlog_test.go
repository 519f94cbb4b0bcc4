package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
)

// smallLog is the log of an application of one stage.
var smallLog = strings.Join([]string{
	`{"Event":"SparkListenerLogStart","Spark Version":"4.3.0"}`,
	`{"Event":"SparkListenerExecutorAdded","Timestamp":1000,"Executor ID":"1","Executor Info":{"Host":"h","Total Cores":4}}`,
	`{"Event":"SparkListenerApplicationStart","App Name":"sales 2026-11-29","App ID":"app-1","Timestamp":1000,"User":"u"}`,
	`{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":2000,"Stage IDs":[0]}`,
	`{"Event":"SparkListenerStageSubmitted","Stage Info":{"Stage ID":0,"Stage Attempt ID":0,"Stage Name":"count at a.py:1","Number of Tasks":1,` +
		`"RDD Info":[{"RDD ID":0,"Name":"ParallelCollectionRDD","Parent IDs":[],"Number of Partitions":1}],"Submission Time":2000}}`,
	`{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task Type":"ResultTask","Task End Reason":{"Reason":"Success"},"Task Info":` +
		`{"Index":0,"Launch Time":2000,"Finish Time":5000,"Executor ID":"1"},"Task Metrics":{"Executor CPU Time":2000000000,"Executor Run Time":2500}}`,
	`{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":0,"Stage Attempt ID":0,"Stage Name":"count at a.py:1","Number of Tasks":1,` +
		`"RDD Info":[{"RDD ID":0,"Name":"ParallelCollectionRDD","Parent IDs":[],"Number of Partitions":1}],"Submission Time":2000,"Completion Time":5000}}`,
	`{"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":5000,"Job Result":{"Result":"JobSucceeded"}}`,
	`{"Event":"SparkListenerApplicationEnd","Timestamp":6000}`,
}, "\n") + "\n"

func TestEventLogsMakeProfiles(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	for name, body := range map[string]string{"app-1": smallLog, "app-2": "no log", "app-3": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// Without --put it needs no planner, and prints a profile that put takes.
	o := w.run(t, "profiles", "from-eventlog", filepath.Join(dir, "app-1"))
	p, err := api.DecodeProfile(strings.NewReader(o.out))
	if o.code != 0 || err != nil || !p.Contended || p.Name != "sales *" || p.Work() != 2.6 || !strings.Contains(o.err, "new") {
		t.Fatalf("exit %d, %v: %s\n%s", o.code, err, o.err, o.out)
	}
	piped := w.runWith(t, context.Background(), smallLog, "profiles", "from-eventlog", "-", "--name", "mine")
	if !strings.Contains(piped.out, `"name": "mine"`) || piped.code != 0 {
		t.Errorf("from standard input: %s", piped.err)
	}
	// With it each is merged into what is stored, but for the runs that this has.
	f := startPlanner(t, &fakePlanner{profiles: []api.Profile{p}})
	o = w.run(t, "--planner", f.address, "profiles", "from-eventlog", filepath.Join(dir, "app-1"), "--put")
	if o.code != 0 || !strings.Contains(o.out, "a log of this run has taught the profile before") {
		t.Errorf("exit %d of a run that is known: %s\n%s", o.code, o.err, o.out)
	}
	next := strings.ReplaceAll(smallLog, "app-1", "app-9")
	if err := os.WriteFile(filepath.Join(dir, "app-4"), []byte(next), 0o644); err != nil {
		t.Fatal(err)
	}
	o = w.run(t, "--planner", f.address, "profiles", "from-eventlog", "--all", dir, "--put")
	for _, want := range []string{p.Name, "merged", "known", "skipped", "it has 0 bytes", `it begins with "no log"`} {
		if !strings.Contains(o.out, want) {
			t.Errorf("exit %d: %s\n%s, want %s", o.code, o.err, o.out, want)
		}
	}
	if put := f.last(t, api.VerbProfilePut).Body; put.Name != p.Name || put.Runs != 2 {
		t.Errorf("%+v", put)
	}
	w.run(t, "profiles", "from-eventlog").wantLine(t, command.ExitUsage, "want the path of an event log")
	w.run(t, "profiles", "from-eventlog", "/does/not/exist").wantLine(t, command.ExitNoInput, "event log: stat /does/not/exist")
}
