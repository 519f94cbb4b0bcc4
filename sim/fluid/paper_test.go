package fluid

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/experiment"
)

// ends are the ends of jobs by id, in seconds, and their mean.
func ends(t *testing.T, c Config, jobs ...assign.Job) (map[string]float64, float64) {
	t.Helper()
	out, err := Simulate(c, jobs)
	if err != nil {
		t.Fatal(err)
	}
	at, mean := map[string]float64{}, 0.0
	for _, d := range out.Jobs {
		at[d.ID] = des.Seconds(0, d.Ended)
		mean += at[d.ID] / float64(len(out.Jobs))
	}
	return at, mean
}

// Fig 3.1: ten units, four jobs of ten seconds that come at once.
func TestFig31(t *testing.T) {
	for rule, want := range map[string][5]float64{
		assign.Rigid:     {10, 20, 30, 40, 25},
		assign.Malleable: {10, 15, 22.5, 32.5, 20},
		assign.Flexible:  {10, 15, 165.0 / 7, 199.0 / 7, 19.25},
	} {
		c := Config{Total: tens, Policy: assign.Policy{Rule: rule, Order: assign.FIFO, Size: assign.ByTime}}
		at, mean := ends(t, c, of("A", 10, 3, 4), of("B", 10, 3, 3), of("C", 10, 3, 5), of("D", 10, 3, 2))
		for i, got := range []float64{at["A"], at["B"], at["C"], at["D"], mean} {
			if math.Abs(got-want[i]) > 1e-9 {
				t.Errorf("%s: A, B, C, D and the mean are %v and %v, want %v", rule, at, mean, want)
			}
		}
	}
}

// Section 3.3.6: a job of all units and two seconds, one of six units and three.
func TestSizesOfTheToyCase(t *testing.T) {
	for size, want := range map[string]float64{assign.ByTime: 3.5, assign.ByTimeUnits: 4} {
		c := Config{Total: tens, Policy: assign.Policy{Rule: assign.Flexible, Order: assign.SJF, Size: size}}
		if _, mean := ends(t, c, of("first", 0.001, 10, 0), of("all", 2, 10, 0), of("six", 3, 6, 0)); math.Abs((3*mean-0.001)/2-0.001-want) > 1e-9 {
			t.Errorf("%s: the mean is %v, want %v", size, mean, want)
		}
	}
}

// Table 3.1: malleable with FIFO grants 75 % of the cores and 74 % of the memory. Here this is fitted.
func TestTheLoadIsFitted(t *testing.T) {
	table, err := RunPace(experiment.Options{Seeds: 2, Only: "fifo malleable"})
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Figures) != 2 {
		t.Fatalf("%+v", table.Figures)
	}
	for _, m := range table.Figures {
		if m.Ours < m.Theirs-1 || m.Ours > m.Theirs+1 {
			t.Errorf("%s is %.2f, want %g within a point", m.Name, m.Ours, m.Theirs)
		}
	}
}
