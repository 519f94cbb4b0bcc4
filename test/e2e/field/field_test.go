package field

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// program is what a user runs: the arguments of spark-submit.
type program []string

// script is a program of testdata with its arguments.
func script(name string, args ...string) program {
	return append(program{filepath.Join("testdata", name)}, args...)
}

// expectation is what stock Spark does with a program.
type expectation struct {
	answer string
	code   int
}

// stock runs a program without Pacer, with more environment.
func stock(t *testing.T, p program, env ...string) expectation {
	t.Helper()
	answer, code := realenv.StockExit(t, env, p...)
	if answer = realenv.Results(answer); answer == "" {
		t.Fatalf("stock spark-submit has no answer, exit %d", code)
	}
	return expectation{answer, code}
}

// wants waits for the end of a run and compares it with stock Spark's.
func (e expectation) wants(t *testing.T, run *realenv.Process) {
	t.Helper()
	if code := run.Wait(realenv.Patience); code != e.code {
		t.Fatalf("exit code %d, stock Spark's is %d: %s", code, e.code, run.LastWords())
	}
	if got := realenv.Results(run.Answer()); got != e.answer {
		t.Errorf("the answer is\n%s\nstock Spark's\n%s", got, e.answer)
	}
}

// over is the application that was submitted last, when it is history.
func over(s *realenv.System) api.AppDetail {
	return s.AwaitApp("its end", time.Minute, func(a api.AppDetail) bool {
		return a.State != api.AppQueued && a.State != api.AppRunning && a.State != api.AppEnding
	})
}

// taught waits until there is a profile of that name and returns what it says.
func taught(t *testing.T, s *realenv.System, name string) (p api.Profile) {
	t.Helper()
	s.Await("the profile "+name, time.Minute, func() bool {
		code, out := s.Pacer("profiles", "show", name, "-o", "json")
		if code != 0 {
			return false
		}
		var err error
		p, err = api.DecodeProfile(strings.NewReader(out))
		return err == nil
	})
	return p
}

// slack is a deadline as a multiple of what a run took; earliest is how early, in per cent of
// it, a run may end that is short, and most of whose time is its driver's.
const (
	slack    = 1.5
	earliest = 40
)

// night records a program, and returns its application and for how long its caller waited.
func night(t *testing.T, s *realenv.System, p program, want expectation) (api.AppDetail, time.Duration) {
	t.Helper()
	run := s.Submit(p...)
	want.wants(t, run)
	a := over(s)
	if err := realenv.AtExit(run.Took(), a); err != nil || a.State != api.AppFinished {
		t.Fatalf("it is %s: %v", a.State, err)
	}
	return a, run.Took()
}

// paced runs a program that was recorded with a deadline, and says what is wrong with that.
func paced(t *testing.T, s *realenv.System, p program, want expectation, took time.Duration) (api.AppDetail, error) {
	t.Helper()
	deadline := time.Duration(slack * float64(took)).Round(time.Second)
	run := s.Submit(append(program{"--pacer-deadline", deadline.String()}, p...)...)
	want.wants(t, run)
	a := over(s)
	if err := realenv.Held(a); err != nil {
		return a, err
	}
	if *a.ErrorPct > earliest {
		return a, realenv.Timing("it ended %.1f %% before its deadline of %v", *a.ErrorPct, deadline)
	}
	return a, nil
}

// nightly is the story of a program that runs each night: recorded, then with a deadline.
func nightly(t *testing.T, p program) {
	t.Helper()
	eachNight(t, p, stock(t, p))
}

// eachNight is nightly with what is wanted of the program.
func eachNight(t *testing.T, p program, want expectation) {
	t.Helper()
	s := realenv.StartUp(t)
	a, took := night(t, s, p, want)
	profile := taught(t, s, a.Profile)
	if lacks := took - profile.Duration.Duration(); lacks > took/10+realenv.Unseen {
		t.Errorf("the profile takes %v, its caller waited %v", profile.Duration, took)
	}
	realenv.Repeat(t, func() error {
		_, err := paced(t, s, p, want, took)
		return err
	})
}

// A job fails, which the program catches; its context stops early, and it works on. Its first run
// teaches a profile, and the deadline is for all of it.
func TestAProgramThatCatchesAFailedJobAndWorksOnWithoutSpark(t *testing.T) {
	realenv.RequireSpark(t)
	t.Parallel() // It sleeps for much of its time.
	eachNight(t, script("uploads.py", "6"), stock(t, script("uploads.py", "0")))
}

// pacer submit is in the background and its terminal is closed: it goes on, as spark-submit does.
func TestAClosedTerminal(t *testing.T) {
	realenv.RequireSpark(t)
	realenv.Beside(t)
	p := script("works.py", "12")
	want := stock(t, p)
	s := realenv.StartUp(t)
	s.Inside = []string{"nohup"}
	run := s.Submit(p...)
	if _, err := s.AwaitWhile(run, "a stage", func(a api.AppDetail) bool { return len(a.Stages) > 0 }); err != nil {
		t.Fatal(err)
	}
	run.Signal(syscall.SIGHUP)
	want.wants(t, run)
	taught(t, s, over(s).Profile)
}

// pacer submit is killed, and its driver with it: the run was not early, and teaches nothing.
func TestAKilledSubmission(t *testing.T) {
	realenv.RequireAll(t)
	s := realenv.StartUp(t)
	run := s.Submit(append(program{"--pacer-deadline", "10m"}, script("works.py", "120")...)...)
	if _, err := s.AwaitWhile(run, "tasks", func(a api.AppDetail) bool {
		return len(a.Stages) > 0 && len(a.Stages[0].Samples) > 2
	}); err != nil {
		t.Fatal(err)
	}
	run.Signal(syscall.SIGKILL)
	a := over(s)
	if a.State == api.AppFinished || a.ErrorPct != nil || a.MeanCores <= 0 {
		t.Errorf("%s, error %v, %v cores: %s", a.State, a.ErrorPct, a.MeanCores, a.Headline)
	}
	if code, out := s.Pacer("profiles", "show", a.Profile); code == 0 {
		t.Errorf("it has taught a profile: %s", out)
	}
}
