package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

// contentionRows are several applications at once, and the off-heap memory that moves.
// Deadlines are taken from the latest runs alone of the applications, to which each round
// adds one: the machine's speed differs by more from one quarter of an hour to another than
// by what deadlines are met or missed.
func contentionRows(o trialOptions) []row {
	out := []row{{name: offHeapMoves, minutes: 4, spark: true, measure: offHeap}}
	var shared archives
	for _, e := range mixes() {
		mine := o
		if mine.runs == 0 {
			mine.runs = 3
		}
		measure := func(t testing.TB, add adder) {
			c := contention{options: mine, archives: shared.dir(t, add)}
			runs := c.mixed(t, e)
			add.all(mixFigures(e, mine.variant(), runs, c.jobs(e)))
		}
		out = append(out, row{name: e.name, minutes: 10 * float64(mine.runs), spark: true, measure: measure})
	}
	if o.runs == 0 {
		o.runs = besideRuns
	}
	measure := func(t testing.TB, add adder) {
		c := contention{options: o, archives: shared.dir(t, add)}
		add.all(besideFigures(o.variant(), c.besides(t)))
	}
	return append(out, row{name: besideUnpaced, minutes: 6 * float64(o.runs), spark: true, measure: measure})
}

// latestAlone is from how many runs alone a deadline is taken. So many are made before the
// first round, and one before each other round.
const latestAlone = 3

// contention is applications at once, with their runs alone on tuned stock Spark.
type contention struct {
	options  trialOptions
	archives string
	// kept is what their first runs under Pacer have left, runs are those alone.
	kept map[string]recording
	runs []outcome
}

// more makes the runs alone that a round begins with.
func (c *contention) more(t testing.TB, names []string, round int) {
	t.Helper()
	n := 1
	if round == 1 {
		n, c.kept = latestAlone, map[string]recording{}
	}
	for _, w := range named(names...) {
		part(t, w.name, func(t testing.TB) {
			b := trial{options: c.options, workload: w, archives: c.archives, kept: c.kept[w.name]}
			b.open(t)
			c.runs = append(c.runs, b.all(t, slices.Repeat([]step{{w, basis, round, tunedOne, 0}}, n))...)
			c.kept[w.name] = b.kept
		})
	}
}

// takes is how long a workload takes alone, by all of its runs or the latest of them.
func (c *contention) takes(name string, latest int) float64 {
	of := slices.DeleteFunc(slices.Clone(c.runs), func(r outcome) bool { return r.workload != name })
	times := walls(of, basis, tunedOne)
	return benchline.Median(times[max(0, len(times)-latest):]).Value
}

// jobs are a mix's applications as they run here.
func (c *contention) jobs(e mix) []job {
	var takes []float64
	for _, m := range e.apps {
		takes = append(takes, c.takes(m.workload, len(c.runs)))
	}
	return e.scaled(takes)
}

// mixed makes the runs of a mix: rounds of all ways, each in an order drawn from the seed.
func (c *contention) mixed(t testing.TB, e mix) (runs []outcome) {
	t.Helper()
	for round := 1; round <= c.options.runs; round++ {
		c.more(t, e.workloads(), round)
		for _, w := range shuffled(slices.Clone(e.ways), c.options.seed, fmt.Sprintf("%s %d", e.name, round)) {
			part(t, fmt.Sprintf("%s, %s, round %d of %d", e.name, w.name, round, c.options.runs), func(t testing.TB) {
				runs = append(runs, c.perform(t, e, w, round)...)
			})
		}
	}
	return runs
}

// perform makes one run of a mix.
func (c *contention) perform(t testing.TB, e mix, w way, round int) (runs []outcome) {
	t.Helper()
	tenants := c.tenantsOf(e)
	s := openSite(t, c.options, w, c.archives, tenants)
	began := time.Now()
	for i := range tenants {
		m := &tenants[i]
		until(t, began.Add(units.Seconds(m.at).Duration()))
		m.run = s.submit(t, m)
	}
	for _, m := range tenants {
		if code := m.run.Wait(runLimit); code != 0 {
			t.Fatalf("%s, %s: %s: exit %d: %s", e.name, w.name, m.workload.name, code, m.run.LastWords())
		}
		if said, err := realenv.Line(m.run.Answer(), "RESULT "); err != nil || said != m.kept.answer {
			t.Fatalf("%s answers %q, the recorded run %q: %v", m.workload.name, said, m.kept.answer, err)
		}
		r := outcome{workload: m.workload.name, way: w.name, round: round, wall: m.run.Took().Seconds(), deadline: m.deadline,
			at: m.at}
		t.Logf("%s: %s", m.workload.name, r)
		runs = append(runs, r)
	}
	if s.system != nil {
		run := at(fmt.Sprintf("%s.%s.%d", e.name, w.name, round), c.options.variant())
		s.tell(t, filepath.Join("out/bench/mixes", run), tenants)
	}
	return runs
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

// tenantsOf are the applications of a mix, with when they come and by when they are due,
// by the latest runs alone.
func (c *contention) tenantsOf(e mix) (tenants []tenant) {
	var takes []float64
	for _, m := range e.apps {
		takes = append(takes, c.takes(m.workload, latestAlone))
	}
	for i, j := range e.scaled(takes) {
		w := named(e.apps[i].workload)[0]
		tenants = append(tenants, tenant{workload: w, kept: c.kept[w.name], at: j.at, deadline: j.due - j.at})
	}
	return tenants
}

// site is where a mix runs: one of the two is there.
type site struct {
	options  trialOptions
	way      way
	archives string
	cluster  standalone
	system   *realenv.System
}

func openSite(t testing.TB, o trialOptions, w way, archives string, tenants []tenant) *site {
	t.Helper()
	s := &site{options: o, way: w, archives: archives}
	if w.stock {
		s.cluster = startStandalone(t)
		return s
	}
	s.system = realenv.New(t)
	s.system.UseArchives(archives)
	s.system.StartUp(slices.Concat([]string{"--cores", strconv.Itoa(standaloneCores)}, w.args, o.settings())...)
	for _, a := range tenants {
		putProfile(t, s.system, a.kept.profile)
	}
	return s
}

// submit starts one of the applications.
func (s *site) submit(t testing.TB, a *tenant) *realenv.Process {
	t.Helper()
	command := s.options.command(a.workload)
	if s.way.stock {
		args := s.cluster.submission(t, slices.Concat(tunedConf(t, a.kept.properties, s.archives), s.way.args, command)...)
		return realenv.Start(t, nil, args[0], args[1:]...)
	}
	flags, _ := deadlineFlags(a.deadline)
	return s.system.Submit(slices.Concat(memory, []string{"--pacer-profile", a.kept.decoded(t).Name}, flags, command)...)
}

// tell writes to dir what Pacer printed and tells of each application at the end of a mix: of an
// application that was late it says why.
func (s *site) tell(t testing.TB, dir string, tenants []tenant) {
	t.Helper()
	files := map[string]string{"pacer.log": s.system.Up.Output()}
	for _, a := range tenants {
		files[a.workload.name+".log"] = a.run.Output()
	}
	for _, a := range s.system.Apps() {
		_, files[string(a.ID)+".json"] = s.system.Pacer("apps", "show", string(a.ID), "-o", "json")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
