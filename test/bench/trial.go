package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

// memory is the executors' heap, as on stock Spark.
var memory = []string{"--executor-memory", "1g"}

// outcome is one run of an application.
type outcome struct {
	workload string
	// way is what ran: a baseline, or a way of a mix.
	way string
	// phase and round are when it ran within its workload's order; slack is that of a
	// paced run's deadline, in per cent.
	phase        string
	round, slack int
	// wall is from the start of the command to its exit, in seconds, by the benchmark's
	// own clock; coreSeconds is all that was used meanwhile.
	wall, coreSeconds float64
	// deadline is in seconds from the start of the command; 0 for none.
	deadline float64
	// at is when it was started, in seconds from the start of the first of several.
	at float64
	// beside is the part of coreSeconds that executors of other applications used, machine
	// what the machine's CPUs were not idle for meanwhile: coreSeconds and what the kernel,
	// all else that ran and the hypervisor took.
	beside, machine float64
	// planner is the error that the planner itself reports, in per cent, pacing how it ran;
	// empty without Pacer.
	planner *float64
	pacing  string
}

// errorPct is how long before its deadline a run has exited, in per cent of the
// deadline: negative when it was late. It is false for a run without a deadline.
func (r outcome) errorPct() (float64, bool) {
	if r.deadline <= 0 {
		return 0, false
	}
	return 100 * (r.deadline - r.wall) / r.deadline, true
}

func (r outcome) String() string {
	text := fmt.Sprintf("%.2f s, %.1f core-seconds", r.wall, r.coreSeconds)
	pct, ok := r.errorPct()
	if !ok {
		return text
	}
	side := "early"
	if pct < 0 {
		side = "late"
	}
	return fmt.Sprintf("%s, due after %.2f s: %+.2f %% (%s), %s", text, r.deadline, pct, side, r.pacing)
}

// trialRows are workloads that run in all the ways there are.
func trialRows(o trialOptions, all []workload) []row {
	if o.runs == 0 {
		o.runs = 3
	}
	var shared archives
	var out []row
	for _, w := range all {
		todo := steps(w, o.runs, o.slacksOf(w), o.seed)
		measure := func(t testing.TB, add adder) {
			b := trial{options: o, workload: w, archives: shared.dir(t, add)}
			b.open(t)
			add.all(figuresOf(w.name, o.variant(), b.all(t, todo)))
		}
		out = append(out, row{name: w.name, minutes: o.minutes(todo), spark: true, extra: w.extra, measure: measure})
	}
	return out
}

// archives is where the class-data archive is that executors map.
type archives string

// dir makes the archive with the first row that asks for it.
func (a *archives) dir(t testing.TB, add adder) string {
	t.Helper()
	if *a != "" {
		return string(*a)
	}
	dir, err := filepath.Abs("out/bench/archives")
	if err == nil {
		err = os.RemoveAll(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Log("making the class-data archive; about a minute")
	part(t, "archive", func(t testing.TB) {
		add("archive.core_seconds", benchline.One(makeArchive(t, dir)), "core-seconds")
	})
	*a = archives(dir)
	return dir
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

// trial runs one workload in all the ways there are. A cluster of stock Spark and a
// Pacer are up all the time; one of them has the machine, the other idles.
type trial struct {
	options  trialOptions
	workload workload
	archives string

	cluster standalone
	system  *realenv.System
	account *account // Of the system and of what is submitted to it.
	tuned   []string
	kept    recording
}

// recording is what a trial has to know of its first run under Pacer.
type recording struct {
	app string
	// answer is the line that every run has to print.
	answer string
	// properties are the driver's.
	properties map[string]string
	// profile is that of the runs at all cores, nil before the first.
	profile []byte
}

// open brings both systems up and records the workload where that is not done.
func (b *trial) open(t testing.TB) {
	t.Helper()
	b.account = newAccount(t)
	b.system = realenv.New(t)
	b.system.Behind = b.account.behind()
	b.system.UseArchives(b.archives)
	// Stock Spark has all cores too.
	b.system.StartUp(append([]string{"--cores", strconv.Itoa(standaloneCores)}, b.options.settings()...)...)
	b.account.node(t, b.system.Node)
	b.cluster = startStandalone(t)
	if b.kept.profile == nil {
		b.record(t)
	}
	b.tuned = tunedConf(t, b.kept.properties, b.archives)
}

// record runs the workload under Pacer for the first time. The run is no figure.
func (b *trial) record(t testing.TB) {
	t.Helper()
	e, app := b.pacer(t)
	b.kept = recording{app: app.Name, properties: e.Settings, answer: b.answer(t, e)}
	// They were started with less: alone, executors have it all soon.
	most := units.Bytes(0)
	for i := range app.Executors {
		most = max(most, app.Executors[i].Memory.OffHeap)
	}
	if most > 0 {
		b.kept.properties["spark.memory.offHeap.size"] = most.String()
	}
	b.learn(t)
	t.Logf("recorded in %.1f s", e.Wall)
}

// learn keeps the profile once the planner has learnt one run more: it does when the
// exit code is known, a moment after the end. A run that teaches nothing is told of.
func (b *trial) learn(t testing.TB) {
	t.Helper()
	before := b.kept.runs(t)
	for limit, tick := time.After(30*time.Second), time.Tick(200*time.Millisecond); b.kept.runs(t) == before; {
		select {
		case <-tick:
		case <-t.Context().Done():
			t.Fatal("interrupted")
		case <-limit:
			if before == 0 {
				t.Fatalf("no profile %s was recorded", b.kept.app)
			}
			t.Logf("the run has taught the profile %s nothing", b.kept.app)
			return
		}
		if code, out := b.system.Pacer("profiles", "show", b.kept.app); code == 0 {
			b.kept.profile = []byte(out)
		}
	}
}

// runs are those that the profile has learnt from.
func (k recording) runs(t testing.TB) int {
	t.Helper()
	if k.profile == nil {
		return 0
	}
	return k.decoded(t).Runs
}

func (k recording) decoded(t testing.TB) (p api.Profile) {
	t.Helper()
	if err := json.Unmarshal(k.profile, &p); err != nil {
		t.Fatalf("the profile of %s: %v", k.app, err)
	}
	return p
}

// putProfile gives a planner a profile that was kept, whatever it has learnt since. A run that has just ended
// teaches when its nodes have said their last, and is shown as if it had: it is put until none does.
func putProfile(t testing.TB, s *realenv.System, profile []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "profile.json")
	if err := os.WriteFile(file, profile, 0o600); err != nil {
		t.Fatal(err)
	}
	want := recording{profile: profile}.decoded(t)
	s.Await("the profile that was put", 30*time.Second, func() bool {
		if code, out := s.Pacer("profiles", "put", file); code != 0 {
			t.Fatalf("pacer profiles put: exit %d: %s", code, out)
		}
		code, shown := s.Pacer("profiles", "show", want.Name, "-o", "json")
		return code == 0 && recording{profile: []byte(shown)}.decoded(t).Runs == want.Runs
	})
}

// all makes runs in their order. A paced run has its deadline by the median of tuned
// stock's times before the first of them.
func (b *trial) all(t testing.TB, todo []step) (runs []outcome) {
	t.Helper()
	for i, s := range todo {
		if t.Context().Err() != nil {
			t.Fatal("interrupted")
		}
		t.Logf("%s; %d runs and about %s left", s, len(todo)-i, duration(60*b.options.minutes(todo[i:])))
		tuned := 0.0
		if s.baseline == pacedOne {
			tuned = benchline.Median(walls(runs, basis, tunedOne)).Value
		}
		r := b.take(t, s, tuned)
		t.Logf("%s", r)
		runs = append(runs, r)
	}
	return runs
}

// take makes one run. tuned is the time by which a paced run has its deadline.
func (b *trial) take(t testing.TB, s step, tuned float64) outcome {
	t.Helper()
	r := outcome{workload: b.workload.name, way: s.baseline, phase: s.phase, round: s.round, slack: s.slack}
	var e endedRun
	switch s.baseline {
	case stockAsIs:
		e = stockRun(t, b.cluster, b.options.command(b.workload)...)
	case tunedOne:
		e = stockRun(t, b.cluster, append(slices.Clone(b.tuned), b.options.command(b.workload)...)...)
	case fullOne:
		putProfile(t, b.system, b.kept.profile)
		e, _ = b.pacer(t)
		b.learn(t)
	case pacedOne:
		putProfile(t, b.system, b.kept.profile)
		var flags []string
		flags, r.deadline = deadlineAt(tuned*(1+float64(s.slack)/100), cmp.Or(b.options.certainty, evenCertainty))
		var app api.AppDetail
		e, app = b.pacer(t, flags...)
		r.planner, r.pacing = app.ErrorPct, app.Pacing+": "+app.Reason
	}
	r.wall, r.coreSeconds = e.Wall, e.CoreSeconds
	if said := b.answer(t, e); said != b.kept.answer {
		t.Fatalf("%s answers %q, the recorded run %q", s, said, b.kept.answer)
	}
	return r
}

// evenCertainty keeps nothing for what nobody foresees: figures are of one recorded run, as the source's are.
const evenCertainty = "0.5"

// deadlineFlags are those of a deadline so many seconds after the submission, and what
// they say in whole milliseconds, with evenCertainty.
func deadlineFlags(seconds float64) (flags []string, deadline float64) {
	return deadlineAt(seconds, evenCertainty)
}

// deadlineAt is deadlineFlags with another certainty.
func deadlineAt(seconds float64, certainty string) (flags []string, deadline float64) {
	within := units.Seconds(seconds).Duration().Truncate(time.Millisecond)
	return []string{"--pacer-deadline", fmt.Sprintf("%dms", within.Milliseconds()),
		"--pacer-certainty", certainty}, within.Seconds()
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
