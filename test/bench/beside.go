package main

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
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

// besides makes the runs of a paced application beside unpaced ones.
func (c *contention) besides(t testing.TB) (runs []outcome) {
	t.Helper()
	for round := 1; round <= c.options.runs; round++ {
		c.more(t, []string{besideWorkload}, round)
		for _, n := range neighbours() {
			part(t, fmt.Sprintf("%s %d unpaced, round %d of %d", besideUnpaced, n, round, c.options.runs), func(t testing.TB) {
				r := c.besideOnce(t, n)
				t.Logf("%s", r)
				runs = append(runs, r)
			})
		}
	}
	return runs
}

// besideWay is a paced run beside that many.
func besideWay(n int) string { return fmt.Sprintf("beside.%d", n) }

// besideOnce makes one of them: it is submitted when all neighbours run tasks, and they are
// stopped when it has exited.
func (c *contention) besideOnce(t testing.TB, n int) outcome {
	t.Helper()
	o, kept := c.options, c.kept[besideWorkload]
	account := newAccount(t)
	s := realenv.New(t)
	s.Behind = account.behind()
	s.UseArchives(c.archives)
	s.StartUp(append([]string{"--cores", strconv.Itoa(standaloneCores)}, o.settings()...)...)
	account.node(t, s.Node)
	putProfile(t, s, kept.profile)
	long := o
	long.slice, long.scale = false, neighbourScale
	for i := range n {
		name := fmt.Sprint(neighbourName, i+1)
		flags := []string{"--name", name, "--conf", "spark.pacer.profile=" + name}
		s.Submit(slices.Concat(memory, flags, long.command(named(neighbourWorkload)[0]))...)
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
	flags, deadline := deadlineFlags(c.takes(besideWorkload, latestAlone) * (1 + besideSlack/100.0))
	machine := workOfMachine(t)
	before, theirs, busy := account.used(t), usedBy(s.Apps()), machine()
	p := s.Submit(slices.Concat(memory, flags, o.command(named(besideWorkload)[0]))...)
	e := awaitRun(t, p, account, before)
	busy = machine() - busy
	left := s.Apps()
	for i := range n {
		name := fmt.Sprint(neighbourName, i+1)
		runs := func(app api.AppSummary) bool { return app.Profile == name && app.State == api.AppRunning }
		if !slices.ContainsFunc(left, runs) {
			t.Fatalf("%s has not outlasted it: %+v", name, left)
		}
	}
	if said, err := realenv.Line(e.Answer, "RESULT "); err != nil || said != kept.answer {
		t.Fatalf("it answers %q, the recorded run %q: %v", said, kept.answer, err)
	}
	return outcome{workload: besideWorkload, way: besideWay(n), wall: e.Wall, coreSeconds: e.CoreSeconds,
		deadline: deadline, beside: usedBy(left) - theirs, machine: busy}
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
func besideFigures(variant string, runs []outcome) []figure {
	var out []figure
	outside := func(e float64) bool { return e < 0 || e > besideEarly }
	add := func(name string, runs []outcome) {
		errs := errorsOf(runs)
		var used []float64
		for _, r := range runs {
			used = append(used, 100*r.beside/(r.wall*float64(runtime.NumCPU())-(r.machine-r.beside)))
		}
		out = append(out, figure{at(name+".error_pct", variant), benchline.Median(errs), "%"},
			figure{at(name+".late", variant), lateOf(errs), "runs"},
			figure{at(name+".outside", variant), countOf(errs, outside), "runs"},
			figure{at(name+".used_pct", variant), benchline.Median(used), "%"})
	}
	for _, n := range neighbours() {
		add(fmt.Sprintf("contention.beside_unpaced.%d", n), runsOf(runs, besideWay(n)))
	}
	add("contention.beside_unpaced", runs)
	return out
}

// besideEarly is by how much the paced application may end early, in per cent.
const besideEarly = 3
