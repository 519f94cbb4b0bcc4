package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/sim/mesh"
	"github.com/sparkpacer/pacer/sim/mesh/probe"
)

// PeacockOptions say which cells of a table of Peacock are run, and how.
type PeacockOptions struct {
	// Workers are sizes, Jobs how many jobs are drawn for each cell: the table's own where there are none. Seeds is how
	// often each cell is run, once if 0.
	Workers []int
	Jobs    int
	Seeds   int
	// Trace are jobs of a file in place of those that are drawn, TraceName is its name. They come when the file says.
	Trace     []mesh.Job
	TraceName string
	// Only is a part of the names of cells: TRACE LOAD% WORKERS SYSTEM.
	Only string
	// Switches are readings, "NAME VALUE": those of probe.Switches, and what a load is reckoned from, "demand jobs|work".
	Switches []string
	// Stop, when it is closed, ends it with mesh.ErrStopped.
	Stop <-chan struct{}
}

// PeacockCell is Peacock at one load of one trace, and what it is compared with, run by run.
type PeacockCell struct {
	Trace string `json:"trace"`
	// Load is in per cent by the demand that was chosen, 0 of a trace whose jobs come when it says. TrueLoad is by the
	// work of the tasks, in the mean over the runs.
	Load     int     `json:"load_pct"`
	TrueLoad float64 `json:"true_load_pct"`
	Workers  int     `json:"workers"`
	Jobs     int     `json:"jobs"`
	// Tasks is how many each worker gets in the mean.
	Tasks   float64           `json:"tasks_per_worker"`
	Runs    []PeacockRun      `json:"runs"`
	Against []PeacockCompared `json:"against,omitempty"`
}

// PeacockCompared is another system, or Peacock in other circumstances, on the same jobs.
type PeacockCompared struct {
	System string       `json:"system"`
	Runs   []PeacockRun `json:"runs"`
}

// PeacockRun is what a system made of the jobs of one seed.
type PeacockRun struct {
	// Mean is the mean time to the completion of a job, in seconds.
	Mean float64 `json:"mean_s"`
	// Hops is how often a task's probe was handed on; JobHops counts those of a job in one message once, as the source.
	Hops    float64 `json:"hops_per_task"`
	JobHops float64 `json:"job_hops_per_task"`
	Lost    int     `json:"lost_jobs"`
	// Gain is how much less Peacock's mean is than this one's, Faster, Equal and Slower how many jobs are under it: all
	// in per cent.
	Gain   float64 `json:"gain_pct"`
	Faster float64 `json:"faster_pct"`
	Equal  float64 `json:"equal_pct"`
	Slower float64 `json:"slower_pct"`
}

// PeacockTable is what all cells gave.
type PeacockTable struct {
	Name    string          `json:"name"`
	Title   string          `json:"title"`
	Cells   []PeacockCell   `json:"cells"`
	Figures []PeacockFigure `json:"figures,omitempty"`
}

// name is the trace and the load of a cell.
func (c PeacockCell) name() string {
	if c.Load == 0 {
		return c.Trace
	}
	return fmt.Sprintf("%s %d%%", c.Trace, c.Load)
}

// RunPeacock runs the table of that name, one of PeacockTables.
func RunPeacock(name string, o PeacockOptions) (PeacockTable, error) {
	i := slices.Index(PeacockTables(), name)
	if i < 0 {
		return PeacockTable{}, fmt.Errorf("no table %q: want one of %s", name, strings.Join(PeacockTables(), ", "))
	}
	e := experiments[i]
	t := PeacockTable{Name: name, Title: e.title}
	rules, demand, err := o.readings()
	if err != nil {
		return t, err
	}
	for _, c := range e.cells(o) {
		whole := c.name() + fmt.Sprintf(" %d ", c.Workers)
		c.Against = slices.DeleteFunc(c.Against, func(v PeacockCompared) bool {
			return !strings.Contains(whole+v.System, o.Only)
		})
		if len(c.Against) > 0 || len(e.against) == 0 && strings.Contains(whole, o.Only) {
			t.Cells = append(t.Cells, c)
		}
	}
	seeds := cmp.Or(o.Seeds, 1)
	for i := range t.Cells {
		c := &t.Cells[i]
		c.Runs = make([]PeacockRun, seeds)
		for k := range c.Against {
			c.Against[k].Runs = make([]PeacockRun, seeds)
		}
	}
	loads, tasks := make([]float64, len(t.Cells)*seeds), make([]float64, len(t.Cells)*seeds)
	err = inParallel(len(t.Cells)*seeds, func(i int) error {
		i = len(t.Cells)*seeds - 1 - i // The largest first.
		c := &t.Cells[i/seeds]
		r := peacockRunner{experiment: e, cell: c, seed: i % seeds, config: mesh.Default(c.Workers)}
		r.config.Rules, r.config.Stop = rules, o.Stop
		loads[i], tasks[i] = r.draw(o, demand)
		if err := r.run(); err != nil {
			return fmt.Errorf("%s, %d workers, seed %d: %w", c.name(), c.Workers, r.seed+1, err)
		}
		return nil
	})
	for i := range t.Cells {
		t.Cells[i].TrueLoad = 100 * mean(loads[i*seeds:(i+1)*seeds])
		t.Cells[i].Tasks = mean(tasks[i*seeds : (i+1)*seeds])
	}
	if err == nil && o.Only == "" && o.Trace == nil && (len(o.Workers) < 2 || len(e.against) == 0) {
		t.Figures = e.figures(t.Cells)
	}
	return t, err
}

// PeacockSwitches are the switches that PeacockOptions take, the default of each first.
func PeacockSwitches() []string {
	return append([]string{"demand " + string(mesh.ByJobs) + "|" + string(mesh.ByWork)}, probe.Switches[:]...)
}

// readings are what Switches say, or the list of what there is.
func (o PeacockOptions) readings() (rules probe.Rules, demand mesh.Demand, err error) {
	demand = mesh.ByJobs
	for _, s := range o.Switches {
		name, value, _ := strings.Cut(s, " ")
		known := slices.ContainsFunc(PeacockSwitches(), func(k string) bool { return strings.HasPrefix(k, name+" ") })
		switch {
		case !known:
			return rules, "", fmt.Errorf("unknown switch %q: want one of %s", name, strings.Join(PeacockSwitches(), ", "))
		case name != "demand":
			if rules, err = rules.With(s); err != nil {
				return rules, "", err
			}
		case value != string(mesh.ByJobs) && value != string(mesh.ByWork):
			return rules, "", fmt.Errorf("demand %q: want one of %s|%s", value, mesh.ByJobs, mesh.ByWork)
		default:
			demand = mesh.Demand(value)
		}
	}
	return rules, demand, nil
}

// Validate says what is wrong with o.
func (o PeacockOptions) Validate() error {
	_, _, err := o.readings()
	return err
}

// peacockRunner runs a cell once, in one goroutine.
type peacockRunner struct {
	experiment
	cell   *PeacockCell
	seed   int
	config mesh.Config
	jobs   []mesh.Job
	ours   mesh.Outcome
}

// draw has jobs come, the same ones for all that is compared, and returns the true load and the tasks of a worker.
func (r *peacockRunner) draw(o PeacockOptions, demand mesh.Demand) (load, tasks float64) {
	c, seed := r.cell, uint64(r.seed+1)
	if r.config.Seed = seed; o.Trace != nil {
		r.jobs = slices.Clone(o.Trace[:c.Jobs])
		load = mesh.Asked(r.jobs, c.Workers)
	} else {
		shapes := mesh.Shapes()
		s := shapes[slices.IndexFunc(shapes, func(s mesh.Shape) bool { return s.Name == c.Trace })]
		r.config.Shape, r.jobs = s, s.Trace(c.Jobs, seed)
		if r.milliseconds {
			for i := range r.jobs {
				r.jobs[i].Estimate /= 1000
				for k := range r.jobs[i].Durations {
					r.jobs[i].Durations[k] /= 1000
				}
			}
		}
		load = mesh.Arrive(r.jobs, c.Workers, float64(c.Load)/100, demand, seed)
	}
	if r.misjudged {
		mesh.Misjudge(r.jobs, seed)
	}
	for _, j := range r.jobs {
		tasks += float64(len(j.Durations)) / float64(c.Workers)
	}
	return load, tasks
}

// run has the jobs go through Peacock, and then through what it is compared with.
func (r *peacockRunner) run() error {
	if r.change != nil {
		r.change(&r.config)
	}
	out, err := mesh.Run("peacock", r.config, r.jobs)
	if err != nil {
		return err
	}
	r.ours = out
	r.cell.Runs[r.seed] = r.made(out)
	for i, v := range r.cell.Against {
		c, system := r.config, v.System
		if n, killed := missing(v.System); n > 0 {
			system, c.Limit = "peacock", time.Minute+10*r.end(out)
			if n = n * c.Workers / 100; killed {
				c.Kill = n
			} else {
				c.Workers -= n
			}
		}
		out, err := mesh.Run(system, c, r.jobs)
		if err != nil {
			return fmt.Errorf("%s: %w", v.System, err)
		}
		r.cell.Against[i].Runs[r.seed] = r.made(out)
	}
	return nil
}

// end is when the last job has completed.
func (r *peacockRunner) end(o mesh.Outcome) (last time.Duration) {
	for i, took := range o.Took {
		last = max(last, time.Duration(r.jobs[i].Arrival)+took)
	}
	return last
}

// made makes up a run.
func (r *peacockRunner) made(o mesh.Outcome) (run PeacockRun) {
	tasks, completed, ours := 0, 0, 0.0
	part := 100 / float64(len(r.jobs))
	for i, took := range o.Took {
		tasks += len(r.jobs[i].Durations)
		if took == 0 {
			run.Lost++
			continue
		}
		completed++
		run.Mean += took.Seconds()
		mine := r.ours.Took[i]
		ours += mine.Seconds()
		switch {
		case mine < took:
			run.Faster += part
		case mine == took:
			run.Equal += part
		default:
			run.Slower += part
		}
	}
	run.Mean, ours = run.Mean/math.Max(1, float64(completed)), ours/math.Max(1, float64(completed))
	run.Gain = gain(ours, run.Mean)
	run.Hops, run.JobHops = float64(o.Hops)/float64(tasks), float64(o.JobHops)/float64(tasks)
	return run
}

// over is the mean of a number over runs.
func over(runs []PeacockRun, of func(PeacockRun) float64) (m float64) {
	for _, r := range runs {
		m += of(r) / float64(len(runs))
	}
	return m
}
