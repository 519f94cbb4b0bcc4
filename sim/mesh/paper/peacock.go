package paper

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/sim/mesh"
	"github.com/sparkpacer/pacer/sim/mesh/hosts"
	"github.com/sparkpacer/pacer/sim/mesh/probe"
)

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

// name is the trace and the load of a cell.
func (c PeacockCell) name() string {
	if c.Load == 0 {
		return c.Trace
	}
	return fmt.Sprintf("%s %d%%", c.Trace, c.Load)
}

// Experiments are those of Peacock, and of machines that empty themselves.
func Experiments() (all []experiment.Experiment) {
	for _, p := range peacocks {
		all = append(all, experiment.Experiment{Name: p.name, Title: p.title, Source: "004", Section: "3.7",
			Takes: []string{experiment.Workers, experiment.Jobs, experiment.Trace, experiment.Switch, experiment.Only,
				experiment.Seeds}, Naming: "TRACE LOAD% WORKERS SYSTEM", Cases: p.caseNames, Run: p.table})
	}
	usual := func(*hosts.Config) {}
	return append(all, glap(usual), glapDemands(usual), glapLearning(usual))
}

// caseNames are those of cells and what is compared with them.
func (e peacock) caseNames(o experiment.Options) (names []string, err error) {
	trace, err := readTrace(o.Trace)
	_, _, err2 := readings(o.Switches)
	for _, c := range e.cells(o, trace) {
		names = append(names, e.namesOf(c)...)
	}
	return names, errors.Join(err, err2)
}

// namesOf are those of a cell.
func (e peacock) namesOf(c PeacockCell) (names []string) {
	whole := c.name() + fmt.Sprintf(" %d ", c.Workers)
	for _, v := range c.Against {
		names = append(names, whole+v.System)
	}
	if len(e.against) == 0 {
		names = []string{whole}
	}
	return names
}

// readTrace reads the jobs of a file, nil of none.
func readTrace(path string) ([]mesh.Job, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the trace: %w", err)
	}
	defer file.Close()
	return mesh.ReadTrace(path, file)
}

// drawn are the jobs of a cell with a seed, and what they come to.
type drawn struct {
	load, tasks float64
	runs        []PeacockRun // Peacock's, and then those of what it is compared with.
}

// table runs the cells that o picks.
func (e peacock) table(o experiment.Options) (experiment.Table, error) {
	t := experiment.Table{Name: e.name, Title: e.title}
	trace, err := readTrace(o.Trace)
	if err != nil {
		return t, err
	}
	rules, demand, err := readings(o.Switches)
	if err != nil {
		return t, err
	}
	var cases []experiment.Case[PeacockCell, drawn]
	for _, c := range e.cells(o, trace) {
		c.Against = slices.DeleteFunc(c.Against, func(v PeacockCompared) bool {
			return !strings.Contains(c.name()+fmt.Sprintf(" %d ", c.Workers)+v.System, o.Only)
		})
		if !slices.ContainsFunc(e.namesOf(c), func(name string) bool { return strings.Contains(name, o.Only) }) {
			continue
		}
		cases = append(cases, experiment.Case[PeacockCell, drawn]{Of: c,
			Name: fmt.Sprintf("%s, %d workers", c.name(), c.Workers), Run: func(seed int) (d drawn, err error) {
				r := peacockRunner{peacock: e, cell: c, config: mesh.Default(c.Workers)}
				r.config.Rules, r.config.Stop, r.config.Seed = rules, o.Stop, uint64(seed+1)
				d.load, d.tasks = r.draw(trace, demand)
				d.runs, err = r.run()
				return d, err
			}})
	}
	whole := o.Only == "" && trace == nil && (len(o.Workers) < 2 || len(e.against) == 0)
	o.Only = ""
	if cases, err = experiment.Run(o, cases); err != nil {
		return t, err
	}
	var cells []PeacockCell
	for _, c := range cases {
		runs := func(i int) (runs []PeacockRun) {
			for _, d := range c.Runs {
				runs = append(runs, d.runs[i])
			}
			return runs
		}
		c.Of.Runs = runs(0)
		for i := range c.Of.Against {
			c.Of.Against[i].Runs = runs(i + 1)
		}
		c.Of.TrueLoad = 100 * experiment.Over(c.Runs, func(d drawn) float64 { return d.load })
		c.Of.Tasks = experiment.Over(c.Runs, func(d drawn) float64 { return d.tasks })
		cells = append(cells, c.Of)
	}
	if whole {
		t.Figures = e.figures(cells)
	}
	t.Cells, t.Shown = cells, [][][]string{e.rows(e, cells)}
	t.Rows = append(t.Shown, experiment.FigureRows(t.Figures, "%.1f"))
	t.Draw = func(files ...string) error { return drawPeacock(e.title, cells, files) }
	return t, nil
}

// PeacockSwitches are the switches that Options may have, the default of each first.
func PeacockSwitches() []string {
	return append([]string{"demand " + string(mesh.ByJobs) + "|" + string(mesh.ByWork)}, probe.Switches[:]...)
}

// readings are what switches say, or the list of what there is.
func readings(switches []string) (rules probe.Rules, demand mesh.Demand, err error) {
	demand = mesh.ByJobs
	for _, s := range switches {
		name, value, _ := strings.Cut(s, " ")
		known := slices.ContainsFunc(PeacockSwitches(), func(k string) bool { return strings.HasPrefix(k, name+" ") })
		switch {
		case !known:
			return rules, "", fmt.Errorf("--switch: unknown switch %q: want one of %s", name,
				strings.Join(PeacockSwitches(), ", "))
		case name != "demand":
			if rules, err = rules.With(s); err != nil {
				return rules, "", fmt.Errorf("--switch: %w", err)
			}
		case value != string(mesh.ByJobs) && value != string(mesh.ByWork):
			return rules, "", fmt.Errorf("--switch: demand %q: want one of %s|%s", value, mesh.ByJobs, mesh.ByWork)
		default:
			demand = mesh.Demand(value)
		}
	}
	return rules, demand, nil
}

// peacockRunner runs a cell once, in one goroutine.
type peacockRunner struct {
	peacock
	cell   PeacockCell
	config mesh.Config
	jobs   []mesh.Job
	ours   mesh.Outcome
}

// draw has jobs come, the same ones for all that is compared, and returns the true load and the tasks of a worker.
func (r *peacockRunner) draw(trace []mesh.Job, demand mesh.Demand) (load, tasks float64) {
	c, seed := r.cell, r.config.Seed
	if trace != nil {
		r.jobs = slices.Clone(trace[:c.Jobs])
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
func (r *peacockRunner) run() ([]PeacockRun, error) {
	if r.change != nil {
		r.change(&r.config)
	}
	out, err := mesh.Run("peacock", r.config, r.jobs)
	if err != nil {
		return nil, err
	}
	r.ours = out
	runs := []PeacockRun{r.made(out)}
	for _, v := range r.cell.Against {
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
			return nil, fmt.Errorf("%s: %w", v.System, err)
		}
		runs = append(runs, r.made(out))
	}
	return runs, nil
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
