package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/sim/mesh/hosts"
)

// GLAPCell is a policy on so many machines with as many VMs for each, run by run.
type GLAPCell struct {
	Machines int       `json:"machines"`
	Ratio    int       `json:"ratio"`
	Policy   string    `json:"policy"`
	Runs     []GLAPRun `json:"runs"`
	// World is what its world has otherwise, "" for nothing.
	World string `json:"world,omitempty"`
}

// changed is a world that is not the usual one.
type changed struct {
	name   string
	change func(*hosts.Config)
}

// GLAPRun is a run: means over its rounds, sums of moves.
type GLAPRun struct {
	Active float64 `json:"active"`
	// Fit is how many machines a best fit takes.
	Fit        float64 `json:"fit"`
	Overloaded float64 `json:"overloaded"`
	// Share is the part of the machines that do not sleep that is overloaded, in the median round, and in those at 10 and
	// 90 %.
	Share [3]float64 `json:"share_pct"`
	Moves float64    `json:"moves"`
	SLAV  float64    `json:"slav"`
	// Kilojoules is the energy of moves; Similarity of the tables when they have been averaged is in per cent.
	Kilojoules float64   `json:"kilojoules"`
	Similarity []float64 `json:"similarity,omitempty"`
}

// name is the size and ratio of a cell.
func (c GLAPCell) name() string {
	return strings.TrimSuffix(fmt.Sprintf("%d-%d %s", c.Machines, c.Ratio, c.World), " ")
}

// sizes are those of o, the usual ones where there are none.
func sizes(o experiment.Options, usual ...int) []int {
	if len(o.Workers) == 0 {
		return usual
	}
	return o.Workers
}

// glapExperiment has cells of so many machines, with as many times as many VMs, by those policies, in each world.
func glapExperiment(name, title string, machines, ratios []int, policies []string, worlds []changed,
	conclude func(*experiment.Table, []GLAPCell)) experiment.Experiment {
	cells := func(o experiment.Options) (all []GLAPCell) {
		for _, machines := range sizes(o, machines...) {
			for _, ratio := range ratios {
				for _, w := range worlds {
					for _, policy := range policies {
						all = append(all, GLAPCell{Machines: machines, Ratio: ratio, Policy: policy, World: w.name})
					}
				}
			}
		}
		return all
	}
	return experiment.Experiment{Name: name, Title: title,
		Takes:  []string{experiment.Workers, experiment.Only, experiment.Seeds},
		Naming: "MACHINES-RATIO POLICY",
		Cases: func(o experiment.Options) (names []string, err error) {
			for _, c := range cells(o) {
				names = append(names, c.name()+" "+c.Policy)
			}
			return names, nil
		}, Run: func(o experiment.Options) (experiment.Table, error) {
			t := experiment.Table{Title: title}
			done, err := runGLAP(o, cells(o), worlds)
			if t.Cells = done; err == nil {
				conclude(&t, done)
			}
			return t, err
		}}
}

// glap is the source's nine cells by each policy, glapLearning its figure 4.5: how alike the tables of 1,000 machines
// are, when they have learnt and as they average.
func glap(change func(*hosts.Config)) experiment.Experiment {
	const title = "GLAP: 720 rounds of two minutes on machines that VMs share, by policy"
	e := glapExperiment("glap", title, []int{500, 1000, 2000}, []int{2, 3, 4}, hosts.Policies(),
		[]changed{{"", change}}, func(t *experiment.Table, cells []GLAPCell) {
			t.Figures, t.Shown = glapFigures(cells), [][][]string{glapRows(cells)}
			t.Rows = append(t.Shown, experiment.FigureRows(t.Figures, "%.1f", "MEASURE"))
			t.Draw = func(files ...string) error { return drawOverloaded(title, cells, files) }
		})
	e.Source, e.Section = "004", "4.5"
	return e
}

// glapDemands are worlds that nobody chose by what they give, beside the usual one: bursts that are drawn, demands by
// which CPU is short and not memory, and moves that take a whole round.
func glapDemands(change func(*hosts.Config)) experiment.Experiment {
	const title = "GLAP: the policies under other demands, and where a move takes a round of two minutes"
	with := func(name string, more func(*hosts.Config)) changed {
		return changed{name, func(c *hosts.Config) {
			change(c)
			more(c)
		}}
	}
	worlds := []changed{with("usual", func(*hosts.Config) {})}
	for seed := uint64(1); seed <= 3; seed++ {
		worlds = append(worlds, with(fmt.Sprintf("drawn bursts %d", seed),
			func(c *hosts.Config) { c.Load = hosts.DrawnDemands(seed) }))
	}
	worlds = append(worlds, with("short of CPU", func(c *hosts.Config) {
		c.Load.Mean = hosts.Use{CPU: c.Load.Mean.Memory, Memory: c.Load.Mean.CPU}
	}), with("slow moves", func(c *hosts.Config) { c.Move = 120 }))
	return glapExperiment("glap-demands", title, []int{500}, []int{3}, hosts.Policies(), worlds,
		func(t *experiment.Table, cells []GLAPCell) {
			t.Rows = [][][]string{glapRows(cells)}
			t.Draw = func(files ...string) error { return drawOverloaded(title, cells, files) }
		})
}

func glapLearning(change func(*hosts.Config)) experiment.Experiment {
	const title = "GLAP: how alike what machines have learnt is, before and while they gossip"
	once := func(c *hosts.Config) {
		c.Rounds = 1
		change(c)
	}
	e := glapExperiment("glap-learning", title, []int{1000}, []int{2, 3, 4}, []string{hosts.GLAP},
		[]changed{{"", once}}, func(t *experiment.Table, cells []GLAPCell) {
			t.Rows = [][][]string{learningRows(cells)}
			t.Draw = func(files ...string) error { return drawLearning(title, cells, files) }
		})
	e.Source, e.Section = "004", "4.5"
	return e
}

// runGLAP runs the cells that o picks.
func runGLAP(o experiment.Options, all []GLAPCell, worlds []changed) (cells []GLAPCell, err error) {
	var cases []experiment.Case[GLAPCell, GLAPRun]
	for _, cell := range all {
		cases = append(cases, experiment.Case[GLAPCell, GLAPRun]{Name: cell.name() + " " + cell.Policy, Of: cell,
			Run: func(seed int) (GLAPRun, error) {
				c := hosts.Default(cell.Machines, cell.Ratio, cell.Policy, uint64(seed+1))
				c.Stop = o.Stop
				worlds[slices.IndexFunc(worlds, func(w changed) bool { return w.name == cell.World })].change(&c)
				out, err := hosts.Run(c)
				if err != nil {
					return GLAPRun{}, err
				}
				return glapRun(out), nil
			}})
	}
	cases, err = experiment.Run(o, cases)
	for _, c := range cases {
		c.Of.Runs = c.Runs
		cells = append(cells, c.Of)
	}
	return cells, err
}

// glapRun makes up a run.
func glapRun(o hosts.Outcome) GLAPRun {
	r := GLAPRun{Active: experiment.Mean(o.Active), Fit: experiment.Mean(o.Fit),
		Overloaded: experiment.Mean(o.Overloaded), SLAV: o.SLAV, Kilojoules: o.Joules / 1000}
	var shares []float64
	for i, n := range o.Overloaded {
		shares = append(shares, 100*float64(n)/float64(max(o.Active[i], 1)))
		r.Moves += float64(o.Moves[i])
	}
	slices.Sort(shares)
	for i, part := range []float64{0.5, 0.1, 0.9} {
		r.Share[i] = shares[int(part*float64(len(shares)-1)+0.5)]
	}
	for _, s := range o.Similarity {
		r.Similarity = append(r.Similarity, 100*s)
	}
	return r
}

// over is the mean of a number over the runs of a cell.
func (c GLAPCell) over(of func(GLAPRun) float64) float64 { return experiment.Over(c.Runs, of) }
