package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/fromlog"
	"github.com/sparkpacer/pacer/sim/whatif"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

const (
	// firstSlack is the deadline of a first run by a log alone, over the time of the run that wrote the log.
	firstSlack = 1.5
	// comparedWork is how much CPU time a stage takes at least that is compared.
	comparedWork units.Work = 2
)

// fewerCores are the cores on which the end of an application is foretold.
var fewerCores = []units.Cores{1, 1.5}

// liveProfileRows measure on real Spark what a log of a run says, in the place of Pacer's own record of it.
func liveProfileRows() []row {
	programs := len(changingOnes()) + 1
	return []row{{name: "logs-live", minutes: 4 * float64(programs), spark: true, always: true, measure: logsLive}}
}

// compared is what one program gave: how far the CPU time of its stages is off in its log, and its foretold ends, in
// per cent; how early its first run by the log was.
type compared struct{ work, foretold, early []float64 }

// logsLive measures the programs of changingOnes as they are recorded, and the demonstration.
func logsLive(t testing.TB, add adder) {
	commands := [][]string{demonstrated().args}
	for _, c := range changingOnes() {
		recorded, _ := c.commands(t)
		commands = append(commands, recorded)
	}
	var all compared
	for _, command := range commands {
		if err := try(t, filepath.Base(command[0]), func(t testing.TB) { all.add(t, command) }); err != nil {
			t.Error(err)
		}
	}
	if len(all.early) < len(commands) {
		return
	}
	add("eventlog.work_error_pct.median", benchline.Median(all.work), "%")
	add("eventlog.work_error_pct.worst", benchline.Quantile(all.work, 1), "%")
	add("whatif.live.error_pct.mean", benchline.Mean(all.foretold), "%")
	add("eventlog.first_late", countOf(all.early, func(pct float64) bool { return pct < 0 }), "runs")
	add("eventlog.first_early_pct", benchline.Quantile(all.early, 1), "%")
}

// add records a program, compares its log with what Pacer has recorded, runs it by the log alone and then on fewer
// cores.
func (all *compared) add(t testing.TB, command []string) {
	t.Helper()
	s := realenv.StartUp(t)
	_, app := finished(t, s, command)
	recorded, err := api.DecodeProfile(strings.NewReader(string(profileOf(t, s, app.Profile))))
	if err != nil {
		t.Fatal(err)
	}
	log := s.Log(app.ID)
	made, _, err := fromlog.Run(&log.Application, app.Profile, nil)
	if err != nil || len(made.Stages) != len(recorded.Stages) {
		t.Fatalf("the profile of the log of %v: %v, %d stages of %d", command, err, len(made.Stages), len(recorded.Stages))
	}
	for i, want := range recorded.Stages {
		if want.CoreSeconds >= comparedWork {
			all.work = append(all.work, 100*math.Abs(float64(made.Stages[i].CoreSeconds/want.CoreSeconds)-1))
			t.Logf("stage %d: %.2f core-seconds by the log, %.2f by Pacer", i, float64(made.Stages[i].CoreSeconds),
				float64(want.CoreSeconds))
		}
	}
	s.Pacer("profiles", "rm", app.Profile)
	body, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	putProfile(t, s, body)
	flags, deadline := deadlineAt(firstSlack*float64(app.Duration), sqlCertainty)
	_, first := finished(t, s, slices.Concat(flags, command))
	all.early = append(all.early, 100*(1-float64(first.Duration)/deadline))
	t.Logf("by its log alone: %.2f s, due after %.2f s: %+.2f %%, %s", float64(first.Duration), deadline,
		all.early[len(all.early)-1], first.Pacing)
	var shapes []whatif.Shape
	for _, cores := range fewerCores {
		shapes = append(shapes, whatif.Shape{Executors: 1, Each: cores})
	}
	answer, err := whatif.Ask(whatif.Question{Profile: recorded, Shapes: shapes, Stop: t.Context().Done()})
	if err != nil {
		t.Fatal(err)
	}
	s.Up.Stop()
	for i, cores := range fewerCores {
		on := realenv.StartUp(t, "--cores", fmt.Sprint(float64(cores)))
		_, ran := finished(t, on, command)
		on.Up.Stop()
		took := ran.Duration
		all.foretold = append(all.foretold, 100*math.Abs(float64(answer.Cells[i].Finish/took)-1))
		t.Logf("on %v cores: %.2f s, foretold %.2f s", cores, float64(took), float64(answer.Cells[i].Finish))
	}
}

// finished submits a command and waits for its end.
func finished(t testing.TB, s *realenv.System, command []string) (*realenv.Process, api.AppDetail) {
	t.Helper()
	run := s.Submit(slices.Concat(memory, command)...)
	if code := run.Wait(liveLimit); code != 0 {
		t.Fatalf("%v: exit %d: %s", command, code, run.LastWords())
	}
	return run, ended(s)
}
