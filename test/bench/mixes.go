package main

import (
	"fmt"
)

// mix is a benchmark of several applications that come after each other.
type mix struct {
	name string
	// overload says that no way meets all deadlines.
	overload bool
	apps     []arrival
	ways     []way
}

// arrival is an application of a mix. The source says when it comes, by when it is due
// and what it takes alone; here it comes and is due after as many times what it takes.
type arrival struct {
	workload            string
	at, deadline, alone float64 // Seconds of the source.
}

// way is how a mix runs: on stock Spark, tuned, or under Pacer.
type way struct {
	name  string
	stock bool
	// args are more options of spark-submit, or of pacer up.
	args []string
}

// The ways on stock Spark: one application after the other, as a standalone master has
// them by default, and side by side on half of the cores each.
const (
	inTurn = "stock-fifo"
	shared = "stock-side-by-side"
)

// under is a way under Pacer.
func under(name, strategy string, gamma int) way {
	return way{name: name, args: []string{"--set", "node.strategy=" + strategy, "--set",
		fmt.Sprintf("node.gamma=%d", gamma)}}
}

// mixes are Benchmarks 1 to 3 of the source (its Tables 6 to 9). What the applications of the
// first two take alone follows from Table 6. For those of Benchmark 3, of which it gives no
// size, it is what they take in the simulator (sim/paper), where they are as large as its
// Table 9 needs. With gamma 1 an application that is alone gets ahead of its deadline, and who comes
// later finds less to do: in the source EDF_pure keeps two deadlines of Benchmark 3 with gamma 1,
// and fewer with 0.
func mixes() []mix {
	return []mix{
		{"bench1", false, []arrival{{"pagerank", 0, 300, 59}, {"kmeans", 40, 300, 86}, {"svm", 80, 120, 77}},
			[]way{{name: inTurn, stock: true}, {name: shared, stock: true,
				args: []string{"--conf", fmt.Sprintf("spark.cores.max=%d", standaloneCores/2)}},
				under("edf-pure", "edf-pure", 0), under("auto", "auto", 0), under("edf-all", "edf-all", 1)}},
		{"bench2", false, []arrival{{"pagerank", 0, 250, 59}, {"kmeans", 40, 160, 86}, {"svm", 80, 250, 77}},
			[]way{under("edf-pure.g0", "edf-pure", 0), under("proportional.g0", "proportional", 0),
				under("auto.g0", "auto", 0)}},
		{"bench3", true, []arrival{{"aggregate-by-key", 0, 120, 94}, {"group-by", 40, 200, 157},
			{"aggregate-by-key-int", 80, 160, 114}},
			[]way{under("edf-pure", "edf-pure", 0), under("auto", "auto", 0), under("edf-pure.g1", "edf-pure", 1),
				under("auto.g1", "auto", 1)}},
	}
}

// workloads are those of the mix's applications.
func (e mix) workloads() (names []string) {
	for _, m := range e.apps {
		names = append(names, m.workload)
	}
	return names
}

// atSource are the mix's applications as the source has them.
func (e mix) atSource() []job {
	var takes []float64
	for _, m := range e.apps {
		takes = append(takes, m.alone)
	}
	return e.scaled(takes)
}

// inTurnUntil is when the last of jobs ends if each takes what it takes alone, in order of
// arrival.
func inTurnUntil(jobs []job) (end float64) {
	for _, j := range jobs {
		end = max(end, j.at) + j.takes
	}
	return end
}

// scaled are the mix's applications here, where they take those times alone: deadlines are as
// many times what an application takes as in the source, and a second of the source's clock,
// by which they come, is the mean of what they take over what the source's do.
func (e mix) scaled(takes []float64) []job {
	unit := 0.0
	for i, m := range e.apps {
		unit += takes[i] / m.alone / float64(len(e.apps))
	}
	var jobs []job
	for i, m := range e.apps {
		at := m.at * unit
		jobs = append(jobs, job{at: at, takes: takes[i], due: at + takes[i]*m.deadline/m.alone})
	}
	return jobs
}
