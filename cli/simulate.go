package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/cli/config"
	"github.com/sparkpacer/pacer/replay"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/sim/paper"
	"github.com/sparkpacer/pacer/sim/registry"
)

// simulateCommand runs scenarios and experiments on virtual time.
func simulateCommand(sh *shell) *cobra.Command {
	var o experiment.Options
	var out string
	all := registry.Experiments()
	c := &cobra.Command{
		Use:   "simulate SCENARIO|TRACE.csv|EXPERIMENT",
		Short: "Run a scenario, a trace, or a table of a paper, on the simulator",
		Long: "Runs a scenario file, a trace (CSV) through the cases of pace, or an experiment beside the numbers of\n" +
			"the publication that it is of, on virtual time. With --out it also writes the figures as JSON, plots,\n" +
			"and of a scenario the event history for `pacer replay`. The experiments:",
		Args: cobra.ExactArgs(1),
	}
	for _, e := range all {
		c.Long += fmt.Sprintf("\n  %-17s  %s", e.Name, e.Title)
	}
	of := func(flag string) string { return strings.Join(experiment.Taking(all, flag), ", ") }
	form, f := outputFlag(c), c.Flags()
	f.StringSliceVar(&o.Laws, experiment.Law, nil, "control laws to run, of "+strings.Join(sim.Laws(), ", ")+
		" (default: all)")
	_ = c.RegisterFlagCompletionFunc(experiment.Law,
		cobra.FixedCompletions(sim.Laws(), cobra.ShellCompDirectiveNoFileComp))
	f.IntVar(&o.Seeds, experiment.Seeds, 5, "how often each case of an experiment is run")
	f.StringVar(&o.Only, experiment.Only, "", "run the cases of an experiment whose name contains this")
	f.IntSliceVar(&o.CPUs, experiment.CPUs, nil, "clusters of "+of(experiment.CPUs)+" (default: the source's)")
	f.BoolVar(&o.Full, experiment.Full, false, "of "+of(experiment.Full)+": as many jobs as the source has, not 20,000")
	f.IntSliceVar(&o.Workers, experiment.Workers, nil, "sizes of "+of(experiment.Workers)+" (default: each one's own)")
	f.IntVar(&o.Jobs, experiment.Jobs, 0, "jobs in each case of "+of(experiment.Jobs)+" (default: each one's own)")
	f.StringVar(&o.Trace, experiment.Trace, "", "jobs of those: a file, ARRIVAL TASKS MEAN DURATION... a line, in seconds")
	f.StringArrayVar(&o.Switches, experiment.Switch, nil, "another reading for those, \"NAME VALUE\"")
	f.StringVar(&out, "out", "", "directory for plots and the event history")
	c.RunE = func(c *cobra.Command, args []string) error {
		o.Stop = c.Context().Done()
		if err := checkOptions(c.Flags().Changed, o); err != nil {
			return err
		}
		isScenario := !slices.Contains(experiment.Names(all), args[0]) && !strings.HasSuffix(args[0], ".csv")
		e := experiment.Experiment{Name: "a scenario", Takes: []string{experiment.Law}}
		if !isScenario {
			var err error
			if e, err = registry.Find(args[0]); err != nil {
				return command.Coded(command.ExitUsage, err)
			}
		} else if len(o.Laws) > 1 {
			return command.Usagef("a scenario runs under one law, not %d", len(o.Laws))
		}
		if err := checkTaken(c.Flags().Changed, e); err != nil {
			return err
		}
		if out != "" {
			if err := os.MkdirAll(out, 0o755); err != nil {
				return fmt.Errorf("make the output directory: %w", err)
			}
		}
		var err error
		if isScenario {
			err = sh.simulateScenario(c.Context(), args[0], strings.Join(o.Laws, ""), *form, out)
		} else {
			o.Progress = progress(sh.Stderr, e.Name)
			err = simulateExperiment(sh.Stdout, e, o, *form, out)
		}
		if errors.Is(err, des.ErrStopped) {
			return fmt.Errorf("interrupted: %w", c.Context().Err())
		}
		return err
	}
	return c
}

// checkOptions says which value no experiment can take.
func checkOptions(given func(flag string) bool, o experiment.Options) error {
	within := func(numbers []int, most int) bool {
		return !slices.ContainsFunc(numbers, func(n int) bool { return n < 1 || n > most })
	}
	switch {
	case o.Seeds < 1:
		return command.Usagef("--seeds is %d, want at least 1", o.Seeds)
	case !within(o.CPUs, 1_000_000):
		return command.Usagef("--cpus is %v: want numbers from 1 to 1000000", o.CPUs)
	case !within(o.Workers, 100_000):
		return command.Usagef("--workers is %v: want numbers from 1 to 100000", o.Workers)
	case given(experiment.Jobs) && !within([]int{o.Jobs}, 1_000_000):
		return command.Usagef("--jobs is %d: want a number from 1 to 1000000", o.Jobs)
	}
	for _, law := range o.Laws {
		if !slices.Contains(sim.Laws(), law) {
			return command.Usagef("--law %q: want one of %s", law, strings.Join(sim.Laws(), ", "))
		}
	}
	return nil
}

// checkTaken names a flag that the experiment does not take, and those that do.
func checkTaken(given func(flag string) bool, e experiment.Experiment) error {
	for _, flag := range experiment.Flags {
		if given(flag) && !slices.Contains(e.Takes, flag) {
			return command.Usagef("%s does not take --%s: it is for %s", e.Name, flag,
				strings.Join(experiment.Taking(registry.Experiments(), flag), ", "))
		}
	}
	return nil
}

// simulateExperiment runs the cases of e that o picks and prints what they gave.
func simulateExperiment(w io.Writer, e experiment.Experiment, o experiment.Options, form output, out string) error {
	if _, err := e.Chosen(o); err != nil {
		return command.Coded(command.ExitUsage, err)
	}
	t, err := e.Run(o)
	if err == nil && out != "" {
		err = keepFigures(filepath.Join(out, strings.TrimSuffix(filepath.Base(e.Name), ".csv")), t, t.Draw)
	}
	switch {
	case err != nil:
		return err
	case form.encodes():
		return form.figures(w, t)
	}
	fmt.Fprintln(w, t.Title)
	for i, rows := range t.Rows {
		if len(rows) < 2 {
			continue
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := table(w, rows[0], rows[1:]); err != nil {
			return err
		}
	}
	return nil
}

// progress tells a terminal how many runs of what there have been, in one line that the last of them takes away; nil
// where w is none.
func progress(w io.Writer, what string) func(done, all int) {
	if !command.OnTerminal(w) {
		return nil
	}
	w = command.Raw(w)
	return func(done, all int) {
		if fmt.Fprintf(w, "\r\x1b[K%s: %d of %d runs", what, done, all); done == all {
			fmt.Fprint(w, "\r\x1b[K")
		}
	}
}

// keepFigures writes figures as base.json and draws them as base.png and base.svg, if draw is there.
func keepFigures(base string, figures any, draw func(...string) error) error {
	body, err := json.MarshalIndent(figures, "", "  ")
	if err == nil {
		err = os.WriteFile(base+".json", append(body, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	if draw == nil {
		return nil
	}
	return draw(base+".png", base+".svg")
}

func (sh *shell) simulateScenario(ctx context.Context, path, law string, form output, out string) error {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) && strings.ContainsAny(path, "./") {
		return fmt.Errorf("scenario: %w", err)
	}
	if os.IsNotExist(err) {
		return command.Usagef("%q is neither a scenario file nor one of %s", path,
			strings.Join(experiment.Names(registry.Experiments()), ", "))
	}
	if err != nil {
		return fmt.Errorf("read the scenario: %w", err)
	}
	s, err := sim.ParseScenario(path, string(text), paper.Workloads()...)
	if err != nil {
		return command.Coded(command.ExitUsage, err)
	}
	if law != "" {
		if err := s.UseLaw(law); err != nil {
			return command.Coded(command.ExitUsage, err)
		}
	}
	s.Config.Stop = ctx.Done()
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	report, err := runScenario(s, out, name)
	if err != nil {
		return err
	}
	if form.encodes() {
		err = form.figures(sh.Stdout, report)
	} else {
		_, err = fmt.Fprintf(sh.Stdout, "%s\n%s", report.Proves, report.Text())
	}
	switch golden := s.Golden(); {
	case err != nil:
		return err
	case len(report.Failed) > 0:
		return errors.New(strings.Join(report.Failed, "; "))
	case law == "" && golden != "" && golden != report.Text():
		fmt.Fprintf(sh.Stderr, "%s: this is not the golden output that the file says\n", path)
	}
	return nil
}

// runScenario runs s and writes history and plots to the directory out, if there
// is one.
func runScenario(s *sim.Scenario, out, name string) (report sim.Report, err error) {
	if out == "" {
		return s.Run(nil)
	}
	file, err := os.Create(filepath.Join(out, name+".jsonl"))
	if err != nil {
		return report, fmt.Errorf("write the history: %w", err)
	}
	history := bufio.NewWriterSize(file, 1<<20)
	report, err = s.Run(io.Writer(history))
	if err2 := errors.Join(history.Flush(), file.Close()); err == nil && err2 != nil {
		err = fmt.Errorf("write the history: %w", err2)
	}
	if err != nil {
		return report, err
	}
	return report, keepFigures(filepath.Join(out, name), report, report.Draw)
}

// replayCommand asks node engines again what a history says they were asked.
func replayCommand(sh *shell) *cobra.Command {
	var node string
	c := &cobra.Command{
		Use:   "replay HISTORY",
		Short: "Re-run recorded samples through the node engine and compare its actions",
		Args:  cobra.ExactArgs(1),
	}
	form := outputFlag(c)
	c.Flags().StringVar(&node, "node", "", "replay this node only")
	c.RunE = func(c *cobra.Command, args []string) error {
		file, err := os.Open(args[0])
		if err != nil {
			return command.Usagef("read the history: %w", err)
		}
		defer file.Close()
		r, err := replay.Run(&interruptible{c.Context(), file}, node)
		if err != nil && r.Release != "" && r.Release != config.Release() {
			err = fmt.Errorf("%w (recorded by release %s, this is %s)", err, r.Release, config.Release())
		}
		switch {
		case err != nil && r.Starts == 0: // It is another file.
			return command.Usagef("%s: %w", args[0], err)
		case err != nil:
			return fmt.Errorf("%s: %w", args[0], err)
		}
		if form.encodes() {
			return form.figures(sh.Stdout, r)
		}
		fmt.Fprintf(sh.Stdout, "%s: %d calls of %d nodes in %d starts gave the %d recorded actions (%d lines, %s)\n",
			args[0], r.Calls, r.Nodes, r.Starts, r.Actions, r.Lines, origin(r))
		if r.Stopped != "" {
			fmt.Fprintf(sh.Stdout, "the recording ended before the node controller did: %s\n", r.Stopped)
		}
		return nil
	}
	return c
}

// interruptible reads until its context ends.
type interruptible struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (r *interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// origin says where a history comes from.
func origin(r replay.Replayed) string {
	if r.Release != "" {
		return "recorded by release " + r.Release
	}
	return fmt.Sprintf("simulated with seed %d", r.Seed)
}
