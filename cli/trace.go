package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/infra/trace"
)

const traceHelp = `Read the trace of a cluster in a directory and say how unevenly it is used: over machines, over
hours, CPU against memory, batch jobs against services.

A trace has any of batch_task.csv, batch_instance.csv, container_event.csv, container_usage.csv,
server_event.csv and server_usage.csv, as Alibaba published them in 2017, apps.json
(pacer apps -o json) and cores.json (GET /api/v1/cores). A row that is not whole is counted as bad.
VARIATION is the standard deviation over the mean. P5, P50 and P95 are within 1 %.`

func traceCommand(out io.Writer) *cobra.Command {
	c := &cobra.Command{Use: "trace DIR", Short: "Say how unevenly a cluster is used, by its trace", Long: traceHelp,
		Args: cobra.ExactArgs(1), Example: "  pacer trace clusterdata/\n  pacer trace clusterdata/ -o json"}
	form := outputFlag(c)
	c.RunE = func(_ *cobra.Command, args []string) error {
		if at, err := os.Stat(args[0]); err != nil {
			return fmt.Errorf("trace: %w", err)
		} else if !at.IsDir() {
			return fmt.Errorf("trace %s: %w", args[0], syscall.ENOTDIR)
		}
		s, err := trace.Read(os.DirFS(args[0]))
		if err != nil {
			return err
		}
		if form.encodes() {
			return form.print(out, s)
		}
		return printTrace(out, s)
	}
	c.AddCommand(traceGenerate())
	return c
}

func traceGenerate() *cobra.Command {
	c := &cobra.Command{Use: "generate DIR", Short: "Write a trace that is drawn", Args: cobra.ExactArgs(1),
		Example: "  pacer trace generate --scale 0.01 --seed 1 drawn/"}
	scale := c.Flags().Float64("scale", 0.01, "how large it is; 1 has 12,951 jobs on 1,300 machines")
	seed := c.Flags().Uint64("seed", 1, "the draw: the same seed gives the same trace")
	c.RunE = func(_ *cobra.Command, args []string) error {
		return trace.Generate(*scale, *seed, func(name string) (io.WriteCloser, error) {
			return os.OpenFile(filepath.Join(args[0], name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		})
	}
	return c
}

// printTrace prints the files, the statuses of tasks, and a row for each distribution.
func printTrace(w io.Writer, s *trace.Summary) error {
	var rows [][]string
	for _, f := range s.Files {
		rows = append(rows, []string{f.Name, strconv.Itoa(f.Rows), strconv.Itoa(f.Bad), dash(f.FirstBad)})
	}
	if err := table(w, []string{"FILE", "ROWS", "BAD", "FIRST BAD"}, rows); err != nil {
		return err
	}
	rows = nil
	add := func(name string, d *trace.Distribution) {
		if d != nil {
			row := []string{name, strconv.Itoa(d.Count)}
			for _, x := range []float64{d.Mean, d.Least, d.P5, d.P50, d.P95, d.Most, d.Variation} {
				row = append(row, strconv.FormatFloat(x, 'f', 2, 64))
			}
			rows = append(rows, row)
		}
	}
	if b := s.Batch; b != nil {
		fmt.Fprintf(w, "\n%d jobs, %.1f %% of the ended ones within 0.19 h; %d instances; %d tasks: %d terminated, "+
			"%d failed, %d waiting, %d running\n", b.Jobs, b.Short, b.TotalInstances, b.Tasks,
			b.Terminated, b.Failed, b.Waiting, b.Running)
		add("tasks of a job", b.TasksPerJob)
		add("instances of a task", b.Instances)
		add("seconds of a job", b.JobDuration)
		add("seconds of a task", b.TaskDuration)
		add("seconds of an instance", b.InstanceDuration)
		add("CPU requested by an instance", b.Requested)
		add("CPU used by an instance", b.Used)
		add("memory used by an instance", b.MemoryUsed)
	}
	for _, u := range []struct {
		name string
		use  *trace.Use
	}{{"machine", s.Space}, {"hour", s.Time}} {
		if u.use != nil {
			add("% of CPU, by "+u.name, u.use.CPU)
			add("% of memory, by "+u.name, u.use.Memory)
		}
	}
	if s.Proportion != nil {
		add("CPU over memory, by machine", s.Proportion.Ratio)
	}
	if v := s.Services; v != nil {
		add("% of its CPU, by service", v.CPUMean)
		add("most % of its CPU, by service", v.CPUMost)
		add("% of its memory, by service", v.Memory)
	}
	if len(rows) > 0 {
		fmt.Fprintln(w)
	}
	if err := table(w, []string{"", "COUNT", "MEAN", "MIN", "P5", "P50", "P95", "MAX", "VARIATION"}, rows); err != nil {
		return err
	}
	if s.Space != nil {
		fmt.Fprintf(w, "\nmost CPU: machine %s, %s\n", s.Space.Greatest, s.Time.Greatest)
	}
	if s.Proportion != nil {
		fmt.Fprintf(w, "CPU and memory of %d machines: correlation %.2f\n", s.Machines, s.Proportion.Correlation)
	}
	if v := s.Services; v != nil && s.Batch != nil {
		fmt.Fprintf(w, "%d services, %.0f instances of batch jobs for each\n", v.Count, v.PerBatchInstance)
	}
	return nil
}
