package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/units"
)

func nodeConfig() node.Config {
	c := node.Default()
	c.Node, c.Incarnation, c.Total, c.Offered, c.Memory = "n1", "first", 2, 2, units.GiB
	return c
}

// options record into dir; what ends a recording goes to faults.
func options(dir string, faults chan error) Options {
	return Options{Path: filepath.Join(dir, "history.jsonl"), Node: "n1", Release: "9", Start: time.Unix(0, 0),
		Clock: func() units.Instant { return units.Instant(time.Hour) }, Fault: func(err error) { faults <- err }}
}

// ticks has a new engine tick n times, with one executor.
func ticks(t *testing.T, r *Recorder, n int) {
	t.Helper()
	e, err := node.New(nodeConfig(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Begin(nodeConfig(), nil)
	s := node.Sample{Executors: []node.ExecutorSample{{Key: node.Key{App: "a", ID: "1"}, PID: 1, Measured: true, Quota: units.Unlimited}}}
	for i := range n {
		now := units.Instant(time.Hour) + units.Instant(i)*units.Instant(time.Second/2)
		s.Executors[0].CPU = units.Work(i)
		r.Record(node.Call{Kind: node.CallStep, Now: now, Sample: &s, Actions: e.Step(now, &s), Events: e.Events()})
	}
}

func opened(t *testing.T, o Options) *Recorder {
	t.Helper()
	r, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func closed(t *testing.T, r *Recorder) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// asked replays the history at path.
func asked(t *testing.T, path string) (Replayed, error) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return Run(f, "")
}

func contents(t *testing.T, path string) string {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestAKilledNodesHistoryIsContinued behind its last whole line.
func TestAKilledNodesHistoryIsContinued(t *testing.T) {
	o := options(t.TempDir(), nil)
	r := opened(t, o)
	ticks(t, r, 20)
	closed(t, r)
	whole := contents(t, o.Path)
	if err := os.WriteFile(o.Path, []byte(whole[:len(whole)*2/3]), 0o600); err != nil {
		t.Fatal(err)
	}
	r = opened(t, o)
	ticks(t, r, 5)
	closed(t, r)
	got, err := asked(t, o.Path)
	if err != nil || got.Starts != 2 || got.Calls <= 7 || got.Calls >= 27 || got.Title != "node n1" || got.Release != "9" || got.Stopped != "" {
		t.Errorf("replayed %+v, %v", got, err)
	}
	if info, err := os.Stat(o.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: want it for its owner alone", info.Mode(), err)
	}
}

// TestAHistoryHasALimit: it ends there with a mark, and the next start begins
// another beside it.
func TestAHistoryHasALimit(t *testing.T) {
	faults := make(chan error, 1)
	o := options(t.TempDir(), faults)
	o.Limit = 8 * units.KiB
	r := opened(t, o)
	ticks(t, r, 200)
	closed(t, r)
	if err := <-faults; !strings.Contains(err.Error(), "has reached its") {
		t.Error(err)
	}
	if n := len(contents(t, o.Path)); n < 8<<10 || n > 10<<10 {
		t.Errorf("it has %d bytes", n)
	}
	full, err := asked(t, o.Path)
	if err != nil || full.Calls < 10 || full.Calls > 190 || !strings.Contains(full.Stopped, "has reached its") {
		t.Errorf("replayed %+v, %v", full, err)
	}
	r = opened(t, o)
	ticks(t, r, 3)
	closed(t, r)
	before, err := asked(t, o.Path+".1")
	if err != nil || before != full {
		t.Errorf("the one before gives %+v, %v, gave %+v", before, err, full)
	}
	if got, err := asked(t, o.Path); err != nil || got.Calls != 4 {
		t.Errorf("the new one gives %+v, %v", got, err)
	}
}

// slow is a disk that takes nothing until it is let go, then fails with err.
type slow struct {
	bytes.Buffer
	wait chan struct{}
	err  error
}

func (s *slow) Write(p []byte) (int, error) {
	<-s.wait
	if s.err != nil {
		return 0, s.err
	}
	return s.Buffer.Write(p)
}

// onDisk is a recorder on w in place of a file.
func onDisk(t *testing.T, w io.Writer, faults chan error) *Recorder {
	t.Helper()
	o := options(t.TempDir(), faults)
	o.Limit = Limit
	f, err := openFile(o.Path, int64(Limit))
	if err != nil {
		t.Fatal(err)
	}
	r := &Recorder{o: o, from: o.Clock(), file: f, w: NewWriter(w), queue: make(chan kept, queueLength), done: make(chan struct{})}
	if err := r.w.Head(Line{Title: "slow"}); err != nil {
		t.Fatal(err)
	}
	go r.run()
	return r
}

// TestASlowDiskEndsTheRecordingNotTheControl: Record returns while the disk takes
// nothing; what waited is written, with the reason behind it.
func TestASlowDiskEndsTheRecordingNotTheControl(t *testing.T) {
	disk, faults := &slow{wait: make(chan struct{})}, make(chan error, 1)
	r := onDisk(t, disk, faults)
	ticks(t, r, 3*queueLength)
	close(disk.wait)
	closed(t, r)
	if err := <-faults; !strings.Contains(err.Error(), "the disk is too slow") {
		t.Error(err)
	}
	got, err := Run(&disk.Buffer, "")
	if err != nil || got.Calls < queueLength || got.Calls > 2*queueLength || !strings.Contains(got.Stopped, "the disk is too slow") {
		t.Errorf("replayed %+v, %v", got, err)
	}
}

// TestAFullDiskIsToldOnce and nothing else comes of it.
func TestAFullDiskIsToldOnce(t *testing.T) {
	full := errors.New("no space left on device")
	disk, faults := &slow{wait: make(chan struct{}), err: full}, make(chan error, 1)
	close(disk.wait)
	r := onDisk(t, disk, faults)
	ticks(t, r, 50)
	closed(t, r)
	if err := <-faults; !errors.Is(err, full) {
		t.Error(err)
	}
}

// TestWhatJSONHasNotEndsARecording: the line before is the last.
func TestWhatJSONHasNotEndsARecording(t *testing.T) {
	faults := make(chan error, 1)
	o := options(t.TempDir(), faults)
	r := opened(t, o)
	ticks(t, r, 2)
	r.Record(node.Call{Kind: node.CallStep, Sample: &node.Sample{HostUsed: units.Work(math.NaN())}})
	closed(t, r)
	if err := <-faults; !strings.Contains(err.Error(), "NaN") {
		t.Error(err)
	}
	if got, err := asked(t, o.Path); err != nil || got.Calls != 3 || !strings.Contains(got.Stopped, "NaN") {
		t.Errorf("replayed %+v, %v", got, err)
	}
}

// TestARecorderTakesNoFileThatIsNoHistory, nor one that another writes; one of
// another layout is kept beside it.
func TestARecorderTakesNoFileThatIsNoHistory(t *testing.T) {
	o := options(t.TempDir(), nil)
	for _, text := range []string{"{\"msg\":\"hello\"}\n", "precious", "\n"} {
		if err := os.WriteFile(o.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(o); err == nil || !strings.Contains(err.Error(), "line 1: ") {
			t.Errorf("%q: %v", text, err)
		}
		if got := contents(t, o.Path); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	old := "{\"pacer_history\":7,\"at\":0}\n"
	if err := os.WriteFile(o.Path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := asked(t, o.Path); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("has layout 7, this build reads %d", Version)) {
		t.Errorf("replay: %v", err)
	}
	r := opened(t, o)
	if got := contents(t, o.Path+".1"); got != old {
		t.Errorf("beside it is %q", got)
	}
	if _, err := Open(o); err == nil || !strings.Contains(err.Error(), "another process writes it") {
		t.Errorf("a second recorder: %v", err)
	}
	closed(t, r)
	o.Path = filepath.Dir(o.Path)
	if _, err := Open(o); err == nil {
		t.Error("a directory was taken for a history")
	}
}

// A history holds no secrets of applications, neither of a Plan nor of what an engine goes on
// from, whether that lacks them or not, and gives its actions again all the same.
func TestAHistoryHoldsNoSecrets(t *testing.T) {
	o := options(t.TempDir(), nil)
	r := opened(t, o)
	launch := api.Launch{DriverURL: "spark://h", Heap: units.GiB, JavaOptions: []string{"-Dspark.authenticate.secret=hunter2"},
		Env: map[string]string{"DB_PASSWORD": "hunter2", "A": "shown"}}
	plan := api.Plan{V: api.Version, Epoch: 1, Node: "n1", Apps: []api.PlanApp{{ID: "app-1", Launch: &launch, Executors: []api.ExecutorID{"1"}}}}
	now := units.Instant(time.Hour)
	var saved []byte
	for i := range 3 {
		var state *node.State
		if saved != nil {
			state = new(node.State)
			if err := json.Unmarshal(saved, state); err != nil {
				t.Fatal(err)
			}
		}
		e, err := node.New(nodeConfig(), state)
		if err != nil {
			t.Fatal(err)
		}
		r.Begin(nodeConfig(), saved)
		now += units.Instant(time.Second)
		actions := e.Apply(now, plan)
		for _, a := range actions {
			if a.State == nil {
				continue
			}
			kept := *a.State
			if i == 0 {
				kept.Plan = plan
			}
			if saved, err = json.Marshal(kept); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(saved), "hunter2") != (i == 0) {
				t.Errorf("engine %d goes on from %s", i+1, saved)
			}
		}
		r.Record(node.Call{Kind: node.CallApply, Now: now, Plan: &plan, Actions: actions, Events: e.Events()})
		plan.Epoch++
	}
	closed(t, r)
	text := contents(t, o.Path)
	if strings.Contains(text, "hunter2") || !strings.Contains(text, "shown") {
		t.Errorf("the history says %s", text)
	}
	if got, err := asked(t, o.Path); err != nil || got.Starts != 3 || got.Actions == 0 {
		t.Errorf("replayed %+v, %v", got, err)
	}
}

// What an engine was told of the bus is in its history.
func TestASampleKeepsWhetherPlannersCouldBeHeard(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		if got := saySample(&node.Sample{Deaf: deaf}, true).sample(); got.Deaf != deaf {
			t.Errorf("deaf %v comes back as %v", deaf, got.Deaf)
		}
	}
}
