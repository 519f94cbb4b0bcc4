package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
)

// figure is what a row has measured.
type figure struct {
	Name     string
	Measured benchline.Measured
	Unit     string
}

// adder takes a figure.
type adder func(name string, m benchline.Measured, unit string)

// all adds figures.
func (add adder) all(figures []figure) {
	for _, f := range figures {
		add(f.Name, f.Measured, f.Unit)
	}
}

// row is a part of what is measured: it takes its figures by itself, and they are kept
// when it has ended well.
type row struct {
	name string
	// minutes are about what it takes, for the estimate of the time left.
	minutes float64
	// spark says that it needs real Spark, and root.
	spark bool
	// extra says that it is measured only by name.
	extra bool
	// always says that its figures are kept when it fails, too.
	always  bool
	measure func(t testing.TB, add adder)
}

// The commands that measure.
const (
	figuresCommand      = "figures"
	scaleCommand        = "scale"
	trustCommand        = "trust"
	deadlinesCommand    = "deadlines"
	contentionCommand   = "contention"
	matchCommand        = "match"
	queueCommand        = "queue"
	sqlCommand          = "sql"
	attachCommand       = "attach"
	meshCommand         = "mesh"
	profilesCommand     = "profiles"
	placementCommand    = "placement"
	memoryCommand       = "memory"
	applicationsCommand = "applications"
	usersCommand        = "users"
	kubernetesCommand   = "kubernetes"
	fuzzCommand         = "fuzz"
)

// rows are those of a command.
func rows(o options) []row {
	fuzzed := func(names []string) row {
		measure := func(t testing.TB, add adder) { fuzz(t, add, names, o.time) }
		return row{name: "fuzz", minutes: 10, always: true, measure: measure}
	}
	switch o.command {
	case scaleCommand:
		return scaleRows()
	case trustCommand:
		return []row{
			{name: "tls", minutes: 1, spark: true, measure: tlsOverhead},
			{name: "attacks", minutes: 3, measure: attacks},
			{name: "flood", minutes: 3, measure: flood},
			{name: "chaos", minutes: 30, measure: chaos},
			{name: "failover", minutes: 2, measure: failover},
			{name: "question", minutes: 1, measure: question},
			{name: "waiting", minutes: 0.2, measure: asks},
			fuzzed(nil),
			{name: "torture", measure: tortured},
			{name: "soak", measure: soaked},
		}
	case deadlinesCommand:
		return trialRows(o.trial, workloads())
	case contentionCommand:
		return contentionRows(o.trial)
	case matchCommand:
		return matchRows(o.trial)
	case queueCommand:
		return queueRows(o.trial)
	case sqlCommand:
		return sqlRows(o.trial)
	case attachCommand:
		return attachRows(o.trial)
	case meshCommand:
		return meshRows(o.trial)
	case profilesCommand:
		return slices.Concat(eventLogRows(), liveProfileRows(), whatIfRows(), versionRows())
	case memoryCommand:
		return append(heldRows(), lendRow(o.trial))
	case applicationsCommand:
		return slices.Concat(applicationRows(o.trial), objectStoreRows(o.trial))
	case usersCommand:
		return userRows()
	case kubernetesCommand:
		return kubernetesRows()
	case placementCommand:
		return placementRows(o.trial)
	case fuzzCommand:
		return []row{fuzzed(o.only)}
	}
	overhead := o.trial
	overhead.slacks = nil
	if overhead.runs == 0 {
		overhead.runs = 5
	}
	return slices.Concat([]row{
		experiments(row{name: "sim", minutes: 2}, 0, "table4", "skew", "profile"),
		{name: "strategies", minutes: 1, measure: strategies},
		{name: "verdicts", minutes: 1, measure: verdicts},
		{name: "why", minutes: 1, measure: accounted},
		experiments(row{name: "fluid", minutes: 1}, 10, "pace"),
		experiments(row{name: "zoe", minutes: 1.5}, 0, "zoe"),
		experiments(row{name: "tr1", minutes: 4}, 5, "tr1"),
		{name: "units", minutes: 1.5, measure: unitSeconds},
		experiments(row{name: "unknown", minutes: 1}, 0, "unknown"),
		experiments(row{name: "attach", minutes: 1}, 0, "attached"),
		{name: "repro-000", minutes: 4, measure: claimed(reproSeeds, "000")},
		{name: "repro-001", minutes: 4, measure: claimed(reproSeeds, "001")},
		{name: "repro-002", minutes: 2, measure: claimed(reproSeeds, "002")},
		{name: "repro-003", minutes: 4, measure: claimed(reproSeeds, "003")},
	}, scaleRows(), []row{
		{name: "page", minutes: 1, extra: true, measure: paged},
		{name: "micro", minutes: 1, measure: micro},
		{name: "plan", minutes: 0.5, spark: true, measure: planLatency},
		{name: "idle", minutes: 0.5, spark: true, measure: idle},
		{name: "full-node", minutes: 1, spark: true, measure: fullNode},
		{name: "rebind", minutes: 4, spark: true, measure: rebind},
		{name: "start", minutes: 6, spark: true, measure: start},
		{name: "precision", minutes: 5, spark: true, measure: precision},
	}, trialRows(overhead, []workload{demonstrated()}))
}

func scaleRows() []row {
	return []row{{name: "speed", minutes: 4, measure: speed}, {name: "scale", minutes: 4, measure: scaled},
		{name: "look", minutes: 1, measure: looks}, {name: "web", minutes: 2, measure: watched}}
}

// chosen are the rows of those names, without names those that are no extras.
func chosen(all []row, names []string) ([]row, error) {
	var out []row
	var known []string
	for _, r := range all {
		known = append(known, r.name)
		if slices.Contains(names, r.name) || len(names) == 0 && !r.extra {
			out = append(out, r)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("-only %s: want some of %v", name, known)
		}
	}
	return out, nil
}

// runner measures rows and keeps their figures in a file.
type runner struct {
	file   string
	commit string
	origin benchline.Origin
	w      io.Writer
	// done are the lines of this call.
	done []benchline.Line
}

// measure measures rows one after the other. A row that fails leaves the others to be measured.
func (r *runner) measure(ctx context.Context, todo []row) error {
	minutes := 0.0
	for _, one := range todo {
		minutes += one.minutes
	}
	var faults []error
	for i, one := range todo {
		fmt.Fprintf(r.w, "bench: [%d/%d] %s; about %s left\n", i+1, len(todo), one.name, duration(60*minutes))
		minutes -= one.minutes
		figures, err := one.take(ctx, r.w)
		if err == nil || one.always {
			err = errors.Join(err, r.keep(figures, 0))
		}
		if ctx.Err() != nil {
			var left []string
			for k, l := range todo[i:] {
				if k > 0 || err != nil {
					left = append(left, l.name)
				}
			}
			return fmt.Errorf("interrupted: the figures so far are kept, -only %s measures the others", strings.Join(left, ","))
		}
		if err != nil {
			fmt.Fprintf(r.w, "bench: %v\n", err)
		}
		if !errors.Is(err, errSkipped) {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// take measures a row.
func (o row) take(ctx context.Context, w io.Writer) (figures []figure, err error) {
	err = run(ctx, o.name, w, func(t testing.TB) {
		if o.spark {
			realenv.RequireSpark(t)
		}
		o.measure(t, func(name string, m benchline.Measured, unit string) {
			t.Logf("%s %.4g %s (%.4g to %.4g, n = %d)", name, m.Value, unit, m.Spread[0], m.Spread[1], m.N)
			figures = append(figures, figure{name, m, unit})
		})
	})
	return figures, err
}

// keep puts figures, which are of one machine or of several, into the file.
func (r *runner) keep(figures []figure, machines int) error {
	var lines []benchline.Line
	for _, f := range figures {
		lines = append(lines, benchline.Line{Name: f.Name, Measured: f.Measured, Unit: f.Unit, Machines: machines,
			Commit: r.commit, Date: time.Now().UTC().Truncate(time.Second), Origin: r.origin})
	}
	r.done = append(r.done, lines...)
	return benchline.Put(r.file, lines...)
}

// conclude keeps the figures over all workloads.
func (r *runner) conclude(variant string) error {
	lines, err := benchline.Read(r.file)
	if err != nil {
		return err
	}
	return r.keep(overall(lines, variant, r.origin))
}

// duration is seconds as people say them.
func duration(seconds float64) string {
	return (time.Duration(seconds) * time.Second).Round(10 * time.Second).String()
}
