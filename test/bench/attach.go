package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
)

const (
	// attachSlack is a deadline as a multiple of the time that the runs without one take.
	attachSlack = 1.4
	attachRuns  = 3
)

// onYARN are the applications that run on YARN with and without Pacer.
var onYARN = map[string][]string{
	"chain": {"--conf", "spark.sql.adaptive.enabled=false", "test/e2e/testdata/chain.py", "2.5"},
	"join":  {"test/e2e/testdata/branches.py", "4"},
}

// attachRows measure applications whose executors YARN starts.
func attachRows(o trialOptions) []row {
	if o.runs == 0 {
		o.runs = attachRuns
	}
	var out []row
	for _, name := range []string{"chain", "join"} {
		measure := func(t testing.TB, add adder) { attached(t, add, name, o) }
		out = append(out, row{name: "attach-" + name, minutes: 2 + 2.2*float64(o.runs), spark: true, measure: measure})
	}
	return append(out, row{name: "attach-faults", minutes: 8, spark: true, measure: attachFaults},
		row{name: "attach-layouts", minutes: 0.5, measure: attachLayouts})
}

// attachTrial is one application on YARN in both ways.
type attachTrial struct {
	t       testing.TB
	name    string
	command []string
	y       *realenv.YARN
	s       *realenv.System
	node    *realenv.Process
	work    func() float64 // The machine's CPU time so far.
	counted attachCounts
}

// attachCounts are sums over the runs under Pacer.
type attachCounts struct {
	executors, found         int
	foreign, removed, differ int
	finding                  []float64 // Seconds, one for each that was found.
}

// attached measures one application: rounds of a run on plain YARN and one under a deadline of the
// median of the former and more, in an order that is drawn.
func attached(t testing.TB, add adder, name string, o trialOptions) {
	a := attachTrial{t: t, name: name, command: onYARN[name], y: realenv.NewYARN(t), s: realenv.New(t),
		work: workOfMachine(t)}
	a.s.On(a.y)
	a.s.StartPlanner()
	a.node = a.s.StartNode("--attach")
	want := ""
	plain := func() (wall, work float64) {
		before := a.work()
		run := a.y.Stock(a.command...)
		if code := run.Wait(runLimit); code != 0 {
			t.Fatalf("%s on plain YARN: exit %d: %s", name, code, run.LastWords())
		}
		work = a.work() - before
		want = realenv.Results(run.Answer())
		t.Logf("plain YARN: %.2f s, %.1f core-seconds", run.Took().Seconds(), work)
		return run.Took().Seconds(), work
	}
	var walls []float64
	wall, _ := plain() // It warms the disk's cache, and gives the answer.
	profile := a.record(want)
	var errs, ratios []float64
	late := 0
	for round := range o.runs {
		var both [2]float64
		for _, way := range shuffled([]int{0, 1}, o.seed, fmt.Sprintf("attach %s %d", name, round)) {
			if way == 0 {
				wall, both[0] = plain()
				walls = append(walls, wall)
				continue
			}
			putProfile(t, a.s, profile)
			flags, deadline := deadlineFlags(attachSlack * benchline.Median(append(walls, wall)).Value)
			r := a.run(want, flags...)
			r.deadline, both[1] = deadline, r.coreSeconds
			pct, _ := r.errorPct()
			t.Logf("under Pacer: %s", r)
			errs = append(errs, pct)
			if pct < 0 {
				late++
			}
		}
		ratios = append(ratios, both[1]/both[0])
	}
	median := benchline.Median(errs)
	median.Each = errs
	add("attach.exit_error_pct."+name, median, "%")
	add("attach.late."+name, benchline.One(float64(late)), "runs")
	add("attach.core_seconds_ratio."+name, benchline.Median(ratios), "ratio")
	c := a.counted
	add("attach.answers_differ."+name, benchline.One(float64(c.differ)), "runs")
	add("attach.found_pct."+name, benchline.One(100*float64(c.found)/float64(c.executors)), "%")
	add("attach.find_s.max."+name, benchline.Quantile(c.finding, 1), "s")
	add("attach.foreign_tasks."+name, benchline.One(float64(c.foreign)), "tasks")
	add("attach.ended_by_us."+name, benchline.One(float64(c.removed)), "executors")
}

// record runs the application without a deadline and returns its profile.
func (a *attachTrial) record(want string) []byte {
	a.t.Helper()
	a.run(want)
	return profileOf(a.t, a.s, ended(a.s).Profile)
}

// run runs it under Pacer, and counts what may not be.
func (a *attachTrial) run(want string, flags ...string) outcome {
	t := a.t
	t.Helper()
	before := a.work()
	run := a.s.Submit(slices.Concat(flags, a.command)...)
	if code := run.Wait(runLimit); code != 0 {
		t.Fatalf("%s: exit %d: %s", a.name, code, run.LastWords())
	}
	r := outcome{wall: run.Took().Seconds(), coreSeconds: a.work() - before}
	app := ended(a.s)
	r.pacing = app.Pacing
	c := &a.counted
	if realenv.Results(run.Answer()) != want {
		c.differ++
	}
	log := a.s.Log(app.ID)
	c.foreign += len(realenv.Foreign(log, app))
	c.removed += len(log.Removed)
	for _, x := range app.Executors {
		c.executors++
		if at, ok := foundAt(t, a.node.Output(), app.ID, x.ID); ok && x.Unpaced == "" {
			c.found++
			c.finding = append(c.finding, max(0, float64(at.UnixMilli()-log.AddedAt[x.ID])/1000))
		}
	}
	t.Logf("%s, %d executors, notices %q", app.Pacing, len(app.Executors), app.Notices)
	return r
}

// foundAt is when a node controller says in its log that it has found an executor.
func foundAt(t testing.TB, log string, app api.AppID, id api.ExecutorID) (at time.Time, ok bool) {
	t.Helper()
	said := fmt.Sprintf("executor found %s/%s\"", app, id)
	for line := range strings.Lines(log) {
		if !strings.Contains(line, said) {
			continue
		}
		text, _, _ := strings.Cut(strings.TrimPrefix(line, "time="), " ")
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return at, true
	}
	return at, false
}

var attachedLayouts = regexp.MustCompile(`attach\.layouts (\d+)`)

// attachLayouts counts the layouts of groups that the runtime's tests hold, bound and put back.
func attachLayouts(t testing.TB, add adder) {
	command := exec.CommandContext(t.Context(), "go", "test", "-count", "1", "-v", "-run", "^TestLayouts$",
		"./infra/executor/attached")
	out, err := command.CombinedOutput()
	counted := attachedLayouts.FindSubmatch(out)
	if err != nil || counted == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n, err := strconv.ParseFloat(string(counted[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	add("attach.layouts", benchline.One(n), "layouts")
}
