package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

const usage = `usage: go run ./test/bench [COMMAND] [OPTION]...

  figures    all that is measured but workloads under deadlines (default)
  scale      of that, the planner at scale, the speed of simulator and control laws
  trust      what TLS and credentials cost; attacks, faults in the simulator, registrations beside a long
             question, fuzz targets, and what torture and soak have counted on these sources
  deadlines  workloads on stock Spark, as it comes and tuned, at all cores under Pacer,
             and under deadlines of tuned stock's time and more
  contention several applications at once, after their runs alone: the source's Benchmarks 1
             to 3 (bench1, bench2, bench3), a paced one beside first runs (beside)
  match      runs that differ from their profile: whether their stages are recognised, and whether
             they keep their deadlines, in virtual time and live
  queue      how long somebody waits for a node that a long application can spare, or keeps
  sql        a report of 22 queries that changes or comes in other orders: whether it keeps its deadlines,
             and whether its answers are right
  attach     deadlines of applications whose executors a YARN starts, what Pacer leaves behind there
  mesh       what has nobody in the middle, in virtual time: probes on a ring, machines that empty themselves
  profiles   what event logs tell, what is foretold of other cores and of deadlines before anything runs, and
             what versions of profiles take
  placement  where executors go when disks and networks are short, traces of clusters, forecasts of memory
  memory     what memory is used for: what the kernel protects, heaps that find their size, batch work on what others
             leave
  applications whole applications: drivers that nodes start, beside client mode, under deadlines, with kills;
             output to object stores
  users      what somebody meets who installs Pacer and reads its pages: documents, errors, keys, packages, doctor
  kubernetes Pacer on a real Kubernetes: deadlines, what is left behind after faults
  fuzz       every fuzz target for a while each: how many inputs, how many crashes
  render     write docs/figures.md from docs/figures.jsonl

A command measures its rows one after the other and keeps the figures of each when it has
ended. The rows:

%s
Options:

  -only A,B    some of the rows, or targets of fuzz
  -seed N      seed of the order of runs (drawn by default)
  -file PATH   the lines (docs/figures.jsonl)
  -runs N      rounds of each baseline and each deadline, live runs (3; of the demonstration's
               overhead 5, of beside 10, of sql 2); seeds of mesh (5); of
               applications pairs of each program, with four times as many kills and drivers (5)
  -time T      of fuzz and trust: how long each target runs (30s)
  -certainty C deadlines and sql: how likely deadlines are to be kept, 0.5 to 0.99 (0.5, of sql 0.95)
deadlines, contention but for -slack, and sql's -scale:
  -slack A,B   deadlines over the median of tuned stock's time, in per cent (0,20,40,
               with 10 for diamond and short-stages)
  -slice       the size that takes about 15 s (of lend 20 s), -scale X X times the usual size
  -set K=VALUE a setting of pacer up (may be repeated)
`

// help is the usage with the names of the rows; those in brackets are measured only by name.
func help() string {
	var names strings.Builder
	for _, command := range commands[:slices.Index(commands, fuzzCommand)] {
		fmt.Fprintf(&names, "  %-10s", command)
		for _, r := range rows(options{command: command}) {
			if r.extra {
				r.name = "[" + r.name + "]"
			}
			fmt.Fprint(&names, " ", r.name)
		}
		fmt.Fprintln(&names)
	}
	return fmt.Sprintf(usage, names.String())
}

const renderCommand = "render"

// commands are those that a user gives; those before fuzz have rows with names.
var commands = []string{figuresCommand, scaleCommand, trustCommand, deadlinesCommand, contentionCommand,
	matchCommand, queueCommand, sqlCommand, attachCommand, meshCommand, profilesCommand, placementCommand,
	memoryCommand, applicationsCommand, usersCommand, kubernetesCommand, fuzzCommand, renderCommand}

// options are those of the command line.
type options struct {
	command string
	only    []string
	file    string
	time    time.Duration
	trial   trialOptions
}

// errUsage says that the command line is wrong; a user sees the usage.
var errUsage = errors.New("wrong command line")

// parse reads the command line.
func parse(args []string) (options, error) {
	o := options{command: commands[0]}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		o.command, args = args[0], args[1:]
	}
	if !slices.Contains(commands, o.command) {
		return o, fmt.Errorf("%w: command %s: want one of %v", errUsage, o.command, commands)
	}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	only, slacks := f.String("only", "", ""), f.String("slack", "", "")
	f.StringVar(&o.file, "file", "docs/figures.jsonl", "")
	f.IntVar(&o.trial.runs, "runs", 0, "")
	f.DurationVar(&o.time, "time", 30*time.Second, "")
	f.BoolVar(&o.trial.slice, "slice", false, "")
	f.StringVar(&o.trial.scale, "scale", "", "")
	f.StringVar(&o.trial.certainty, "certainty", "", "")
	f.Func("set", "", func(s string) error { o.trial.set = append(o.trial.set, s); return nil })
	f.Uint64Var(&o.trial.seed, "seed", rand.Uint64(), "")
	if err := f.Parse(args); err != nil {
		return o, fmt.Errorf("%w: %w", errUsage, err)
	}
	o.only = list(*only)
	if err := o.complete(f, list(*slacks)); err != nil {
		return o, fmt.Errorf("%w: %w", errUsage, err)
	}
	return o, nil
}

// complete checks what was given and fills what was not.
func (o *options) complete(f *flag.FlagSet, slacks []string) error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	check(f.NArg() == 0, "%v: want options only", f.Args())
	check(o.trial.runs >= 0, "-runs %d: want 1 or more", o.trial.runs)
	check(o.time >= time.Second, "-time %v: want 1s or more", o.time)
	f.Visit(func(given *flag.Flag) {
		of := commands
		switch given.Name {
		case "time":
			of = []string{fuzzCommand, trustCommand}
		case "slack":
			of = []string{deadlinesCommand}
		case "scale":
			of = []string{deadlinesCommand, contentionCommand, sqlCommand}
		case "slice":
			of = []string{deadlinesCommand, contentionCommand, memoryCommand}
		case "set":
			of = []string{deadlinesCommand, contentionCommand}
		case "certainty":
			of = []string{deadlinesCommand, sqlCommand}
		}
		check(slices.Contains(of, o.command), "-%s is for %s", given.Name, strings.Join(of, " and "))
	})
	for _, s := range slacks {
		slack, err := strconv.Atoi(s)
		check(err == nil && slack >= 0 && slack <= 1000, "-slack %s: want whole per cent from 0 to 1000", s)
		o.trial.slacks = append(o.trial.slacks, slack)
	}
	if scale, err := strconv.ParseFloat(o.trial.scale, 64); o.trial.scale != "" {
		check(err == nil && scale > 0 && !o.trial.slice, "-scale %s: want a number above 0, or -slice", o.trial.scale)
	}
	if c, err := strconv.ParseFloat(o.trial.certainty, 64); o.trial.certainty != "" {
		check(err == nil && api.ValidCertainty(units.Fraction(c)), "-certainty %s: want a number from 0.5 to 0.99",
			o.trial.certainty)
	}
	if usual := map[string]string{deadlinesCommand: evenCertainty, sqlCommand: sqlCertainty}; o.trial.certainty ==
		usual[o.command] {
		o.trial.certainty = "" // Figures are not named for it.
	}
	if o.command != renderCommand {
		_, err := o.rows()
		check(err == nil, "%v", err)
	}
	return errors.Join(faults...)
}

// rows are those that are to be measured.
func (o options) rows() ([]row, error) {
	if o.command == fuzzCommand { // Its names are those of targets.
		return rows(o), nil
	}
	return chosen(rows(o), o.only)
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// fail prints what is wrong and returns the exit code.
func fail(err error) int {
	fmt.Fprintln(os.Stderr, "bench:", strings.ReplaceAll(err.Error(), "\n", "; "))
	if errors.Is(err, errUsage) {
		fmt.Fprint(os.Stderr, "\n", help())
		return 64
	}
	return 1
}
