package spark_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// The samples are read by the JVM's tests too (WireTest, ProgressPageTest), so
// that neither side of a contract can change alone.
func sample(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join("src", "test", "resources", "samples", name)
}

func decode[T any](t *testing.T, name string) T {
	t.Helper()
	body, err := os.ReadFile(sample(t, name))
	if err != nil {
		t.Fatal(err)
	}
	var v T
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields() // The driver may not invent fields.
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// The driver gives its session the nice values of package sharing.
func TestTheDriversNiceValuesAreOurs(t *testing.T) {
	file := filepath.Join("src", "main", "scala", "org", "apache", "spark", "pacer", "DriverSession.scala")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	nice := sharing.Default().Nice
	for _, want := range []string{fmt.Sprintf("object First extends Place(%d)", nice.First), fmt.Sprintf("object Behind extends Place(%d)", nice.Behind),
		"object Even extends Place(0)", fmt.Sprintf("val Starting = %d", nice.Infeasible)} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("%s has no %q", file, want)
		}
	}
}

func TestTheDriversRegistrationIsOurs(t *testing.T) {
	got := decode[api.RegisterRequest](t, "register.json")
	want := api.RegisterRequest{
		V: api.Version, Submission: "u-1", Name: "wordcount", Profile: "wc", User: "alice", UIWebURL: "http://driver-1:4040",
		Deadline: 90, Elapsed: 4.5, RequireFeasible: true, NoWait: true, Nodes: &api.NodeRange{Least: 2, Most: 5, HeapAuto: true}, Mode: api.ModeObserve, Class: api.ClassBatch, AppID: "app-20261121043012-0001-3fa94c", Watched: true, UTCOffset: 3600, Program: "/jobs/wc.py", ByMoment: true, Key: "U" + strings.Repeat("ABC2567", 7) + "ABCDEF", Executors: 7, Planner: "planner-1",
		Context: 2, Before: 12.5, Shared: true,
		Launch: api.Launch{Certainty: 0.9, JobMost: 16,
			DriverURL: "spark://CoarseGrainedScheduler@127.0.0.1:40123", SparkHome: "/opt/spark", JavaHome: "/opt/java",
			SparkVersion: "4.3.0", Cores: 2, Heap: 1 << 30, Overhead: 402653184, OffHeapFixed: true, OffHeapFloor: 1 << 28, OffHeapWeight: 2, OffHeapPage: 2 << 20,
			JavaOptions: []string{"-Dx=y"}, ClassPath: []string{"/a.jar"},
			Env: map[string]string{"PATH": "/bin", "SPARK_USER": "alice"}, TaskCPUs: 2,
			Attach: &api.Attach{Manager: api.ManagerYARN, App: "application_1764300000000_0007", Least: 2, Most: 8, Secret: strings.Repeat("5e", 32)},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
}

func TestTheDriversEventsAreOurs(t *testing.T) {
	key := api.StageKey{Stage: 3, Attempt: 1}
	want := api.Events{V: api.Version, AppID: "app-20261121043012-0001-3fa94c", Submission: "u-1", Planner: "planner-1", Events: []api.Event{
		{Seq: 1, At: 0.5, Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{
			ID: "1", Host: "worker-1", Cores: 4, Memory: 1408 * units.MiB, Container: "container_1764300000000_0007_01_000002", Machine: "00ff-01"}},
		{Seq: 2, At: 0.75, Type: api.EventExecutorGone, Executor: &api.ExecutorEvent{ID: "2", Reason: "killed"}},
		{Seq: 3, At: 1, Type: api.EventStageReady, Stage: &api.StageReady{
			StageKey: key, Job: 2, Name: "count at app.py:3", Signature: "00ff", Parents: []int{0, 1}, Tasks: 8,
			Records: 1000, Bytes: api.Unknown, Weighted: true, Repeats: new(1), Pool: "interactive",
			Query:    &api.QueryStage{Execution: 5, Shape: "0f1e", Nth: 2, Exchange: -1},
			Bindings: []api.Binding{{Executor: "1", Weight: 5.5, Tasks: 5}, {Executor: "3", Weight: 2.5, Tasks: 3}},
		}},
		{Seq: 4, At: 1.25, Type: api.EventStageBound, Bound: &api.StageBound{
			StageKey: key, Bindings: []api.Binding{{Executor: "1", Weight: 8, Tasks: 8}},
		}},
		{Seq: 5, At: 2, Type: api.EventStageDone, Done: &api.StageDone{
			StageKey: key, Failed: true, Reason: "lost", Tasks: 7, RecordsRead: 10, RecordsWritten: 11, BytesRead: 12,
			BytesWritten: 13, BytesRemote: new(int64(6)), BytesCached: 4, TaskCPU: 1.5, TaskTime: 2.5, LongestTask: 0.5, FirstLaunch: 1, LastFinish: 1.75, FixedPart: 0.25, TaskCost: 0.125,
		}},
		{Seq: 6, At: 2.5, Type: api.EventUnpaced, Reason: "streaming"},
		{Seq: 7, At: 3, Type: api.EventEnd, Failed: true, Reason: "exit 1"},
		{Seq: 8, At: 3.25, Type: api.EventQueryEnded, Query: &api.QueryEnded{Execution: 5}},
		{Seq: 9, At: 3.25, Type: api.EventPartBegan, Part: &api.SessionPart{At: 3.125, Name: "daily report", Deadline: 900, ByMoment: true}},
		{Seq: 10, At: 3.5, Type: api.EventPartOver, Failed: true, Part: &api.SessionPart{At: 3.25}},
		{Seq: 11, At: 3.5, Type: api.EventExit, Clean: true},
	}}
	got := decode[api.Events](t, "events.json")
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
}

func TestOurRepliesAreWhatTheDriverReads(t *testing.T) {
	directive := api.Directive{Epoch: 7, Gated: true, Pool: "nightly", Queued: &api.Queue{Place: 2, Of: 3, Start: 64.5, Latest: 80, Why: "no room"}, Wanted: 4, WantedOn: []string{"worker-1", "worker-2"}, Notice: "executor 1 was replaced", Dead: "no memory", Executors: []api.DirectiveExecutor{
		{ID: "1", Node: "node-1", Cores: 1.5}, {ID: "2", Node: "node-2", Cores: 2, Leaving: true, Taken: true, NodeLost: true, PerStage: 3},
	}, Shares: []api.StageShares{{StageKey: api.StageKey{Stage: 3, Attempt: 1}, Rev: 9,
		Shares: []api.ExecutorShare{{Executor: "1", Weight: 5.5}, {Executor: "2", Weight: 2.5}}}}}
	for name, reply := range map[string]any{
		"register_reply.json": api.RegisterReply{
			V: api.Version, AppID: "app-20261121043012-0001-3fa94c", Planner: "planner-1", Own: true, Verdict: api.VerdictTight, Reason: "deadline 1m30s is tight",
			Earliest: 80, Executors: 2, Slots: 4, OffHeap: 268435456, FixedPart: map[string]units.Fraction{"00ff": 0.25}, Directive: directive, Recall: true, AckedSeq: 12,
		},
		"events_reply.json": api.EventsReply{V: api.Version, AckedSeq: 12, Directive: directive},
		"directive.json":    directive,
		"refusal.json":      api.RegisterReply{V: api.Version, Error: api.Errorf(api.KindInfeasible, "too soon")},
	} {
		ours, err := json.Marshal(reply)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := os.ReadFile(sample(t, name))
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if err := json.Unmarshal(ours, &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(theirs, &b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(b, a); d != "" {
			t.Errorf("%s: %s\nwant %s", name, d, ours)
		}
	}
}

func TestTheJVMsPageIsReadable(t *testing.T) {
	readable(t, "page.bin", 1010, 1011)
}

// The page of a jar of the release before is read, too: it tells nothing of collections.
func TestThePageOfAnOlderJarIsReadable(t *testing.T) {
	readable(t, "page6.bin", 0, 0)
}

func readable(t *testing.T, name string, used units.Bytes, collecting time.Duration) {
	t.Helper()
	body, err := os.ReadFile(sample(t, name))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "page")
	if err := os.WriteFile(path, body, 0o600); err != nil {
		t.Fatal(err)
	}
	page, err := progress.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = page.Close() }()
	proof, err := page.Proof()
	for i, b := range proof {
		if err != nil || int(b) != i+1 {
			t.Fatalf("proof %v, %v", proof, err)
		}
	}
	var got meter.Page
	if err := page.Read(&got); err != nil {
		t.Fatal(err)
	}
	first, second := api.StageKey{Stage: 3}, api.StageKey{Stage: 6, Attempt: 2}
	want := meter.Page{
		At: 6000, Generation: 2,
		Memory: meter.Memory{Known: true, Moves: true, InForce: 1001, Storage: 1002, Execution: 1003, Owed: 1004, Acknowledged: 5,
			Spilled: 200, Evicted: 1006, Met: 7, Moving: 1008, Heap: 1009, Used: used, Collecting: collecting},
		Stages: []meter.Stage{
			{Key: first, Finished: 1, Failed: 1, Weight: 1.25, Records: 20, CPU: 100e-9,
				Running: 1, RunningRecords: 400, RunningCPU: 40e-9},
			{Key: second, Running: 1, RunningRecords: 500, RunningCPU: 50e-9, Heaviest: 0.9},
			{Key: api.StageKey{Stage: 4}, Finished: 1, Weight: 2.5, Records: 10, CPU: 50e-9, LargeCPU: 50e-9, LargeReading: 25e-9},
		},
		Tasks: []meter.Task{
			{Stage: first, Partition: 1, Weight: 0.75, CPU: 40e-9, Records: 400},
			{Stage: second, Partition: 7, Weight: 1, CPU: 50e-9, Records: 500},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
