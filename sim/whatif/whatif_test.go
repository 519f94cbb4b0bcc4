package whatif

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// recorded is the profile of a run of a on two executors of four cores.
func recorded(t *testing.T, a plant.App) api.Profile {
	t.Helper()
	c := sim.Default()
	c.Seed, c.Nodes = 5, []sim.NodeSpec{{Name: "a", Cores: 4}, {Name: "b", Cores: 4}}
	p, _, err := sim.Record(c, a)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// chain is an application of stages one after the other, in jobs of their own.
func chain(work ...units.Work) plant.App {
	a := plant.App{Name: "chain", Head: 5, Tail: 0.5, Exit: 0.5}
	for i, w := range work {
		a.Stages = append(a.Stages, plant.Stage{Name: fmt.Sprint("s", i), Job: i, Tasks: 64, Work: w, Records: 1000, Gap: 0.2})
	}
	return a
}

func TestShapesOfSums(t *testing.T) {
	for _, c := range []struct {
		recorded units.Cores
		asked    []units.Cores
		want     []Shape
	}{
		{8, []units.Cores{4, 8, 16}, []Shape{{1, 4}, {2, 4}, {4, 4}}},
		{64, []units.Cores{64, 128}, []Shape{{4, 16}, {8, 16}}},
		{8, []units.Cores{1, 10, 17}, []Shape{{1, 1}, {2, 5}, {4, 4.25}}},
		{2, []units.Cores{1.5}, []Shape{{1, 1.5}}},
	} {
		if got := Sums(api.Profile{Cores: c.recorded}, c.asked...); !slices.Equal(got, c.want) {
			t.Errorf("recorded at %v, asked for %v: %v, want %v", c.recorded, c.asked, got, c.want)
		}
	}
}

// A replay takes what the run took, whatever of that is warm-up: what it foretells where it was recorded is the run.
func TestAReplayIsTheRun(t *testing.T) {
	for _, a := range []plant.App{chain(40), chain(4, 4, 80), chain(500, 3, 900)} {
		p := recorded(t, a)
		answer, err := Ask(Question{Profile: p, Shapes: []Shape{{2, 4}}})
		if err != nil {
			t.Fatal(err)
		}
		c := answer.Cells[0]
		if off := math.Abs(float64(c.Finish/p.Duration - 1)); off > 0.03 || c.Sure != Measured {
			t.Errorf("%v after %v, %s", c.Finish, p.Duration, c.Sure)
		}
		if off := math.Abs(float64(c.Work/p.Work() - 1)); off > 0.05 {
			t.Errorf("%v core-seconds after %v", c.Work, p.Work())
		}
	}
}

// Draws that are paced towards a promise keep it, whether or not they kept an earlier deadline.
func TestDrawsKeepTheirPromise(t *testing.T) {
	for _, a := range []plant.App{chain(4, 28), chain(4, 4, 80), chain(60, 30, 90)} {
		tb := table{Question: Question{Profile: recorded(t, a), Certainty: 0.95}, recorded: Shape{2, 4}}
		if err := tb.fit(); err != nil {
			t.Fatal(err)
		}
		cells, err := tb.cells([]Shape{{1, 4}, {8, 4}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cells {
			later, err := tb.later(c)
			if err != nil {
				t.Fatal(err)
			}
			promise := c.Promise * units.Seconds(later)
			if ends, _, err := tb.paced(c.Shape, 1, promise, 0, draws); err != nil || slices.Max(ends) > promise {
				t.Errorf("%v: draws end after %v on %v cores, promised is %v", err, ends, c.Cores, promise)
			}
		}
	}
}

// Stages of a chain are all on its path, with the gaps before them; the driver's time is what they leave.
func TestPathAndFloorOfAChain(t *testing.T) {
	p := recorded(t, chain(60, 30, 90))
	answer, err := Ask(Question{Profile: p, Shapes: []Shape{{4, 4}}})
	if err != nil {
		t.Fatal(err)
	}
	c := answer.Cells[0]
	var names []string
	for _, s := range c.Path {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"s0", "s1", "s2"}) || math.Abs(float64(c.Path[1].Gap-0.2)) > 0.05 {
		t.Errorf("path %+v", c.Path)
	}
	driver := p.Head + p.Tail + p.Exit + p.Stages[1].Gap + p.Stages[2].Gap
	if f := c.Floor; math.Abs(float64(f.Driver-driver)) > 0.5 || f.Finish != f.Driver+f.Chain || f.Finish >= c.Finish {
		t.Errorf("floor %+v, the driver takes %v", f, driver)
	}
}

// The cheapest cores lie between those asked for, and keep the deadline where it is run.
func TestCheapest(t *testing.T) {
	p := recorded(t, chain(200, 300))
	q := Question{Profile: p, Shapes: Sums(p, 4, 16), Any: true, Deadline: p.Duration, Stages: true}
	answer, err := Ask(q)
	if err != nil {
		t.Fatal(err)
	}
	best := answer.Cheapest[0]
	if best.Cores <= 4 || best.Cores > 10 || best.Finish > q.Deadline || best.Work <= 0 {
		t.Errorf("cheapest %+v for %v", best, q.Deadline)
	}
	if *answer.Cells[0].Keeps || !*answer.Cells[1].Keeps || len(answer.Cells[1].Stages) != 2 || answer.Cells[0].Verdict != api.VerdictInfeasible {
		t.Errorf("cells %+v", answer.Cells)
	}
	q.Deadline = 6
	if answer, err = Ask(q); err != nil || answer.Cheapest[0].Cores != 0 {
		t.Errorf("%v: 6 s on %v cores", err, answer.Cheapest)
	}
}

// Stages beside each other are offered cores in the order of their ids, which a run shows by what they took.
func TestAStageThatCameBehindOthers(t *testing.T) {
	a := plant.App{Name: "beside", Head: 5, Tail: 0.5, Exit: 0.5, Stages: []plant.Stage{
		{Name: "large", Tasks: 64, Work: 160, Records: 1, Gap: 0.3}, {Name: "small", Tasks: 16, Work: 4, Records: 1, Gap: 0.1}}}
	p := recorded(t, a)
	if p.Stages[0].Name != "small" || p.Stages[0].Duration < 10 {
		t.Fatalf("recorded %+v: the small stage is ready first, and comes behind", p.Stages)
	}
	tb := table{Question: Question{Profile: p, Certainty: 0.95}, recorded: Shape{2, 4}}
	if err := tb.fit(); err != nil {
		t.Fatal(err)
	}
	if tb.stages[0].Name != "large" || tb.drawn[0].Stages[1].Fetch != 0 {
		t.Errorf("stages %+v", tb.stages)
	}
}

// Runs that differed widen the bounds, and so does an input that no run has shown.
func TestWhatWidensBounds(t *testing.T) {
	p := recorded(t, chain(200))
	wide := func(p api.Profile, input float64) float64 {
		a, err := Ask(Question{Profile: p, Shapes: []Shape{{2, 4}}, Inputs: []float64{input}})
		if err != nil {
			t.Fatal(err)
		}
		return float64((a.Cells[0].Most.High - a.Cells[0].Most.Low) / a.Cells[0].Finish)
	}
	alike := wide(p, 1)
	differed := p
	for _, more := range []units.Seconds{0, 2, 6, 1, 9} {
		differed.Residuals = append(differed.Residuals, api.Residual{Unforeseen: [api.ReservePlaces]units.Seconds{more}})
	}
	if got := wide(differed, 1); got < 3*alike {
		t.Errorf("%.3f after runs that differ, %.3f before", got, alike)
	}
	if got := wide(p, 2); got < 3*alike {
		t.Errorf("%.3f with twice the input, %.3f without", got, alike)
	}
}

func TestQuestionsThatAreNone(t *testing.T) {
	p := recorded(t, chain(20))
	for _, c := range []struct {
		q    Question
		says string
	}{
		{Question{Shapes: []Shape{{0, 4}}}, "executors: 0, want 1 to 256"},
		{Question{Shapes: []Shape{{1, 5000}}}, "cores: 5000"},
		{Question{Shapes: []Shape{{1, units.Cores(math.NaN())}}}, "cores: NaN"},
		{Question{Inputs: []float64{0}}, "input: 0x, want 0.01x to 100x"},
		{Question{Certainty: 0.3}, "certainty: 0.3, want 0.5 to 0.99"},
		{Question{Inputs: make([]float64, 65)}, "input: 0x"},
	} {
		c.q.Profile = p
		if _, err := Ask(c.q); api.KindOf(err) != api.KindInvalid || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want one that says %q", err, c.says)
		}
	}
}
