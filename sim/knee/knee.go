package knee

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/sparkpacer/pacer/memory"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/units"
)

// app is a row of Tables 3.2 and 3.3.
type app struct {
	name                    string
	batch                   bool
	first, mean, enough     float64
	peak, peakPart          float64
	taskMean, taskDeviation float64
}

// apps are the rows.
var apps = []app{
	{"Terasort", true, 18, 3.2, 2, 8.2, 0.042, 1.1, 0.4},
	{"SVM", false, 18, 4.2, 3, 8.4, 0.051, 1.4, 0.45},
	{"KMeans", false, 18, 6.5, 5, 11.2, 0.024, 2.2, 0.53},
	{"LogisticRegression", false, 8, 1.2, 0.7, 7.3, 0.032, 0.3, 0.1},
	{"LinearRegression", false, 8, 4.2, 3, 7.6, 0.045, 1.2, 0.24},
	{"DecisionTree", false, 9, 3.9, 3, 8.2, 0.02, 1.3, 0.28},
	{"PCA", false, 18, 7.8, 6, 13.7, 0.053, 2.4, 0.58},
	{"PageRank", false, 20, 8.2, 7, 17.8, 0.082, 2.1, 0.55},
	{"SVD++", false, 18, 9.4, 7, 15.3, 0.062, 2.7, 0.32},
	{"ConnectedComponents", false, 8, 1.8, 1, 3.6, 0.08, 0.4, 0.19},
	{"TriangleCount", false, 18, 4.5, 3, 6.7, 0.033, 1.3, 0.54},
	{"TPC-DS", true, 18, 4.7, 3.5, 9.5, 0.042, 1.6, 0.35},
}

// Search is what a search came to.
type Search struct {
	Heap float64 `json:"heap_gib"`
	// Error is the heap that was found over the smallest that is enough, less 1, in per cent.
	Error float64 `json:"error_pct"`
	// Runs are all of it, with the one of one task at a time; Bad those with too small a heap.
	Runs int `json:"runs"`
	Bad  int `json:"bad"`
}

// Cell is an application, over its seeds.
type Cell struct {
	Case   string   `json:"case"`
	Enough float64  `json:"enough_gib"`
	Runs   []Search `json:"runs"`
	batch  bool
}

// mostRuns ends a search that finds nothing.
const mostRuns = 100

// search looks for the knee of an application.
func (a app) search(r *rand.Rand) (s Search) {
	k, heap := memory.Knee{}, gib(a.first)
	s.Runs = 1
	for done := false; !done && s.Runs < mostRuns; s.Runs++ {
		bad := k.Bad
		heap, done = k.Next(a.run(r, heap), memory.DefaultKnee)
		if k.Bad != bad {
			s.Bad++
		}
	}
	s.Heap = float64(heap) / float64(units.GiB)
	s.Error = 100 * (s.Heap/a.enough - 1)
	return s
}

func gib(n float64) units.Bytes { return units.Bytes(math.Round(n * float64(units.GiB))) }

// run is a run with that heap.
func (a app) run(r *rand.Rand, heap units.Bytes) memory.Run {
	size, enough := float64(heap)/float64(units.GiB), a.enough*(1+0.01*r.NormFloat64())
	live := min(0.85*enough, size)
	run := memory.Run{Heap: heap, Live: gib(live), Work: units.Work(100 * (1 + 0.01*r.NormFloat64())),
		Collecting: min(0.3, 0.02+0.06*enough/size), OutOfMemory: size < 0.85*enough}
	if size < enough {
		run.Work, run.Collecting, run.Live = run.Work*units.Work(4+6*r.Float64()), 0.8, gib(0.95*size)
	}
	slots := int(math.Round(a.mean / a.taskMean))
	run.Stages = []memory.StageUse{{Container: a.uses(size), Mean: gib(a.taskMean), Deviation: gib(a.taskDeviation),
		Slots: slots}}
	return run
}

// uses are the parts of a run by what is used of a heap of that size.
func (a app) uses(size float64) (bins []memory.Bin) {
	const parts = 20
	usual := (a.mean - a.peakPart*0.95*a.peak) / (1 - a.peakPart)
	add := func(use, part float64) {
		use = max(use*min(1, size/a.peak), min(use, 0.5*a.enough, size))
		bins = append(bins, memory.Bin{Used: gib(use), Part: part})
	}
	for i := range parts {
		at := (float64(i) + 0.5) / parts
		add(usual*(0.6+0.8*at), (1-a.peakPart)/parts)
	}
	add(0.95*a.peak, a.peakPart)
	return bins
}

const title = "Xu 3.4: the smallest heap that costs nothing, on footprints of twelve applications"

// Experiments is the one of the source's section 3.4.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{{Name: "knee", Title: title, Source: "001", Section: "3.4", Run: table,
		Takes: []string{experiment.Seeds}, Cases: func(experiment.Options) (names []string, err error) {
			for _, a := range apps {
				names = append(names, a.name)
			}
			return names, nil
		}}}
}

// table searches for each application, with each seed.
func table(o experiment.Options) (experiment.Table, error) {
	t := experiment.Table{Name: "knee", Title: title}
	var cases []experiment.Case[Cell, Search]
	for _, a := range apps {
		cases = append(cases, experiment.Case[Cell, Search]{Name: a.name, Of: Cell{Case: a.name, Enough: a.enough,
			batch: a.batch}, Run: func(seed int) (Search, error) {
			return a.search(des.Random(uint64(seed)+1, "knee of "+a.name)), nil
		}})
	}
	cases, err := experiment.RunAll(o, cases)
	if err != nil {
		return t, err
	}
	rows := [][]string{{"APPLICATION", "ENOUGH, GB (SOURCE)", "FOUND, GB", "ERROR, %", "RUNS", "TOO SMALL"}}
	var all []Cell
	for _, c := range cases {
		c.Of.Runs = c.Runs
		mean := func(of func(Search) float64) string { return fmt.Sprintf("%.1f", experiment.Over(c.Runs, of)) }
		all, rows = append(all, c.Of), append(rows, []string{c.Name, fmt.Sprintf("%.1f", c.Of.Enough),
			mean(func(s Search) float64 { return s.Heap }), mean(func(s Search) float64 { return s.Error }),
			mean(func(s Search) float64 { return float64(s.Runs) }), mean(func(s Search) float64 { return float64(s.Bad) })})
	}
	t.Figures = figures(all)
	t.Cells, t.Rows = all, [][][]string{rows, experiment.FigureRows(t.Figures, "%.1f", "MEASURE")}
	return t, nil
}

// figures are the error over all applications and the most runs that one took, seed by seed.
func figures(all []Cell) []experiment.Figure {
	each := func(of func(seed int) float64) (values []float64) {
		for seed := range all[0].Runs {
			values = append(values, of(seed))
		}
		return values
	}
	most := func(batch bool) []float64 {
		return each(func(seed int) (most float64) {
			for _, c := range all {
				if c.batch || !batch {
					most = max(most, float64(c.Runs[seed].Runs))
				}
			}
			return most
		})
	}
	add := func(name, unit, of, measure string, theirs, limit float64, says string, values []float64) experiment.Figure {
		return experiment.NewFigure("knee.sim."+name, unit, values, experiment.Claim{Table: "Sec 3.4", Case: of,
			Measure: measure, Theirs: theirs, Says: says, Band: experiment.AtMost(limit, "how a heap is used is made up"),
			Why: "how a heap is used is made up"})
	}
	return []experiment.Figure{
		add("error_pct", "%", "all", "error of the heap that is found, mean, %", 5, 10, "over 95 % exact for most",
			each(func(seed int) (sum float64) {
				for _, c := range all {
					sum += math.Abs(c.Runs[seed].Error) / float64(len(all))
				}
				return sum
			})),
		add("batch_runs", "runs", "batch", "runs until it is found, most", 10, 10, "7 to 10", most(true)),
		add("runs", "runs", "all", "runs until it is found, most", 16, 16, "16", most(false)),
	}
}
