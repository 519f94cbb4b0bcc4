package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
)

const (
	// livePrograms is where the programs are, liveTables the one that makes the tables of others.
	livePrograms = "test/bench/testdata"
	liveTables   = "tables.py"
	// liveSlack is a deadline as a multiple of the time that the recorded run took.
	liveSlack = 1.4
	liveRuns  = 3
	liveLimit = 5 * time.Minute
)

// changing is a program that has changed since the run that its profile is of: a part of it is new, and
// another is gone.
type changing struct {
	name, script string
	// tables says that its first argument is the directory of the tables.
	tables bool
	// recorded and changed are its arguments before and after.
	recorded, changed []string
}

// changingOnes are programs of four kinds. Spark is as it comes.
func changingOnes() []changing {
	return []changing{
		{name: "sql", script: "report.py", tables: true,
			recorded: []string{"days,customers,categories,regions,ranks", "items,absent,pairs"},
			changed:  []string{"days,customers,returns,categories,ranks", "items,absent,pairs"}},
		{name: "python", script: "scores.py", tables: true,
			recorded: []string{"clean,scores,trends,medians"}, changed: []string{"clean,scores,segments,medians"}},
		{name: "ml", script: "learn.py", recorded: []string{"prepare,classify,correlate,evaluate"},
			changed: []string{"prepare,classify,cluster,evaluate"}},
		{name: "graph", script: "components.py", recorded: []string{"7", "degrees,components,sizes"},
			changed: []string{"8", "components,stars,sizes"}},
	}
}

// liveRows are the changed programs on real Spark, all of them and each by its name alone.
func liveRows(o trialOptions) []row {
	runs := o.runs
	if runs == 0 {
		runs = liveRuns
	}
	each := 1.2 + 0.9*float64(runs)
	all := changingOnes()
	out := []row{{name: "live", minutes: each * float64(len(all)), spark: true, always: true,
		measure: func(t testing.TB, add adder) { live(t, add, all, runs) }}}
	for _, c := range all {
		out = append(out, row{name: "live-" + c.name, minutes: each, spark: true, extra: true,
			measure: func(t testing.TB, add adder) { c.live(t, add, runs) }})
	}
	return out
}

// live measures all of them. One that fails leaves the others to be measured.
func live(t testing.TB, add adder, all []changing, runs int) {
	var released []float64
	for _, c := range all {
		err := try(t, c.name, func(t testing.TB) { released = append(released, c.live(t, add, runs)...) })
		if err != nil {
			t.Error(err)
		}
	}
	if len(released) == runs*len(all) {
		add("live.changed.released", countOf(released, func(r float64) bool { return r > 0 }), "runs")
	}
}

// live records the program and then runs it changed, under a deadline of the time that the recorded run
// took, and more. Each of these runs finds the profile of the recorded one. It returns for each whether it was
// released.
func (c changing) live(t testing.TB, add adder, runs int) (released []float64) {
	t.Helper()
	recorded, changed := c.commands(t)
	want := realenv.Results(realenv.Stock(t, changed...))
	s := realenv.StartUp(t)
	run := s.Submit(slices.Concat(memory, recorded)...)
	if code := run.Wait(liveLimit); code != 0 {
		t.Fatalf("%s, recorded: exit %d: %s", c.name, code, run.LastWords())
	}
	took, profile := run.Took(), profileOf(t, s, ended(s).Profile)
	t.Logf("recorded in %.1f s", took.Seconds())
	flags, deadline := deadlineFlags(liveSlack * took.Seconds())
	var errs []float64
	for range runs {
		putProfile(t, s, profile)
		run := s.Submit(slices.Concat(memory, flags, changed)...)
		if code := run.Wait(liveLimit); code != 0 {
			t.Fatalf("%s, changed: exit %d: %s", c.name, code, run.LastWords())
		}
		if got := realenv.Results(run.Answer()); got != want {
			t.Fatalf("%s, changed, answers\n%s\nstock Spark\n%s", c.name, got, want)
		}
		app := ended(s)
		r := outcome{wall: run.Took().Seconds(), deadline: deadline}
		pct, _ := r.errorPct()
		gone := 0.0
		if !realenv.Paced(app) {
			gone = 1
		}
		errs, released = append(errs, pct), append(released, gone)
		t.Logf("%.2f s, due after %.2f s: %+.2f %%, %s; notices %q", r.wall, deadline, pct, app.Pacing, app.Notices)
	}
	median := benchline.Median(errs)
	median.Each = errs
	add("live.changed.exit_error_pct."+c.name, median, "%")
	return released
}

// commands are what spark-submit is to run before and after the change.
func (c changing) commands(t testing.TB) (recorded, changed []string) {
	t.Helper()
	command := []string{filepath.Join(livePrograms, c.script)}
	if c.tables {
		tables := filepath.Join(t.TempDir(), "tables")
		realenv.Stock(t, filepath.Join(livePrograms, liveTables), tables)
		command = append(command, tables)
	}
	return slices.Concat(command, c.recorded), slices.Concat(command, c.changed)
}

// profileOf waits for the profile that a run teaches: it does when the exit code is known, a moment after
// the end.
func profileOf(t testing.TB, s *realenv.System, name string) (profile []byte) {
	t.Helper()
	s.Await(fmt.Sprintf("the profile %s", name), 30*time.Second, func() bool {
		code, out := s.Pacer("profiles", "show", name, "-o", "json")
		profile = []byte(out)
		return code == 0
	})
	return profile
}
