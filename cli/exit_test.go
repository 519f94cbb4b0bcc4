package cli

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/units"
)

// ended is an application that was submitted at 05:00 UTC, due at 06:00.
func ended(change func(*api.AppSummary)) *fakePlanner {
	a := api.AppSummary{ID: "app-1", Name: "etl", State: api.AppFinished, Submission: "s-1", Deadline: 3600, Duration: 3596, EndedBy: api.EndedByExit,
		FirstLaunch: 90, Submitted: time.Date(2026, 3, 4, 5, 0, 0, 0, time.UTC), Headline: "ended 4.0 s before 06:00:00, on 1.4 of 8 cores"}
	if change != nil {
		change(&a)
	}
	return &fakePlanner{apps: []api.AppDetail{{AppSummary: a}}}
}

func TestSubmitEndsWithOneLineAboutTheRun(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, ended(nil))
	w.fakeSpark(t, "exit 0")
	o := w.run(t, "submit", "--pacer-planner", f.address, "--conf", "spark.pacer.submission=s-1", "app.py")
	if o.code != 0 || o.err != "pacer: ended 4.0 s before 06:00:00, on 1.4 of 8 cores\n" {
		t.Errorf("exit code %d, %q", o.code, o.err)
	}
	if conf := confOf(o.arguments()); conf[confWatched] != "true" {
		t.Errorf("the driver is not told that its exit is reported: %v", conf)
	}
}

// The clock of a submission that the user says was earlier.
func TestTheReportCountsFromTheSubmission(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, ended(nil))
	w.fakeSpark(t, "exit 0")
	w.run(t, "submit", "--pacer-planner", f.address, "--conf", "spark.pacer.submitted="+"1772600757000", "app.py") // 10 s earlier.
	if r := f.last(t, api.VerbExit); r.Elapsed < 10 || r.Elapsed > 60 {
		t.Errorf("ended after %v", r.Elapsed)
	}
}

func TestAppsShowTimesOfDay(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		change func(*api.AppSummary)
		want   []string
	}{
		{nil, []string{"05:00:00", "05:01:30", "06:00:00", "05:59:56"}},
		{func(a *api.AppSummary) { a.EndedBy = api.EndedByStop }, []string{"05:59:56 (stop)"}},
		{func(a *api.AppSummary) { a.State, a.EndedBy, a.Predicted = api.AppRunning, "", 3590 }, []string{"05:59:50"}},
		{func(a *api.AppSummary) { a.Submitted = a.Submitted.AddDate(0, 0, -1) }, []string{"Mar 3 05:00:00", "Mar 3 06:00:00"}},
	} {
		f := startPlanner(t, ended(c.change))
		for _, args := range [][]string{{"apps", "-o", "wide"}, {"apps", "show", "app-1"}} {
			o := w.run(t, append([]string{"--planner", f.address}, args...)...)
			for _, want := range c.want {
				if !strings.Contains(o.out, want) {
					t.Errorf("%v: no %q in\n%s", args, want, o.out)
				}
			}
		}
	}
	if o := w.run(t, "apps", "--help"); !strings.Contains(o.out, "+2.0% ended early") {
		t.Errorf("the help does not say what a sign means:\n%s", o.out)
	}
}

func TestTimesAreInTheirUnits(t *testing.T) {
	for s, want := range map[units.Seconds]string{0: "-", 90.04: "90.0s", 119.96: "2m 0s", 725: "12m 5s", 3599.4: "59m 59s",
		3599.6: "1h 0m", 10800: "3h 0m", 359999: "99h 59m", 10432635.4: "120d 17h", -40: "-40.0s", -725: "-12m 5s"} {
		if got := seconds(s); got != want {
			t.Errorf("%v: %q, want %q", float64(s), got, want)
		}
	}
}

func TestADeadlineThatNobodyCouldKeepHasNoError(t *testing.T) {
	w := newWorld(t)
	for verdict, want := range map[api.Verdict]bool{api.VerdictInfeasible: false, api.VerdictTight: true} {
		f := startPlanner(t, ended(func(a *api.AppSummary) {
			late := -318.5
			a.Verdict, a.ErrorPct = verdict, &late
		}))
		for _, args := range [][]string{{"apps", "-o", "wide"}, {"apps", "show", "app-1"}} {
			if o := w.run(t, append([]string{"--planner", f.address}, args...)...); o.code != 0 || strings.Contains(o.out, "-318.5%") != want {
				t.Errorf("%s, %v: exit code %d\n%s", verdict, args, o.code, o.out)
			}
		}
	}
}

func TestADeadlineMayBeATimeOfDay(t *testing.T) {
	w := newWorld(t) // At 05:06:07.
	f := startPlanner(t, ended(func(a *api.AppSummary) { a.State = api.AppRunning }))
	for text, want := range map[string]float64{"06:30": 5400, "05:10:30": 630, "2026-03-05T05:00": 24 * 3600} {
		if o := w.run(t, "--planner", f.address, "deadline", "app-1", text); o.code != 0 {
			t.Errorf("%s: %s", text, o.err)
		} else if r := f.last(t, api.VerbDeadline); float64(r.Deadline) != want || r.Extend != 0 {
			t.Errorf("%s: %+v, want %v", text, r, want)
		}
	}
	w.run(t, "--planner", f.address, "deadline", "app-1", "25:00").wantLine(t, command.ExitUsage, "25:00")
	w.run(t, "--planner", f.address, "deadline", "app-1", "2020-01-01T06:00").wantLine(t, command.ExitUsage, "past")
}

func TestSubmitChecksADeadlineByConf(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	home := w.fakeSpark(t, "exit 0")
	o := w.run(t, "submit", "--pacer-planner", f.address, "--conf", "spark.pacer.by=06:00", "app.py")
	if conf := confOf(o.arguments()); o.code != 0 || conf[confBy] != "06:00" || conf[confDeadline] != "" {
		t.Errorf("exit code %d, settings %v", o.code, conf)
	}
	for line, want := range map[string]string{
		"--conf spark.pacer.by=25:00 app.py":                                "25:00",
		"--conf spark.pacer.by=06:00 --pacer-deadline 5m app.py":            "exclude",
		"--conf spark.pacer.by=06:00 --conf spark.pacer.deadline=5m app.py": "exclude",
	} {
		w.run(t, append([]string{"submit", "--pacer-planner", f.address}, strings.Fields(line)...)...).wantLine(t, command.ExitUsage, want)
	}
	if err := os.WriteFile(filepath.Join(home, "conf", "spark-defaults.conf"), []byte("spark.pacer.by 06:00\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o = w.run(t, "submit", "--pacer-planner", f.address, "--pacer-deadline", "5m", "app.py")
	if conf := confOf(o.arguments()); o.code != 0 || conf[confDeadline] != "5m" || conf[confBy] != "" {
		t.Errorf("exit code %d, settings %v", o.code, conf)
	}
}

// submitHelper is the environment variable by which this test binary is pacer.
const submitHelper = "PACER_TEST_SUBMIT"

// submits is the environment by which this test binary is pacer submit with the Spark in home.
func submits(home string, f *fakePlanner) []string {
	return append(os.Environ(), "SPARK_HOME="+home, "PACER_CONFIG=", "PACER_CREDENTIALS_DIR="+credentials,
		submitHelper+"="+strings.Join([]string{"submit", "--pacer-planner", f.address, "--conf", "spark.pacer.submission=s-1", "app.py"}, "\n"))
}

// startPiped starts cmd, a pacer submit in a session of its own, with a spark-submit that is a script. It returns what the
// script and its children write to descriptor 3, after the first three bytes.
func (w *world) startPiped(t *testing.T, f *fakePlanner, cmd *exec.Cmd, script string) *os.File {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(submits(w.fakeSpark(t, "exec 3>"+pipe+"; "+script), f), cmd.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Without the terminal of who runs the test.
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	if _, err := io.ReadFull(file, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	return file
}

// A pacer submit that is killed takes its spark-submit with it; one whose terminal is
// closed, or interrupts it, passes that on, to the children of spark-submit too, and reports the
// exit all the same.
func TestSubmitLeavesNoOrphan(t *testing.T) {
	const driver = `trap 'echo TERM >&3; exit 143' TERM; trap 'echo HUP >&3; exit 129' HUP; echo up >&3; while :; do sleep 0.05; done`
	const python = `trap 'exit 130' INT; sh -c 'trap "echo INT >&3; exit" INT; echo up >&3; while :; do sleep 0.05; done'; exit 130`
	for _, c := range []struct {
		signal syscall.Signal
		spark  string
		want   string
		code   int
	}{
		{syscall.SIGKILL, driver, "TERM\n", 0},
		{syscall.SIGHUP, driver, "HUP\n", command.ExitSignal + int(syscall.SIGHUP)},
		{syscall.SIGINT, python, "INT\n", command.ExitSignal + int(syscall.SIGINT)},
	} {
		t.Run(c.signal.String(), func(t *testing.T) {
			w := newWorld(t)
			f := startPlanner(t, ended(nil))
			cmd := exec.Command(os.Args[0])
			file := w.startPiped(t, f, cmd, c.spark)
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			said, err := io.ReadAll(file) // Until spark-submit has ended.
			got := string(said)
			if c.signal == syscall.SIGKILL {
				// The kernel hands the child of a killed process from one of its dying
				// threads to the next and tells the child each time.
				got = strings.Join(slices.Compact(strings.SplitAfter(got, "\n")), "")
			}
			if err != nil || got != c.want {
				t.Errorf("spark-submit got %q, %v, want %q", said, err, c.want)
			}
			_ = cmd.Wait()
			if c.code == 0 {
				return
			}
			if r := f.last(t, api.VerbExit); r.ExitCode != c.code || r.Submission != "s-1" || cmd.ProcessState.ExitCode() != c.code {
				t.Errorf("reported %+v, exit code %d", r, cmd.ProcessState.ExitCode())
			}
		})
	}
}

// The driver of a first run, which may be about to start, yields CPU time to the drivers of those
// that have a deadline, wherever that is set; so does one whose deadline cannot be kept by the
// profile that is named.
func TestWhoHasNoDeadlineToKeepYields(t *testing.T) {
	if _, err := os.Stat("/proc/self/autogroup"); err != nil {
		t.Skip("this kernel does not divide CPUs by session")
	}
	if tty := openTerminal(); tty != nil {
		tty.close()
		t.Skip("beside a terminal spark-submit shares the caller's session")
	}
	due := []string{"--pacer-deadline", "1h"}
	named := append([]string{"--pacer-profile", "nightly"}, due...)
	for _, c := range []struct {
		args    []string
		file    string
		verdict api.Verdict
		nice    string
	}{
		{nil, "", "", "nice 5"},
		{[]string{"--pacer-class", "interactive"}, "", "", "nice 0"},
		{[]string{"--pacer-class", "batch"}, "", "", "nice 5"},
		{due, "", api.VerdictInfeasible, "nice 0"},
		{named, "", api.VerdictInfeasible, "nice 10"},
		{append([]string{"--name", "nightly"}, due...), "", api.VerdictInfeasible, "nice 10"},
		{append([]string{"--pacer-mode", "observe"}, named...), "", api.VerdictInfeasible, "nice 0"},
		{[]string{"--pacer-by", "06:00"}, "spark.pacer.profile nightly", api.VerdictInfeasible, "nice 10"},
		{named, "", api.VerdictTight, "nice 0"},
		{[]string{"--pacer-by", "06:00"}, "", "", "nice 0"},
		{[]string{"--conf", "spark.pacer.by=06:00"}, "", "", "nice 0"},
		{nil, "spark.pacer.deadline 1h", "", "nice 0"},
	} {
		w := newWorld(t)
		f := startPlanner(t, ended(nil))
		f.willPlan(api.PlanReply{V: api.Version, Verdict: c.verdict, Reason: "the earliest feasible deadline is 2h"})
		// It is written when spark-submit has begun: that of one that does not yield is looked at in vain for a while.
		home := w.fakeSpark(t, `i=0; while ! grep -Eq "nice (5|10)" /proc/self/autogroup && [ $i -lt 20 ]; do sleep 0.05; i=$((i+1)); done; cat /proc/self/autogroup`)
		if err := os.WriteFile(filepath.Join(home, "conf", "spark-defaults.conf"), []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		o := w.run(t, append(append([]string{"submit", "--pacer-planner", f.address}, c.args...), "app.py")...)
		if o.code != 0 || !strings.Contains(o.out, c.nice+"\n") {
			t.Errorf("%v %q: exit code %d, want %s:\n%s%s", c.args, c.file, o.code, c.nice, o.out, o.err)
		}
		if c.nice == "nice 10" {
			if q := f.firstPlan(); q.Profile != "nightly" || q.Deadline <= 0 || q.Deadline > 24*3600 || strings.Contains(o.err, "2h") {
				t.Errorf("%v %q: asked about %+v, said %s", c.args, c.file, q, o.err)
			}
		}
	}
}
