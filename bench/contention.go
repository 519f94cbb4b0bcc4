package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/internal/benchline"
	"github.com/sparkpacer/pacer/internal/realenv"
	"github.com/sparkpacer/pacer/units"
)

// contend makes the runs of several applications at once that are not there. Deadlines are taken
// from the latest runs alone of the applications, to which each round adds one: the machine's speed
// differs by more from one quarter of an hour to another than by what deadlines are met or missed.
func (c *campaign) contend(ctx context.Context, o options) error {
	c.elsewhere = nil // Deadlines are of this machine.
	t := o.trial
	if t.runs == 0 {
		t.runs = 3
	}
	var faults []error
	if o.wants(offHeapMoves) {
		faults = append(faults, c.told(c.offHeapCell(ctx)))
	}
	if slices.Equal(o.only, []string{offHeapMoves}) {
		return errors.Join(faults...)
	}
	archives, err := filepath.Abs("out/bench/archives")
	if err == nil {
		err = run(ctx, archiveCell, c.w, func(t testing.TB) { c.archive(t, archives) })
	}
	if err != nil {
		return errors.Join(append(faults, c.told(err))...)
	}
	for _, e := range mixes() {
		if !o.wants(e.name) || ctx.Err() != nil {
			continue
		}
		faults = append(faults, c.told(c.mixed(ctx, t, e, archives)))
	}
	if o.wants(besideUnpaced) && ctx.Err() == nil {
		faults = append(faults, c.told(c.beside(ctx, o, archives)))
	}
	return errors.Join(append(faults, c.keepFigures(at("contention.figures", t.variant()), contentionFigures(c.Campaign, t.variant())))...)
}

// wants reports whether a part is asked for.
func (o options) wants(name string) bool { return len(o.only) == 0 || slices.Contains(o.only, name) }

// mixed makes the runs of a mix that are not there.
func (c *campaign) mixed(ctx context.Context, o trialOptions, e mix, archives string) error {
	todo := slices.DeleteFunc(mixSteps(e, o.runs, c.Seed), func(p mixStep) bool { return c.Has(p.cell(o.variant())) })
	more := latestAlone
	for i, p := range todo {
		if i == 0 || p.round != todo[i-1].round {
			if err := c.alone(ctx, o, archives, e.workloads(), more); err != nil {
				return err
			}
			more = 1
		}
		fmt.Fprintf(c.w, "bench: %s, %s, round %d; %d runs left\n", e.name, p.way.name, p.round, len(todo)-i)
		if err := run(ctx, e.name, c.w, func(t testing.TB) { c.perform(t, o, p, archives) }); err != nil {
			return err
		}
	}
	return nil
}

// latestAlone is from how many runs alone a deadline is taken. So many are made before the first round
// of a call, for those that are there may be of an hour ago, and one before each other round.
const latestAlone = 3

// alone makes that many more runs of each workload alone, on tuned stock Spark, and records their
// profiles.
func (c *campaign) alone(ctx context.Context, o trialOptions, archives string, names []string, more int) error {
	all, err := chosen(names)
	if err != nil {
		return err
	}
	for _, w := range all {
		o.runs = more + len(walls(c.Runs(w.name, o.variant()), basis, tunedOne))
		todo := pending(steps(w, o.runs, nil, c.Seed), c.Campaign, o.variant())
		todo = slices.DeleteFunc(todo, func(s step) bool { return s.baseline != tunedOne })
		if err := run(ctx, w.name, c.w, func(t testing.TB) { c.trial(t, o, w, archives, todo) }); err != nil {
			return err
		}
	}
	return nil
}

// perform makes one run of a mix and keeps a line for each of its applications.
func (c *campaign) perform(t testing.TB, o trialOptions, p mixStep, archives string) {
	tenants := c.tenantsOf(t, o, p.mix)
	s := openSite(t, o, p.way, archives, tenants)
	began := time.Now()
	for i := range tenants {
		m := &tenants[i]
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
	if s.system != nil {
		s.tell(t, filepath.Join("out/bench/mixes", p.cell(o.variant())), tenants)
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

// tenantsOf are the applications of a mix, with when they come and by when they are due.
func (c *campaign) tenantsOf(t testing.TB, o trialOptions, e mix) (tenants []tenant) {
	t.Helper()
	var all []float64
	for _, m := range e.apps {
		a, takes := c.tenant(t, o, m.workload)
		tenants, all = append(tenants, a), append(all, takes)
	}
	for i, j := range e.scaled(all) {
		tenants[i].at, tenants[i].deadline = j.at, j.due-j.at
	}
	return tenants
}

// tenant is a workload with what its runs alone have left, and what it takes on tuned stock
// Spark by the latest of them.
func (c *campaign) tenant(t testing.TB, o trialOptions, name string) (a tenant, takes float64) {
	t.Helper()
	found, err := chosen([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	alone := walls(c.Runs(name, o.variant()), basis, tunedOne)
	if len(alone) == 0 {
		t.Fatalf("no run of %s alone is there to take its deadline from", name)
	}
	a.workload = found[0]
	if a.kept, err = readRecording(c.recording(a.workload, o)); err != nil {
		t.Fatal(err)
	}
	return a, benchline.Median(alone[max(0, len(alone)-latestAlone):]).Value
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
		putProfile(t, s.system, a.kept.Profile)
	}
	return s
}

// submit starts one of the applications.
func (s *site) submit(t testing.TB, a *tenant) *realenv.Process {
	t.Helper()
	command := s.options.command(a.workload)
	if s.way.stock {
		args := s.cluster.submission(t, slices.Concat(tunedConf(t, a.kept.Properties, s.archives), s.way.args, command)...)
		return realenv.Start(t, nil, args[0], args[1:]...)
	}
	within := units.Seconds(a.deadline).Duration().Truncate(time.Millisecond)
	return s.system.Submit(slices.Concat(memory, []string{"--pacer-profile", a.kept.profile(t).Name, "--pacer-deadline", fmt.Sprintf("%dms", within.Milliseconds())}, command)...)
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
