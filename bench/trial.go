package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/internal/benchline"
	"github.com/sparkpacer/pacer/internal/realenv"
	"github.com/sparkpacer/pacer/units"
)

// memory is the executors' heap, as on stock Spark.
var memory = []string{"--executor-memory", "1g"}

// trial runs one workload in all the ways there are. A cluster of stock Spark and a
// Pacer are up all the time; one of them has the machine, the other idles.
type trial struct {
	options  trialOptions
	workload workload
	keep     string // The file of kept.
	archives string

	cluster standalone
	system  *realenv.System
	account *account // Of the system and of what is submitted to it.
	tuned   []string
	kept    recording
}

// recording is what a trial has to know of its first run under Pacer: kept in a file,
// so that a campaign goes on with it.
type recording struct {
	App string `json:"app"`
	// Answer is the line that every run has to print.
	Answer string `json:"answer"`
	// Properties are the driver's.
	Properties map[string]string `json:"properties"`
	// Profile is that of the runs at all cores.
	Profile json.RawMessage `json:"profile"`
}

// open brings both systems up and records the workload where that is not done.
func (b *trial) open(t testing.TB) {
	t.Helper()
	b.account = newAccount(t)
	b.system = realenv.New(t)
	b.system.Behind = b.account.behind()
	b.system.UseArchives(b.archives)
	b.system.StartUp(append([]string{"--cores", strconv.Itoa(standaloneCores)}, b.options.settings()...)...) // Stock Spark has all cores too.
	b.account.node(t, b.system.Node)
	b.cluster = startStandalone(t)
	var err error
	if b.kept, err = readRecording(b.keep); errors.Is(err, os.ErrNotExist) {
		b.record(t)
	} else if err != nil {
		t.Fatal(err)
	}
	b.tuned = tunedConf(t, b.kept.Properties, b.archives)
}

// readRecording reads what was kept in a file.
func readRecording(path string) (kept recording, err error) {
	body, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(body, &kept)
	}
	if err != nil {
		return kept, fmt.Errorf("read the recording of a workload: %w", err)
	}
	return kept, nil
}

// record runs the workload under Pacer for the first time. The run is no figure.
func (b *trial) record(t testing.TB) {
	t.Helper()
	e, app := b.pacer(t)
	b.kept = recording{App: app.Name, Properties: e.Properties}
	// They were started with less: alone, executors have it all soon.
	most := units.Bytes(0)
	for i := range app.Executors {
		most = max(most, app.Executors[i].Memory.OffHeap)
	}
	if most > 0 {
		b.kept.Properties["spark.memory.offHeap.size"] = most.String()
	}
	b.kept.Answer = b.answer(t, e)
	b.save(t)
	t.Logf("recorded in %.1f s", e.Wall)
}

// save keeps the profile once the planner has learnt one run more: it does when the
// exit code is known, a moment after the end. A run that teaches nothing is told of.
func (b *trial) save(t testing.TB) {
	t.Helper()
	before := b.runs(t)
	for limit, tick := time.After(30*time.Second), time.Tick(200*time.Millisecond); b.runs(t) == before; {
		select {
		case <-tick:
		case <-t.Context().Done():
			t.Fatal("interrupted")
		case <-limit:
			if before == 0 {
				t.Fatalf("no profile %s was recorded", b.kept.App)
			}
			t.Logf("the run has taught the profile %s nothing", b.kept.App)
			return
		}
		if code, out := b.system.Pacer("profiles", "show", b.kept.App); code == 0 {
			b.kept.Profile = json.RawMessage(out)
		}
	}
	body, err := json.MarshalIndent(b.kept, "", " ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(b.keep), 0o755)
	}
	if err == nil {
		err = os.WriteFile(b.keep+".new", body, 0o644)
	}
	if err == nil {
		err = os.Rename(b.keep+".new", b.keep)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// runs are those that the kept profile has learnt from.
func (b *trial) runs(t testing.TB) int {
	t.Helper()
	if len(b.kept.Profile) == 0 {
		return 0
	}
	return b.kept.profile(t).Runs
}

// profile is the kept profile.
func (k recording) profile(t testing.TB) (p api.Profile) {
	t.Helper()
	if err := json.Unmarshal(k.Profile, &p); err != nil {
		t.Fatalf("the profile of %s: %v", k.App, err)
	}
	return p
}

// putProfile gives a planner a profile that was kept, whatever it has learnt since.
func putProfile(t testing.TB, s *realenv.System, profile []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "profile.json")
	if err := os.WriteFile(file, profile, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := s.Pacer("profiles", "put", file); code != 0 {
		t.Fatalf("pacer profiles put: exit %d: %s", code, out)
	}
}

// take makes one run. tuned is the median of tuned stock's times, from which a paced
// run has its deadline.
func (b *trial) take(t testing.TB, s step, tuned float64) benchline.Run {
	t.Helper()
	r := benchline.Run{Workload: b.workload.name, Variant: b.options.variant(), Phase: s.phase, Round: s.round, Baseline: s.baseline,
		Archive: s.baseline != stockAsIs}
	var e endedRun
	switch s.baseline {
	case stockAsIs:
		e = stockRun(t, b.cluster, b.options.command(b.workload)...)
	case tunedOne:
		e = stockRun(t, b.cluster, append(slices.Clone(b.tuned), b.options.command(b.workload)...)...)
	case fullOne:
		putProfile(t, b.system, b.kept.Profile)
		e, _ = b.pacer(t)
		b.save(t)
	case pacedOne:
		putProfile(t, b.system, b.kept.Profile)
		within := units.Seconds(tuned * (1 + float64(s.slack)/100)).Duration().Truncate(time.Millisecond)
		deadline := within.Seconds()
		var app api.AppDetail
		e, app = b.pacer(t, "--pacer-deadline", fmt.Sprintf("%dms", within.Milliseconds()))
		r.Slack, r.Deadline, r.Planner, r.Pacing, r.Reason = &s.slack, &deadline, app.ErrorPct, app.Pacing, app.Reason
	}
	r.Wall, r.CoreSeconds = e.Wall, e.CoreSeconds
	if said := b.answer(t, e); said != b.kept.Answer {
		t.Fatalf("%s answers %q, the recorded run %q", s, said, b.kept.Answer)
	}
	return r
}

// pacer submits the workload to Pacer with more flags and waits for its exit.
func (b *trial) pacer(t testing.TB, flags ...string) (endedRun, api.AppDetail) {
	t.Helper()
	before := b.account.used(t)
	run := b.system.Submit(slices.Concat(memory, flags, b.options.command(b.workload))...)
	e := awaitRun(t, run, b.account, before)
	app := ended(b.system)
	e.Log = b.system.Log(app.ID)
	return e, app
}

// answer is what all runs print alike: the workloads' last line, else all of it.
func (b *trial) answer(t testing.TB, e endedRun) string {
	t.Helper()
	if b.workload.app == "" {
		return strings.TrimSpace(e.Answer)
	}
	line, err := realenv.Line(e.Answer, "RESULT ")
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// makeArchive has an idle Pacer make the class-data archive in dir, and returns what
// that took, in core-seconds, its daemons included.
func makeArchive(t testing.TB, dir string) float64 {
	t.Helper()
	account := newAccount(t)
	s := realenv.New(t)
	s.Behind = account.behind()
	s.UseArchives(dir)
	s.StartUp()
	before := account.used(t)
	s.Up.Await("class-data archive made", 15*time.Minute)
	return account.used(t) - before
}

// settings are those of pacer up that the options give.
func (o trialOptions) settings() []string {
	var args []string
	for _, set := range o.set {
		args = append(args, "--set", set)
	}
	return args
}

// recording is the file of what the trial of a workload has recorded.
func (c *campaign) recording(w workload, o trialOptions) string {
	return filepath.Join("out/bench/recorded", strings.ReplaceAll(at(c.ID+"-"+w.name, o.variant()), "/", "_")+".json")
}
