package paper

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/sim/mesh/hosts"
)

// GLAPOptions say which cells are run, and how.
type GLAPOptions struct {
	// Machines are sizes, 500, 1000 and 2000 where there are none. Seeds is how often each cell is run, once if 0.
	Machines []int
	Seeds    int
	// Only is a part of the names of cells: MACHINES-RATIO POLICY.
	Only string
	// Stop, when it is closed, ends it with hosts.ErrStopped.
	Stop <-chan struct{}
	// change is for tests, which have smaller worlds.
	change func(*hosts.Config)
}

// GLAPCell is a policy on so many machines with as many VMs for each, run by run.
type GLAPCell struct {
	Machines int       `json:"machines"`
	Ratio    int       `json:"ratio"`
	Policy   string    `json:"policy"`
	Runs     []GLAPRun `json:"runs"`
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

// GLAPTable is what all cells gave.
type GLAPTable struct {
	Title   string       `json:"title"`
	Cells   []GLAPCell   `json:"cells"`
	Figures []GLAPFigure `json:"figures,omitempty"`
}

// name is the size and ratio of a cell.
func (c GLAPCell) name() string { return fmt.Sprintf("%d-%d", c.Machines, c.Ratio) }

// RunGLAP runs the source's nine cells by each policy (section 4.5).
func RunGLAP(o GLAPOptions) (GLAPTable, error) {
	t := GLAPTable{Title: "GLAP: 720 rounds of two minutes on machines that VMs share, by policy"}
	if len(o.Machines) == 0 {
		o.Machines = []int{500, 1000, 2000}
	}
	for _, machines := range o.Machines {
		for _, ratio := range []int{2, 3, 4} {
			for _, policy := range hosts.Policies() {
				t.Cells = append(t.Cells, GLAPCell{Machines: machines, Ratio: ratio, Policy: policy})
			}
		}
	}
	if err := o.run(&t); err != nil {
		return t, err
	}
	t.Figures = glapFigures(t.Cells)
	return t, nil
}

// RunGLAPLearning runs the source's figure 4.5: how alike the tables of 1,000 machines are, when they have learnt and
// as they average.
func RunGLAPLearning(o GLAPOptions) (GLAPTable, error) {
	t := GLAPTable{Title: "GLAP: how alike what machines have learnt is, before and while they gossip"}
	if len(o.Machines) == 0 {
		o.Machines = []int{1000}
	}
	for _, machines := range o.Machines {
		for _, ratio := range []int{2, 3, 4} {
			t.Cells = append(t.Cells, GLAPCell{Machines: machines, Ratio: ratio, Policy: hosts.GLAP})
		}
	}
	was := o.change
	o.change = func(c *hosts.Config) {
		if c.Rounds = 1; was != nil {
			was(c)
		}
	}
	return t, o.run(&t)
}

// run runs the cells that are wanted, as many at a time as there are cores, the largest first.
func (o GLAPOptions) run(t *GLAPTable) error {
	t.Cells = slices.DeleteFunc(t.Cells, func(c GLAPCell) bool { return !strings.Contains(c.name()+" "+c.Policy, o.Only) })
	seeds := cmp.Or(o.Seeds, 1)
	for i := range t.Cells {
		t.Cells[i].Runs = make([]GLAPRun, seeds)
	}
	return inParallel(len(t.Cells)*seeds, func(i int) error {
		cell, seed := &t.Cells[len(t.Cells)-1-i/seeds], i%seeds
		c := hosts.Default(cell.Machines, cell.Ratio, cell.Policy, uint64(seed+1))
		if c.Stop = o.Stop; o.change != nil {
			o.change(&c)
		}
		out, err := hosts.Run(c)
		if err != nil {
			return fmt.Errorf("%s %s, seed %d: %w", cell.name(), cell.Policy, seed+1, err)
		}
		cell.Runs[seed] = glapRun(out)
		return nil
	})
}

// glapRun makes up a run.
func glapRun(o hosts.Outcome) GLAPRun {
	r := GLAPRun{Active: mean(o.Active), Fit: mean(o.Fit), Overloaded: mean(o.Overloaded), SLAV: o.SLAV,
		Kilojoules: o.Joules / 1000}
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

// mean is the mean of numbers, 0 of none.
func mean[N int | float64](v []N) (m float64) {
	for _, x := range v {
		m += float64(x) / float64(len(v))
	}
	return m
}

// over is the mean of a number over the runs of a cell.
func (c GLAPCell) over(of func(GLAPRun) float64) (m float64) {
	for _, r := range c.Runs {
		m += of(r) / float64(len(c.Runs))
	}
	return m
}
