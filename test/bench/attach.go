package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

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
	for _, groups := range []string{"", realenv.Strict} {
		for _, name := range []string{"chain", "join"} {
			measure := func(t testing.TB, add adder) { attached(t, add, name, groups, o) }
			out = append(out, row{name: strings.TrimSuffix("attach-"+name+"-"+groups, "-"), minutes: 2 + 2.2*float64(o.runs),
				spark: true, measure: measure})
		}
	}
	return append(out, row{name: "attach-faults", minutes: 11, spark: true, measure: attachFaults},
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
	// account has the CPU time of the applications' processes: drivers, and what NodeManagers start.
	account *account
	counted attachCounts
}

// attachCounts are sums over the runs under Pacer.
type attachCounts struct {
	executors, found         int
	foreign, removed, differ int
	finding                  []float64 // Seconds, one for each that was found.
	quotas                   []float64 // Milliseconds, one for each executor of a stage (realenv.QuotasOf).
}

// attached measures one application: rounds of a run on plain YARN and one under a deadline of the
// median of the former and more, in an order that is drawn.
// groups is what YARN gives containers (realenv.NewYARN), and behind the name in those of figures.
func attached(t testing.TB, add adder, name, groups string, o trialOptions) {
	account := newAccount(t) // First, for it is removed last, when none of its members is left.
	a := attachTrial{t: t, name: name, command: onYARN[name], y: realenv.NewYARN(t, groups), s: realenv.New(t),
		account: account}
	a.account.join(t, a.y.Daemons()...)
	a.s.On(a.y)
	a.s.StartPlanner()
	a.node = a.s.StartNode("--attach")
	a.account.node(t, a.s.Node)
	want := ""
	plain := func() (wall, work float64) {
		before := a.work()
		run := a.y.Stock(a.command...)
		a.account.join(t, run.PID())
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
	name = strings.TrimSuffix(name+"_"+groups, "_")
	median := benchline.Median(errs)
	median.Each = errs
	add("attach.exit_error_pct."+name, median, "%")
	add("attach.late."+name, benchline.One(float64(late)), "runs")
	add("attach.core_seconds_ratio."+name, benchline.Median(ratios), "ratio")
	c := a.counted
	add("attach.answers_differ."+name, benchline.One(float64(c.differ)), "runs")
	add("attach.found_pct."+name, benchline.One(100*float64(c.found)/float64(c.executors)), "%")
	add("attach.find_s.max."+name, benchline.Quantile(c.finding, 1), "s")
	add("attach.quota_ms.p99."+name, benchline.Quantile(c.quotas, 0.99), "ms")
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
	a.account.join(t, run.PID())
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
	said := a.node.Output()
	for _, x := range app.Executors {
		c.executors++
		if at, ok := realenv.ToldAt(t, said, fmt.Sprintf("executor found %s/%s", app.ID, x.ID)); ok && x.Unpaced == "" {
			c.found++
			c.finding = append(c.finding, max(0, float64(at.UnixMilli()-log.Executor(x.ID).Added)/1000))
		}
	}
	quotas := realenv.QuotasOf(t, app, log, said)
	c.quotas = append(c.quotas, quotas...)
	t.Logf("%s, %d executors, notices %q, quotas after %.0f ms", app.Pacing, len(app.Executors), app.Notices, quotas)
	return r
}

// work is the CPU time of the applications' processes so far, in core-seconds, without that of YARN's own daemons.
func (a *attachTrial) work() float64 {
	own := 0.0
	for _, pid := range a.y.Daemons() {
		own += realenv.CPU(pid)
	}
	return a.account.used(a.t) - own
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
