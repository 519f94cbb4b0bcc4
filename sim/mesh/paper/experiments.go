package paper

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/sim/mesh"
)

// peacock is one of the source's experiments.
type peacock struct {
	name, title string
	traces      []string
	loads       []int
	// sizes are how many workers, tasks how many tasks in all at a load.
	sizes func(load int) []int
	tasks func(load int) int
	// against is what Peacock is compared with: systems, or itself where so many of each hundred workers are killed, or
	// are not there from the beginning.
	against []string
	// misjudged has the estimates of tasks be wrong, milliseconds has tasks take a thousandth.
	misjudged, milliseconds bool
	change                  func(*mesh.Config)
	rows                    func(peacock, []PeacockCell) [][]string
	figures                 func([]PeacockCell) []experiment.Figure
}

// Several have these.
var (
	allLoads = []int{20, 50, 80, 100, 200, 300}
	google   = []string{"google"}
)

// usual is a size for each load. Below 100 % it is a large one, where chance evens out. From there on it is a small one
// with many tasks for each worker, since nothing is steady and gains grow with the run.
func usual(load int) []int {
	if load < 100 {
		return []int{10000}
	}
	return []int{1000}
}

// usualTasks are 18 for each worker below 100 %, 150 from there on.
func usualTasks(load int) int {
	if load < 100 {
		return 180_000
	}
	return 150_000
}

// peacocks is where one is entered.
var peacocks = []peacock{
	{name: "peacock", title: "Peacock: mean completion of jobs beside other schedulers without a planner",
		traces: []string{"google", "yahoo", "cloudera"}, loads: allLoads, sizes: usual, tasks: usualTasks,
		against: []string{"sparrow", "eagle-thesis", "eagle-author", "eagle"}, rows: comparedRows, figures: systemFigures},
	{name: "peacock-long", title: "Peacock: runs as long as the source's, 1,780 tasks for each worker", traces: google,
		loads: allLoads, sizes: func(int) []int { return []int{100} }, tasks: func(int) int { return 178_000 },
		against: []string{"sparrow", "eagle-thesis", "eagle-author", "eagle"}, rows: comparedRows, figures: longFigures},
	{name: "peacock-parts", title: "Peacock: what rotation and reordering are worth", traces: google, loads: allLoads,
		sizes: usual, tasks: usualTasks, against: []string{"no-rotation", "fifo", "lifo"}, rows: comparedRows,
		figures: partFigures},
	{name: "peacock-estimates", title: "Peacock: estimates of tasks that are wrong by a factor from 0 to 2",
		traces: google, loads: allLoads, sizes: usual, tasks: usualTasks, against: []string{"sparrow"}, misjudged: true,
		rows: comparedRows, figures: estimateFigures},
	{name: "peacock-hops", title: "Peacock: how often probes are handed on, by load and size", traces: google,
		loads: allLoads, sizes: func(int) []int { return []int{10000, 15000, 20000} },
		tasks: func(int) int { return 180_000 }, rows: hopRows, figures: hopFigures},
	{name: "peacock-killed", title: "Peacock: workers that are killed after 20 s, tasks of milliseconds",
		traces: google, loads: []int{20, 300}, sizes: func(int) []int { return []int{100} },
		tasks: func(int) int { return 112_832 }, milliseconds: true,
		against: []string{"5 killed", "5 fewer", "10 killed", "10 fewer"},
		change: func(c *mesh.Config) { // As the source's cluster: rounds of 100 ms. A message takes what it does in a LAN.
			c.Round, c.Network.Delay, c.Faults, c.KillAt = 100*time.Millisecond, 500*time.Microsecond, true, 20*time.Second
		}, rows: killedRows, figures: killedFigures},
}

// missing is how many of each hundred workers are killed, or are fewer, in what has that name: none in a system.
func missing(name string) (n int, killed bool) {
	number, how, _ := strings.Cut(name, " ")
	n, _ = strconv.Atoi(number)
	return n, how == "killed"
}

// cells are those of an experiment, of sizes and jobs that are asked for.
func (e peacock) cells(o experiment.Options, trace []mesh.Job) (cells []PeacockCell) {
	traces, loads := e.traces, e.loads
	if trace != nil {
		traces, loads = []string{filepath.Base(o.Trace)}, []int{0}
	}
	for _, name := range traces {
		for _, load := range loads {
			for _, workers := range sizes(o, e.sizes(load)...) {
				c := PeacockCell{Trace: name, Load: load, Workers: workers}
				if c.Jobs = o.Jobs; trace != nil {
					c.Jobs = min(cmp.Or(o.Jobs, len(trace)), len(trace))
				}
				for _, s := range mesh.Shapes() {
					if s.Name == name && c.Jobs == 0 {
						c.Jobs = int(math.Round(float64(e.tasks(load)) / s.Tasks))
					}
				}
				for _, system := range e.against {
					c.Against = append(c.Against, PeacockCompared{System: system})
				}
				cells = append(cells, c)
			}
		}
	}
	return cells
}

// theirs is what the source says of an experiment's cell beside a system: by how much Peacock's mean is less, and how
// many jobs are faster, in per cent; "" where it says nothing.
func theirs(table, trace string, load int, system string) (gain, faster string) {
	at := func(known map[int]string, otherwise string) string {
		if v := known[load]; v != "" {
			return v
		}
		return otherwise
	}
	switch {
	case trace != "google" && trace != "yahoo" && trace != "cloudera":
	case table == "peacock-estimates":
		return at(map[int]string{20: "30", 300: "68"}, "30 to 68"), at(map[int]string{50: "14"}, "")
	case system == "sparrow":
		return "13 to 77", "66 to 91"
	case isEagle(system) && trace == "google":
		return "16 to 73", "54 to 82"
	case isEagle(system) && trace == "yahoo":
		return "32 to 83", "54 to 70"
	case isEagle(system):
		return at(map[int]string{20: "78"}, "65 to 78"), ""
	case system == "no-rotation":
		return "70 to 95", at(map[int]string{50: "47", 200: "78"}, "47 to 78")
	case system == "fifo" || system == "lifo":
		return at(map[int]string{20: "0", 200: "81", 300: "81"}, "0 to 81"), at(map[int]string{50: "6", 200: "74"}, "6 to 74")
	}
	return "", ""
}

// isEagle reports whether a system is a reading of the source's own Eagle.
func isEagle(system string) bool { return system == "eagle-thesis" || system == "eagle-author" }

// theirHops are rotations per task by load and workers; theirKilled how much longer jobs take, in per cent, by the
// number that is killed and load. None are lost.
var (
	theirHops = map[string]string{"20 10000": "17", "50 10000": "299", "80 10000": "689", "100 10000": "901",
		"200 10000": "1523", "300 10000": "1791", "100 15000": "656", "100 20000": "513", "300 15000": "1140",
		"300 20000": "692"}
	theirKilled = map[string]string{"5 killed 20": "3", "10 killed 20": "8", "5 killed 300": "71", "10 killed 300": "87"}
)

// size are the columns that all tables of Peacock begin with.
func (c PeacockCell) size() []string {
	load := fmt.Sprintf("%.0f %%", c.TrueLoad)
	if c.TrueLoad == 0 { // All come at once.
		load = "-"
	}
	return []string{c.name(), fmt.Sprint(c.Workers), fmt.Sprintf("%.0f", c.Tasks), load}
}

// sized has heads of columns behind those of size.
func sized(heads ...string) []string {
	return append([]string{"CELL", "WORKERS", "TASKS A WORKER", "TRUE LOAD"}, heads...)
}
