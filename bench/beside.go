package main

import (
	"context"
	"fmt"
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

// besideUnpaced is the paced application beside first runs, which have no profile and no
// target.
const besideUnpaced = "beside"

// The paced application is besideWorkload with besideSlack over tuned stock Spark, its
// neighbours are runs of neighbourWorkload, large enough to outlast it.
const (
	besideWorkload    = "aggregate-by-key"
	besideSlack       = 40
	neighbourWorkload = "group-by"
	neighbourScale    = "6"
	neighbourName     = "neighbour-"
	besideRuns        = 10
)

// neighbours are how many stand beside it.
func neighbours() []int { return []int{1, 3} }

// beside makes the runs of a paced application beside unpaced ones that are not there.
func (c *campaign) beside(ctx context.Context, o options, archives string) error {
	t := o.trial
	runs := t.runs
	if runs == 0 {
		runs = besideRuns
	}
	more := latestAlone
	for round := 1; round <= runs; round++ {
		cell := func(n int) string {
			return at(fmt.Sprintf("contention.%s.%d.%d", besideUnpaced, n, round), t.variant())
		}
		todo := slices.DeleteFunc(neighbours(), func(n int) bool { return c.Has(cell(n)) })
		if len(todo) == 0 {
			continue
		}
		if err := c.alone(ctx, t, archives, []string{besideWorkload}, more); err != nil {
			return err
		}
		more = 1
		for _, n := range todo {
			fmt.Fprintf(c.w, "bench: %s %d unpaced, round %d of %d\n", besideUnpaced, n, round, runs)
			if err := run(ctx, cell(n), c.w, func(tb testing.TB) { c.besideOnce(tb, t, n, round, cell(n), archives) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// besideOnce makes one of them: it is submitted when all neighbours run tasks, and they are
// stopped when it has exited.
func (c *campaign) besideOnce(t testing.TB, o trialOptions, n, round int, cell, archives string) {
	a, takes := c.tenant(t, o, besideWorkload)
	a.deadline = takes * (1 + besideSlack/100.0)
	account := newAccount(t)
	s := realenv.New(t)
	s.Behind = account.behind()
	s.UseArchives(archives)
	s.StartUp(append([]string{"--cores", strconv.Itoa(standaloneCores)}, o.settings()...)...)
	account.node(t, s.Node)
	putProfile(t, s, a.kept.Profile)
	neighbour, err := chosen([]string{neighbourWorkload})
	if err != nil {
		t.Fatal(err)
	}
	long := o
	long.slice, long.scale = false, neighbourScale
	for i := range n {
		name := fmt.Sprint(neighbourName, i+1)
		s.Submit(slices.Concat(memory, []string{"--name", name, "--conf", "spark.pacer.profile=" + name}, long.command(neighbour[0]))...)
	}
	s.Await("all neighbours run tasks", 5*time.Minute, func() bool {
		at := 0
		for _, app := range s.Apps() {
			if app.State == api.AppRunning && app.FirstLaunch > 0 {
				at++
			}
		}
		return at == n
	})
	within := units.Seconds(a.deadline).Duration().Truncate(time.Millisecond)
	machine := workOfMachine(t)
	before, theirs, busy := account.used(t), usedBy(s.Apps()), machine()
	p := s.Submit(slices.Concat(memory, []string{"--pacer-deadline", fmt.Sprintf("%dms", within.Milliseconds())}, o.command(a.workload))...)
	e := awaitRun(t, p, account, before)
	busy = machine() - busy
	left := s.Apps()
	for i := range n {
		name := fmt.Sprint(neighbourName, i+1)
		if !slices.ContainsFunc(left, func(app api.AppSummary) bool { return app.Profile == name && app.State == api.AppRunning }) {
			t.Fatalf("%s has not outlasted it: %+v", name, left)
		}
	}
	theirs = usedBy(left) - theirs
	if said, err := realenv.Line(e.Answer, "RESULT "); err != nil || said != a.kept.Answer {
		t.Fatalf("it answers %q, the recorded run %q: %v", said, a.kept.Answer, err)
	}
	deadline := within.Seconds()
	r := benchline.Run{Workload: besideWorkload, Variant: at(fmt.Sprintf("%s.%d", besideUnpaced, n), o.variant()), Phase: "contention", Round: round,
		Baseline: pacedOne, Wall: e.Wall, CoreSeconds: e.CoreSeconds, Beside: &theirs, Machine: &busy, Deadline: &deadline}
	t.Logf("beside %d: %s", n, told(r))
	line := benchline.Line{Name: at(fmt.Sprintf("run.contention.%s.%d", besideUnpaced, n), o.variant()), Value: e.Wall, Unit: "s", N: 1,
		Spread: [2]float64{e.Wall, e.Wall}, Cell: cell, Run: &r}
	if err := c.keep(line); err != nil {
		t.Fatal(err)
	}
}

// usedBy is what the executors of the neighbours have used so far, in core-seconds.
func usedBy(apps []api.AppSummary) (sum float64) {
	for _, app := range apps {
		if strings.HasPrefix(app.Profile, neighbourName) {
			sum += float64(app.CoreSeconds)
		}
	}
	return sum
}

// besideFigures are those of the paced application beside unpaced ones: of all runs, and by
// how many neighbours it had. Outside are the runs that ended late or more than besideEarly
// early. Used is the part of what everything else left of the machine, while it ran, that
// its neighbours' executors took; everything else is its own executors, drivers, daemons, the
// kernel and the hypervisor.
func besideFigures(c benchline.Campaign, variant string) []figure {
	var out []figure
	var all []benchline.Run
	add := func(name string, runs []benchline.Run) {
		errs := errorsOf(runs)
		out = append(out, figure{at(name+".error_pct", variant), benchline.Median(errs), "%"}, figure{at(name+".late", variant), lateOf(errs), "runs"},
			figure{at(name+".outside", variant), countOf(errs, func(e float64) bool { return e < 0 || e > besideEarly }), "runs"})
		if used := usedOf(c, runs); len(used) > 0 {
			out = append(out, figure{at(name+".used_pct", variant), benchline.Median(used), "%"})
		}
	}
	for _, n := range neighbours() {
		if runs := runsOf(c, at(fmt.Sprintf("%s.%d", besideUnpaced, n), variant)); len(runs) > 0 {
			add(fmt.Sprintf("contention.beside_unpaced.%d", n), runs)
			all = append(all, runs...)
		}
	}
	if len(all) > 0 {
		add("contention.beside_unpaced", all)
	}
	return out
}

// besideEarly is by how much the paced application may end early, in per cent.
const besideEarly = 3

// usedOf is how much of what was left the neighbours have used in each run, in per cent.
func usedOf(c benchline.Campaign, runs []benchline.Run) []float64 {
	var used []float64
	for _, r := range runs {
		if r.Beside != nil && r.Machine != nil {
			left := r.Wall*float64(c.Lines[0].Cores) - (*r.Machine - *r.Beside)
			used = append(used, 100**r.Beside/left)
		}
	}
	return used
}
