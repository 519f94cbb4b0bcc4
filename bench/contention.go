package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/internal/benchline"
	"github.com/sparkpacer/pacer/internal/realenv"
	"github.com/sparkpacer/pacer/units"
)

// mix is a benchmark of several applications that come after each other.
type mix struct {
	name string
	apps []arrival
	ways []way
}

// arrival is an application of a mix. The source says when it comes, by when it is due
// and what it takes alone; here it comes and is due after as many times what it takes.
type arrival struct {
	workload            string
	at, deadline, alone float64 // Seconds of the source.
}

// way is how a mix runs: on stock Spark, tuned, or under Pacer.
type way struct {
	name  string
	stock bool
	// args are more options of spark-submit, or of pacer up.
	args []string
}

// The ways on stock Spark: one application after the other, as a standalone master has
// them by default, and side by side on half of the cores each.
const (
	inTurn     = "stock-fifo"
	shared = "stock-side-by-side"
)

// under is a way under Pacer.
func under(name, strategy string, gamma int) way {
	return way{name: name, args: []string{"--set", "node.strategy=" + strategy, "--set", fmt.Sprintf("node.gamma=%d", gamma)}}
}

// mixes are Benchmarks 1 to 3 of the source (its Tables 6 to 9). It gives what the
// applications of the first two take alone; for those of Benchmark 3 it is what the
// simulator's take (sim/paper).
func mixes() []mix {
	return []mix{
		{"bench1", []arrival{{"pagerank", 0, 300, 59}, {"kmeans", 40, 300, 86}, {"svm", 80, 120, 77}},
			[]way{{name: inTurn, stock: true}, {name: shared, stock: true, args: []string{"--conf", "spark.cores.max=1"}},
				under("edf-pure", "edf-pure", 0), under("auto", "auto", 0), under("edf-all", "edf-all", 1)}},
		{"bench2", []arrival{{"pagerank", 0, 250, 59}, {"kmeans", 40, 160, 86}, {"svm", 80, 250, 77}},
			[]way{under("edf-pure.g0", "edf-pure", 0), under("proportional.g0", "proportional", 0), under("auto.g0", "auto", 0)}},
		{"bench3", []arrival{{"aggregate-by-key", 0, 120, 86}, {"group-by", 40, 200, 149}, {"aggregate-by-key-int", 80, 160, 106}},
			[]way{under("edf-pure", "edf-pure", 0), under("auto", "auto", 0)}},
	}
}

// contentions are the names of what `bench contention` measures.
func contentions() []string {
	var names []string
	for _, e := range mixes() {
		names = append(names, e.name)
	}
	return append(names, besideUnpaced)
}

// mixStep is one run of a mix that is to be made.
type mixStep struct {
	mix   mix
	way   way
	round int
}

func (p mixStep) cell(variant string) string {
	return at(fmt.Sprintf("contention.%s.%s.%d", p.mix.name, p.way.name, p.round), variant)
}

// mixSteps are the runs of a mix: rounds of all ways, each in an order drawn from
// the seed.
func mixSteps(e mix, rounds int, seed uint64) []mixStep {
	var out []mixStep
	for round := 1; round <= rounds; round++ {
		of := make([]mixStep, 0, len(e.ways))
		for _, w := range e.ways {
			of = append(of, mixStep{e, w, round})
		}
		name := fnv.New64a()
		fmt.Fprintf(name, "%s %d", e.name, round)
		rand.New(rand.NewPCG(seed, name.Sum64())).Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		out = append(out, of...)
	}
	return out
}

// contend makes the runs of several applications at once that are not there, each after the
// runs alone of its applications, from which deadlines are taken.
func (c *campaign) contend(ctx context.Context, o options) error {
	c.elsewhere = nil // Deadlines are of this machine.
	t := o.trial
	if t.runs == 0 {
		t.runs = 3
	}
	archives, err := filepath.Abs("out/bench/archives")
	if err == nil {
		err = run(ctx, archiveCell, c.w, func(t testing.TB) { c.archive(t, archives) })
	}
	if err != nil {
		return c.told(err)
	}
	var faults []error
	for _, e := range mixes() {
		if !o.wants(e.name) || ctx.Err() != nil {
			continue
		}
		todo := slices.DeleteFunc(mixSteps(e, t.runs, c.Seed), func(p mixStep) bool { return c.Has(p.cell(t.variant())) })
		err := c.alone(ctx, t, archives, e.workloads())
		for i, p := range todo {
			if err != nil || ctx.Err() != nil {
				break
			}
			fmt.Fprintf(c.w, "bench: %s, %s, round %d; %d runs left\n", e.name, p.way.name, p.round, len(todo)-i)
			err = run(ctx, e.name, c.w, func(tb testing.TB) { c.perform(tb, t, p, archives) })
		}
		faults = append(faults, c.told(err))
	}
	if o.wants(besideUnpaced) && ctx.Err() == nil {
		faults = append(faults, c.told(c.beside(ctx, o, archives)))
	}
	return errors.Join(append(faults, c.keepFigures(at("contention.figures", t.variant()), contentionFigures(c.Campaign, t.variant())))...)
}

// wants reports whether a part is asked for.
func (o options) wants(name string) bool { return len(o.only) == 0 || slices.Contains(o.only, name) }

// workloads are those of the mix's applications.
func (e mix) workloads() (names []string) {
	for _, m := range e.apps {
		names = append(names, m.workload)
	}
	return names
}

// alone makes the runs of workloads alone that are not there: on tuned stock Spark, and at
// all cores under Pacer, which record the profiles.
func (c *campaign) alone(ctx context.Context, o trialOptions, archives string, names []string) error {
	all, err := chosen(names)
	if err != nil {
		return err
	}
	for _, w := range all {
		todo := pending(steps(w, o.runs, nil, c.Seed), c.Campaign, o.variant())
		todo = slices.DeleteFunc(todo, func(s step) bool { return s.baseline == stockAsIs })
		if len(todo) == 0 {
			continue
		}
		if err := run(ctx, w.name, c.w, func(t testing.TB) { c.trial(t, o, w, archives, todo) }); err != nil {
			return err
		}
	}
	return nil
}

// perform makes one run of a mix and keeps a line for each of its applications.
func (c *campaign) perform(t testing.TB, o trialOptions, p mixStep, archives string) {
	tenants, unit := c.tenantsOf(t, o, p.mix)
	s := openSite(t, o, p.way, archives, tenants)
	began := time.Now()
	for i := range tenants {
		m := &tenants[i]
		m.at = p.mix.apps[i].at * unit
		until(t, began.Add(units.Seconds(m.at).Duration()))
		m.run = s.submit(t, m)
	}
	var lines []benchline.Line
	for _, m := range tenants {
		if code := m.run.Wait(runLimit); code != 0 {
			t.Fatalf("%s, %s: %s: exit %d: %s", p.mix.name, p.way.name, m.workload.name, code, m.run.LastWords())
		}
		if said, err := realenv.Line(m.run.Answer(), "RESULT "); err != nil || said != m.kept.Answer {
			t.Fatalf("%s answers %q, the recorded run %q: %v", m.workload.name, said, m.kept.Answer, err)
		}
		wall := m.run.Took().Seconds()
		r := benchline.Run{Workload: m.workload.name, Variant: at(p.mix.name+"."+p.way.name, o.variant()), Phase: "contention", Round: p.round,
			Baseline: p.way.name, Wall: wall, Deadline: &m.deadline, At: &m.at}
		t.Logf("%s: %s", m.workload.name, told(r))
		lines = append(lines, benchline.Line{Name: at(fmt.Sprintf("run.contention.%s.%s.%s", p.mix.name, p.way.name, m.workload.name), o.variant()),
			Value: wall, Unit: "s", N: 1, Spread: [2]float64{wall, wall}, Cell: p.cell(o.variant()), Run: &r})
	}
	if err := c.keep(lines...); err != nil {
		t.Fatal(err)
	}
}

// until waits for a moment.
func until(t testing.TB, moment time.Time) {
	t.Helper()
	select {
	case <-time.After(time.Until(moment)):
	case <-t.Context().Done():
		t.Fatal("interrupted")
	}
}

// tenant is an application of a mix as it runs here.
type tenant struct {
	workload     workload
	kept         recording
	at, deadline float64
	run          *realenv.Process
}

// tenantsOf are the applications of a mix with their deadlines, and what a second of the
// source's clock is here: the mean of what its applications take, over what the source's do.
func (c *campaign) tenantsOf(t testing.TB, o trialOptions, e mix) (tenants []tenant, unit float64) {
	t.Helper()
	for _, m := range e.apps {
		a, takes := c.tenant(t, o, m.workload)
		a.deadline = takes * m.deadline / m.alone
		unit += takes / m.alone / float64(len(e.apps))
		tenants = append(tenants, a)
	}
	return tenants, unit
}

// tenant is a workload with what its runs alone have left, and what it takes on tuned stock
// Spark.
func (c *campaign) tenant(t testing.TB, o trialOptions, name string) (a tenant, takes float64) {
	t.Helper()
	found, err := chosen([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	walls := walls(c.Runs(name, o.variant()), basis, tunedOne)
	if len(walls) == 0 {
		t.Fatalf("no run of %s alone is there to take its deadline from", name)
	}
	a.workload = found[0]
	if a.kept, err = readRecording(c.recording(a.workload, o)); err != nil {
		t.Fatal(err)
	}
	return a, benchline.Median(walls).Value
}

// site is where a mix runs: one of the two is there.
type site struct {
	options trialOptions
	way     way
	cluster standalone
	system  *realenv.System
	tuned   []string
}

func openSite(t testing.TB, o trialOptions, w way, archives string, tenants []tenant) *site {
	t.Helper()
	s := &site{options: o, way: w}
	if w.stock {
		s.cluster = startStandalone(t)
		s.tuned = tunedConf(t, tenants[0].kept.Properties, archives)
		return s
	}
	s.system = realenv.New(t)
	s.system.UseArchives(archives)
	s.system.StartUp(slices.Concat([]string{"--set", "node.reserve=0"}, w.args, o.settings())...)
	for _, a := range tenants {
		putProfile(t, s.system, a.kept.Profile)
	}
	return s
}

// submit starts one of the applications.
func (s *site) submit(t testing.TB, a *tenant) *realenv.Process {
	t.Helper()
	command := s.options.command(a.workload)
	if s.way.stock {
		args := s.cluster.submission(t, slices.Concat(s.tuned, s.way.args, command)...)
		return realenv.Start(t, nil, args[0], args[1:]...)
	}
	within := units.Seconds(a.deadline).Duration().Truncate(time.Millisecond)
	return s.system.Submit(slices.Concat(memory, []string{"--pacer-deadline", fmt.Sprintf("%dms", within.Milliseconds())}, command)...)
}

// contentionFigures are the figures of the runs of several applications at once.
func contentionFigures(c benchline.Campaign, variant string) []figure {
	var out []figure
	for _, e := range mixes() {
		spans := map[string][]float64{}
		var stock []float64
		for _, w := range e.ways {
			runs := runsOf(c, at(e.name+"."+w.name, variant))
			if len(runs) == 0 {
				continue
			}
			spans[w.name] = makespans(runs)
			if w.stock && (stock == nil || benchline.Median(spans[w.name]).Value < benchline.Median(stock).Value) {
				stock = spans[w.name]
			}
			out = append(out, figuresAt("contention."+e.name+"."+w.name, variant, runs)...)
		}
		for _, w := range e.ways {
			if s := spans[w.name]; len(s) > 0 && len(stock) > 0 && !w.stock {
				out = append(out, figure{at("contention."+e.name+"."+w.name+".makespan_ratio", variant), benchline.Ratio(s, stock), "ratio"})
			}
		}
		if best, ok := clairvoyant(c, e, variant); ok && e.name == "bench3" {
			out = append(out, figure{at("contention."+e.name+".clairvoyant.met", variant), benchline.One(best), "applications"})
		}
	}
	return append(out, besideFigures(c, variant)...)
}

// runsOf are the runs of one way, of all its applications.
func runsOf(c benchline.Campaign, variant string) []benchline.Run {
	var out []benchline.Run
	for _, l := range c.Lines {
		if l.Run != nil && l.Run.Variant == variant {
			out = append(out, *l.Run)
		}
	}
	return out
}

// figuresAt are how many applications of a way were late and met in a run, and by how much
// they missed their deadlines in either direction.
func figuresAt(name, variant string, runs []benchline.Run) []figure {
	errs := errorsOf(runs)
	amounts := make([]float64, 0, len(errs))
	for _, e := range errs {
		amounts = append(amounts, max(e, -e))
	}
	met := map[int]float64{}
	for _, r := range runs {
		pct, _ := r.ErrorPct()
		if met[r.Round] += 0; pct >= 0 {
			met[r.Round]++
		}
	}
	var each []float64
	for _, n := range met {
		each = append(each, n)
	}
	return []figure{
		{at(name+".late", variant), lateOf(errs), "runs"},
		{at(name+".mean_abs_error_pct", variant), benchline.Mean(amounts), "%"},
		{at(name+".met", variant), benchline.Mean(each), "applications"},
	}
}

// makespans are the times from the first submission to the last exit, by round.
func makespans(runs []benchline.Run) []float64 {
	ends := map[int]float64{}
	for _, r := range runs {
		ends[r.Round] = max(ends[r.Round], *r.At+r.Wall)
	}
	var out []float64
	for _, end := range ends {
		out = append(out, end)
	}
	return out
}

// clairvoyant is the most applications of a mix that whoever knows all of them before
// they come can end in time, if each takes what it takes alone on tuned stock Spark and
// another may go on where one is interrupted: of some set of them, the earliest deadline
// first. It is false while they have not run.
func clairvoyant(c benchline.Campaign, e mix, variant string) (most float64, ok bool) {
	var jobs []job
	unit := 0.0
	for _, m := range e.apps {
		alone := walls(c.Runs(m.workload, variant), basis, tunedOne)
		if len(alone) == 0 {
			return 0, false
		}
		takes := benchline.Median(alone).Value
		unit += takes / m.alone / float64(len(e.apps))
		jobs = append(jobs, job{at: m.at, takes: takes, due: takes * m.deadline / m.alone})
	}
	for i := range jobs {
		jobs[i].at *= unit
		jobs[i].due += jobs[i].at
	}
	for set := range 1 << len(jobs) {
		var of []job
		for i, j := range jobs {
			if set>>i&1 == 1 {
				of = append(of, j)
			}
		}
		if schedulable(of) {
			most = max(most, float64(len(of)))
		}
	}
	return most, true
}

// job comes at a moment, takes a time and is due at another moment.
type job struct{ at, takes, due float64 }

// schedulable reports whether all jobs end in time on one machine, the earliest deadline
// first: they do if those that come from some moment on and are due by another take no
// longer than from the one to the other.
func schedulable(jobs []job) bool {
	for _, from := range jobs {
		for _, to := range jobs {
			takes := 0.0
			for _, j := range jobs {
				if j.at >= from.at && j.due <= to.due {
					takes += j.takes
				}
			}
			if takes > to.due-from.at {
				return false
			}
		}
	}
	return true
}

// settings are those of pacer up that the options give.
func (o trialOptions) settings() []string {
	var args []string
	if o.law != "" {
		args = append(args, "--set", "node.law="+o.law)
	}
	for _, set := range o.set {
		args = append(args, "--set", set)
	}
	return args
}

// recording is the file of what the trial of a workload has recorded.
func (c *campaign) recording(w workload, o trialOptions) string {
	return filepath.Join("out/bench/recorded", strings.ReplaceAll(at(c.ID+"-"+w.name, o.variant()), "/", "_")+".json")
}
