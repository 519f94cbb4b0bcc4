package offers

import (
	"fmt"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/sim/experiment"
)

// Case is one cluster, size and order of the frameworks. Each has Tasks, one for 128 MB.
type Case struct {
	Name    string   `json:"case"`
	Cluster Cluster  `json:"cluster"`
	Tasks   int      `json:"tasks"`
	Moments []Moment `json:"moments"`
}

// Sizes are those of section 3.2 and Table 3.1; the 512 MB of a Spark task are its executor's heap, however many run
// in it. Times are made up: the start is the part of 1 GB alone on the larger nodes that section 3.3.4 says, 55 % with
// SparkFG and 30 % with Hadoop.
var (
	sparkFG = Framework{Name: "SparkFG", Executor: Resources{1000, 384 + 512}, Slot: Resources{1000, 0},
		Start: 12 * time.Second, Task: 10 * time.Second}
	hadoop = Framework{Name: "Hadoop", Coarse: true, Executor: Resources{500, 512}, Slot: Resources{500, 768},
		Start: 12 * time.Second, Task: 28 * time.Second}
	smaller, larger = Resources{2000, 2931}, Resources{4000, 6784}
)

// Experiments are one, in which nothing is drawn.
func Experiments() []experiment.Experiment {
	e := experiment.Experiment{Name: "offers", Source: "002", Section: "3", Takes: []string{experiment.Only},
		Title: "WordCount in SparkFG and in Hadoop, one 10 s after the other, on 6 nodes that are offered as by Mesos"}
	e.Cases = func(experiment.Options) (names []string, err error) {
		cases, err := WordCount("")
		for _, c := range cases {
			names = append(names, c.Name)
		}
		return names, err
	}
	e.Run = func(o experiment.Options) (experiment.Table, error) {
		cases, err := WordCount(o.Only)
		return experiment.Table{Title: e.Title, Cells: cases, Rows: [][][]string{rows(cases)}}, err
	}
	return []experiment.Experiment{e}
}

// WordCount runs the cases whose name contains only: SparkFG and Hadoop on 6 nodes, one 10 s later than the other.
func WordCount(only string) (cases []Case, err error) {
	for _, c := range []Case{
		{Name: "5 GB", Tasks: 40, Cluster: Cluster{Nodes: 6, Node: smaller}},
		{Name: "5 GB, release task", Tasks: 40, Cluster: Cluster{Nodes: 6, Node: smaller, ReleaseTask: true}},
		{Name: "5 GB, revoke shrink", Tasks: 40, Cluster: Cluster{Nodes: 6, Node: smaller, RevokeShrink: true}},
		{Name: "1 GB, larger nodes", Tasks: 8, Cluster: Cluster{Nodes: 6, Node: larger}},
		{Name: "15 GB, larger nodes", Tasks: 120, Cluster: Cluster{Nodes: 6, Node: larger}},
	} {
		name, both := c.Name, []Framework{sparkFG, hadoop}
		both[0].Tasks, both[1].Tasks = c.Tasks, c.Tasks
		for first, f := range both {
			c.Name = name + ", " + f.Name + " first"
			both[first].Arrives, both[1-first].Arrives = 0, 10*time.Second
			if c.Moments, err = Run(c.Cluster, both); err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
			if strings.Contains(c.Name, only) {
				cases = append(cases, c)
			}
		}
	}
	return cases, nil
}

// rows are a heading, and what both have from each moment on at which one holds something else or is stuck or no more.
func rows(cases []Case) [][]string {
	rows := [][]string{{"CASE", "FROM", "SPARKFG HOLDS", "EXECUTORS", "RUNS", "WAITS", "STUCK",
		"HADOOP HOLDS", "EXECUTORS", "RUNS", "WAITS", "STUCK"}}
	for _, c := range cases {
		last := ""
		for _, m := range c.Moments {
			row, held := []string{c.Name, m.At.String()}, ""
			for _, s := range m.Of {
				row = append(row, s.Held.String(), s.Executors.String(), fmt.Sprint(s.Running), fmt.Sprint(s.Waiting),
					map[bool]string{true: "yes", false: "-"}[s.Stuck()])
				held += fmt.Sprint(s.Held, s.Stuck())
			}
			if held != last {
				rows = append(rows, row)
			}
			last = held
		}
	}
	return rows
}
