package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/cli/config"
	"github.com/sparkpacer/pacer/replay"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/fluid"
	"github.com/sparkpacer/pacer/sim/mesh"
	"github.com/sparkpacer/pacer/sim/mesh/hosts"
	meshpaper "github.com/sparkpacer/pacer/sim/mesh/paper"
	"github.com/sparkpacer/pacer/sim/paper"
)

// simulateCommand runs scenarios and the source's tables on virtual time.
func simulateCommand(sh *shell) *cobra.Command {
	var laws []string
	var o paper.Options
	var fo tableOptions
	var out string
	reserve, peacock := strings.Join(fluid.ReserveTables(), " and "), meshpaper.PeacockTables()
	tables := slices.Concat(paper.Tables(), slices.Sorted(maps.Keys(unpaced())))
	c := &cobra.Command{
		Use:   "simulate SCENARIO|TRACE.csv|" + strings.Join(tables, "|"),
		Short: "Run a scenario, a trace, or a table of a paper, on the simulator",
		Long: "Runs a scenario file, or one of the paper's experiments beside the paper's own\n" +
			"numbers, with Pacer's own engines on virtual time. " + fluid.PaceTable + " is of another paper: 80,000\n" +
			"applications that wait for units under the rules of the queue; a trace (CSV) goes\n" +
			"through the same cases. " + zoeTable + " is what that one ran on a cluster, with the engines.\n" +
			offersTable + " is of a third: what two frameworks hold, run and wait for on a cluster that\n" +
			"is divided by offers; " + reserve + " are jobs with deadlines whose work nobody knows, and\n" +
			unknownTable + " is what it is worth to promise such applications something, with the engines.\n" +
			glapTable + " is of a fourth: machines that empty themselves by what they have learnt, beside other\n" +
			"policies, and " + alikeTable + " how alike what they have learnt becomes; " + peacock[0] + " are schedulers\n" +
			"without a planner, " + strings.Join(peacock[1:], ", ") + " one of them in parts.\n" +
			"With --out it also writes the figures as JSON, plots, and of a scenario the event\n" +
			"history for `pacer replay`.",
		Args: cobra.ExactArgs(1),
	}
	form := outputFlag(c)
	c.Flags().StringSliceVar(&laws, "law", nil, "control laws to run, of "+strings.Join(sim.Laws(), ", ")+
		" (default: all)")
	c.Flags().IntVar(&o.Seeds, "seeds", 5, "how often each case of a table is run")
	c.Flags().StringVar(&o.Only, "only", "", "run the cases of a table whose name contains this")
	c.Flags().IntSliceVar(&fo.CPUs, "cpus", []int{2250, 4500, 15000}, "clusters of "+reserve)
	c.Flags().BoolVar(&fo.Full, "full", false, "of "+reserve+": as many jobs as the source has, not 20,000")
	c.Flags().IntSliceVar(&fo.Workers, "workers", nil,
		"sizes of "+strings.Join(meshed(), ", ")+" (default: each table's own)")
	c.Flags().IntVar(&fo.Jobs, "jobs", 0, "jobs in each case of "+peacock[0]+" and its parts (default: each table's own)")
	c.Flags().StringVar(&fo.Trace, "trace", "", "jobs of those: a file, ARRIVAL TASKS MEAN DURATION... a line, in seconds")
	c.Flags().StringArrayVar(&fo.Switches, "switch", nil, "another reading for those, \"NAME VALUE\", of "+
		strings.Join(meshpaper.PeacockSwitches(), ", "))
	c.Flags().StringVar(&out, "out", "", "directory for plots and the event history")
	c.RunE = func(c *cobra.Command, args []string) error {
		for _, law := range laws {
			if !slices.Contains(sim.Laws(), law) {
				return command.Usagef("--law %q: want one of %s", law, strings.Join(sim.Laws(), ", "))
			}
		}
		isTable, isTrace := slices.Contains(tables, args[0]), strings.HasSuffix(args[0], ".csv")
		isUnpaced := isTrace || unpaced()[args[0]] != nil
		switch {
		case o.Seeds < 1:
			return command.Usagef("--seeds is %d, want at least 1", o.Seeds)
		case !isTable && c.Flags().Changed("seeds"), !isTable && !isTrace && c.Flags().Changed("only"):
			return command.Usagef("--seeds and --only are for tables; a scenario says its seed")
		case c.Flags().Changed("seeds") && args[0] == offersTable:
			return command.Usagef("--seeds is for tables in which something is drawn, and nothing of %s is", offersTable)
		case !slices.Contains(fluid.ReserveTables(), args[0]) && (c.Flags().Changed("cpus") || fo.Full):
			return command.Usagef("--cpus and --full are for %s", reserve)
		case len(fo.CPUs) == 0 || slices.ContainsFunc(fo.CPUs, func(n int) bool { return n < 1 || n > 1_000_000 }):
			return command.Usagef("--cpus is %v: want numbers from 1 to 1000000", fo.CPUs)
		case len(laws) > 0 && isUnpaced:
			return command.Usagef("--law is for scenarios and for tables of executors that are steered")
		case !isTable && len(laws) > 1:
			return command.Usagef("a scenario runs under one law, not %d", len(laws))
		}
		if err := fo.check(args[0]); err != nil {
			return err
		}
		if out != "" {
			if err := os.MkdirAll(out, 0o755); err != nil {
				return fmt.Errorf("make the output directory: %w", err)
			}
		}
		var err error
		if isUnpaced {
			fo.Seeds, fo.Only, fo.Stop = o.Seeds, o.Only, c.Context().Done()
			err = simulateUnpaced(sh.Stdout, args[0], fo, *form, out)
		} else if isTable {
			cfg := sim.Default()
			cfg.Stop = c.Context().Done()
			o.Config = &cfg
			for _, law := range sim.Laws() {
				if slices.Contains(laws, law) {
					o.Laws = append(o.Laws, law)
				}
			}
			err = simulateTable(sh.Stdout, args[0], o, *form, out)
		} else {
			err = sh.simulateScenario(c.Context(), args[0], strings.Join(laws, ""), *form, out)
		}
		if slices.ContainsFunc([]error{sim.ErrStopped, fluid.ErrStopped, hosts.ErrStopped, mesh.ErrStopped},
			func(stopped error) bool { return errors.Is(err, stopped) }) {
			return fmt.Errorf("interrupted: %w", c.Context().Err())
		}
		return err
	}
	return c
}

func simulateTable(w io.Writer, name string, o paper.Options, form output, out string) error {
	t, err := paper.Run(name, o)
	if err != nil {
		return err
	}
	if len(t.Cells) == 0 {
		return command.Usagef("--only %q: %s has no such case, want a part of one's name", o.Only, name)
	}
	if out != "" {
		if err := keepFigures(filepath.Join(out, name), t, t.Draw); err != nil {
			return err
		}
	}
	if form.encodes() {
		return form.figures(w, t)
	}
	fmt.Fprintln(w, t.Title)
	return table(w, t.Heading(), t.Rows())
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
	if os.IsNotExist(err) {
		return command.Usagef("%q is neither a scenario file nor one of %s, %s", path, strings.Join(paper.Tables(), ", "),
			strings.Join(slices.Sorted(maps.Keys(unpaced())), ", "))
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
			return command.Usagef("read the history: %v", err)
		}
		defer file.Close()
		r, err := replay.Run(&interruptible{c.Context(), file}, node)
		if err != nil && r.Release != "" && r.Release != config.Release() {
			err = fmt.Errorf("%w (recorded by release %s, this is %s)", err, r.Release, config.Release())
		}
		if err != nil {
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
