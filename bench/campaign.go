package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/internal/benchline"
)

// campaign is one that is measured: what is there of it, and where the rest goes.
type campaign struct {
	benchline.Campaign
	// elsewhere are those of the same sources on other machines.
	elsewhere []benchline.Campaign
	origin    benchline.Origin
	commit    string
	logs      []*benchline.Log
	w         io.Writer
	now       func() time.Time
}

// archiveCell is the cell of the class-data archive, which those of applications need.
const archiveCell = "archive"

// begin goes on with the newest campaign of this origin or begins one, and says what
// else is in the file.
func begin(o options, origin benchline.Origin, commit string, w io.Writer) (*campaign, error) {
	c := &campaign{origin: origin, commit: commit, w: w, now: time.Now}
	for _, path := range []string{o.file, o.log} {
		log, err := benchline.Open(path)
		if err != nil {
			return nil, err
		}
		c.logs = append(c.logs, log)
	}
	lines, faults, err := c.logs[0].Read()
	if err != nil {
		return nil, err
	}
	for _, said := range benchline.Others(lines, faults, origin) {
		fmt.Fprintf(w, "bench: %s: %s\n", o.file, said)
	}
	if !o.again {
		c.elsewhere = benchline.Elsewhere(lines, origin)
	}
	found, ok := benchline.Resume(lines, origin)
	switch {
	case !ok || o.again:
		seed := rand.Uint64()
		if o.seed != nil {
			seed = *o.seed
		}
		c.Campaign = benchline.Begin(c.now(), seed)
		fmt.Fprintf(w, "bench: a campaign of sources %s begins (%s, seed %d)\n", origin.Sources, c.ID, seed)
	case o.seed != nil && *o.seed != found.Seed:
		return nil, fmt.Errorf("campaign %s has the seed %d: another one needs -again", found.ID, found.Seed)
	default:
		c.Campaign = found
		fmt.Fprintf(w, "bench: campaign %s of sources %s goes on (seed %d, %d lines)\n", c.ID, origin.Sources, c.Seed, len(c.Lines))
	}
	return c, nil
}

// keep adds the lines of a cell, to all logs.
func (c *campaign) keep(lines ...benchline.Line) error {
	for i := range lines {
		l := &lines[i]
		l.Commit, l.Date, l.Origin, l.Campaign, l.Seed = c.commit, c.now().UTC().Truncate(time.Second), c.origin, c.ID, c.Seed
	}
	for _, log := range c.logs {
		if err := log.Add(lines...); err != nil {
			return err
		}
	}
	c.Lines = append(c.Lines, lines...)
	return nil
}

// keepFigures adds those of a cell.
func (c *campaign) keepFigures(cell string, figures []figure) error {
	return c.keep(linesOf(cell, figures)...)
}

func linesOf(cell string, figures []figure) []benchline.Line {
	var lines []benchline.Line
	for _, f := range figures {
		lines = append(lines, benchline.Line{Name: f.Name, Value: f.Measured.Value, Unit: f.Unit, N: f.Measured.N, Spread: f.Measured.Spread, Cell: cell})
	}
	return lines
}

// figures measures the cells that are asked for and not there, then the overhead.
func (c *campaign) figures(ctx context.Context, o options) error {
	var todo []cell
	minutes := 0.0
	for _, one := range cellsOf(o.command) {
		if o.wants(one.name) && !c.Has(one.name) {
			todo = append(todo, one)
			minutes += one.minutes
		}
	}
	var faults []error
	for i, one := range todo {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(c.w, "bench: [%d/%d] %s; about %s left\n", i+1, len(todo), one.name, duration(60*minutes))
		minutes -= one.minutes
		var figures []figure
		err := run(ctx, one.name, c.w, func(t testing.TB) { figures = one.take(t) })
		if err == nil {
			err = c.keepFigures(one.name, figures)
		}
		faults = append(faults, c.told(err))
	}
	if o.command != commands[0] || !o.wants(overheadOf) {
		return errors.Join(faults...)
	}
	trial := o.trial
	trial.workloads, trial.slacks = []workload{demonstrated()}, nil
	if trial.runs == 0 {
		trial.runs = 5
	}
	return errors.Join(append(faults, c.trials(ctx, trial))...)
}

// told says a fault at once and returns it, unless the cell was only skipped.
func (c *campaign) told(err error) error {
	if err != nil {
		fmt.Fprintf(c.w, "bench: %v\n", err)
	}
	if errors.Is(err, errSkipped) {
		return nil
	}
	return err
}

// list prints the cells.
func (c *campaign) list() error {
	for _, one := range append(cells(), trusted()...) {
		state := "to be measured"
		if c.Has(one.name) {
			state = "there"
		}
		fmt.Fprintf(c.w, "%-20s %s\n", one.name, state)
	}
	for _, w := range append([]workload{demonstrated()}, workloads()...) {
		fmt.Fprintf(c.w, "%-20s %d runs\n", w.name, len(c.Runs(w.name, "")))
	}
	return nil
}

// trials makes the runs of workloads that are not there, and their figures.
func (c *campaign) trials(ctx context.Context, o trialOptions) error {
	if o.runs == 0 {
		o.runs = 3
	}
	var todo []step
	for _, w := range o.workloads {
		if there, ok := c.whole(w, o); ok {
			fmt.Fprintf(c.w, "bench: %s was measured on %s\n", w.name, there.Lines[0].Place())
			continue
		}
		todo = append(todo, pending(steps(w, o.runs, o.slacksOf(w), c.Seed), c.Campaign, o.variant())...)
	}
	if len(todo) == 0 {
		fmt.Fprintln(c.w, "bench: all of these runs are there: -again begins another campaign")
		return c.conclude(o)
	}
	archives, err := filepath.Abs("out/bench/archives")
	if err == nil {
		err = run(ctx, archiveCell, c.w, func(t testing.TB) { c.archive(t, archives) })
	}
	if err != nil {
		return c.told(err)
	}
	var faults []error
	for _, w := range o.workloads {
		if ctx.Err() != nil {
			faults = append(faults, ctx.Err())
			break
		}
		mine := slices.DeleteFunc(slices.Clone(todo), func(s step) bool { return s.workload.name != w.name })
		if len(mine) > 0 {
			err := run(ctx, w.name, c.w, func(t testing.TB) { c.trial(t, o, w, archives, todo) })
			faults = append(faults, c.told(err))
		}
		todo = slices.DeleteFunc(todo, func(s step) bool { return s.workload.name == w.name })
	}
	return errors.Join(append(faults, c.conclude(o))...)
}

// whole is the campaign on another machine that has all runs of a workload, where this one
// has none: a workload's runs are all of one machine.
func (c *campaign) whole(w workload, o trialOptions) (benchline.Campaign, bool) {
	if len(c.Runs(w.name, o.variant())) > 0 {
		return benchline.Campaign{}, false
	}
	for _, there := range c.elsewhere {
		if len(pending(steps(w, o.runs, o.slacksOf(w), there.Seed), there, o.variant())) == 0 {
			return there, true
		}
	}
	return benchline.Campaign{}, false
}

// slacksOf are the slacks of a workload's deadlines.
func (o trialOptions) slacksOf(w workload) []int {
	if len(o.slacks) > 0 {
		return o.slacks
	}
	return w.slacks
}

// archive sees to the class-data archive. It is made anew where the campaign does not
// know yet what that takes.
func (c *campaign) archive(t testing.TB, dir string) {
	cell{spark: true, measure: func(testing.TB, adder) {}}.take(t)
	made, err := filepath.Glob(filepath.Join(dir, "*.jsa"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Has(archiveCell) && len(made) > 0 {
		return
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(c.w, "bench: making the class-data archive; about 1m0s")
	used := makeArchive(t, dir)
	if c.Has(archiveCell) {
		return
	}
	if err := c.keepFigures(archiveCell, []figure{{"archive.core_seconds", benchline.One(used), "core-seconds"}}); err != nil {
		t.Fatal(err)
	}
}

// trial makes the runs of one workload; todo has those of the later ones too, for the
// time left.
func (c *campaign) trial(t testing.TB, o trialOptions, w workload, archives string, todo []step) {
	b := &trial{options: o, workload: w, archives: archives, keep: c.recording(w, o)}
	fmt.Fprintf(c.w, "bench: %s: %d runs to come; about %s left\n", w.name, len(todo), duration(left(todo, c.Campaign, o)))
	b.open(t)
	for ; len(todo) > 0 && todo[0].workload.name == w.name; todo = todo[1:] {
		if t.Context().Err() != nil {
			t.Fatal("interrupted")
		}
		s := todo[0]
		fmt.Fprintf(c.w, "bench: %s; %d runs and about %s left\n", s, len(todo), duration(left(todo, c.Campaign, o)))
		tuned := 0.0
		if base := walls(c.Runs(w.name, o.variant()), basis, tunedOne); s.baseline == pacedOne {
			if len(base) == 0 {
				t.Fatal("no run of tuned stock Spark is there to take deadlines from")
			}
			tuned = benchline.Median(base).Value
		}
		r := b.take(t, s, tuned)
		t.Logf("%s", told(r))
		name := "run." + w.name + "." + s.baseline
		if s.baseline == pacedOne {
			name += fmt.Sprintf(".%d", s.slack)
		}
		line := benchline.Line{Name: at(name, o.variant()), Value: r.Wall, Unit: "s", N: 1, Spread: [2]float64{r.Wall, r.Wall}, Cell: s.cell(o.variant()), Run: &r}
		if err := c.keep(line); err != nil {
			t.Fatal(err)
		}
	}
}

// told is a run in a line.
func told(r benchline.Run) string {
	text := fmt.Sprintf("%.2f s, %.1f core-seconds", r.Wall, r.CoreSeconds)
	pct, ok := r.ErrorPct()
	if !ok {
		return text
	}
	side := "early"
	if pct < 0 {
		side = "late"
	}
	return fmt.Sprintf("%s, due after %.2f s: %+.2f %% (%s), %s", text, *r.Deadline, pct, side, r.Pacing)
}

// conclude adds the figures of the workloads' runs, and those over all workloads, unless
// they have been since the last run. Of a workload that has no runs here the latter have
// those of another machine.
func (c *campaign) conclude(o trialOptions) error {
	cell := at("trial.figures", o.variant())
	last := func(of func(l benchline.Line) bool) int {
		for i := len(c.Lines) - 1; i >= 0; i-- {
			if of(c.Lines[i]) {
				return i
			}
		}
		return -1
	}
	run := last(func(l benchline.Line) bool { return l.Run != nil && l.Run.Variant == o.variant() })
	if run < 0 || run < last(func(l benchline.Line) bool { return l.Cell == cell }) {
		return nil
	}
	variant := o.variant()
	var figures []figure
	var all []workload
	for _, w := range append([]workload{demonstrated()}, workloads()...) {
		all = append(all, w)
		if slices.ContainsFunc(o.workloads, func(of workload) bool { return of.name == w.name }) {
			figures = append(figures, figuresOf(w.name, variant, bearing(c.Campaign, w.name, variant))...)
		}
	}
	lines, machines := linesOf(cell, figures), map[string]bool{}
	over := overall(all, variant, func(w workload) []benchline.Run {
		of := c.Campaign
		if there, ok := c.whole(w, o); ok {
			of = there
		}
		runs := bearing(of, w.name, variant)
		if len(runs) > 0 {
			machines[of.ID] = true
		}
		return runs
	})
	for _, l := range linesOf(cell, over) {
		l.Machines = len(machines)
		lines = append(lines, l)
	}
	return c.keep(lines...)
}

// duration is seconds as people say them.
func duration(seconds float64) string {
	return (time.Duration(seconds) * time.Second).Round(10 * time.Second).String()
}
