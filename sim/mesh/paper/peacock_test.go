package paper

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/sim/mesh"
	"github.com/sparkpacer/pacer/units"
)

var rewriteGolden = flag.Bool("rewrite", false, "write the golden file again")

// A small table of each experiment, to the byte, and again the same.
func TestPeacockTablesAreAsTheyWere(t *testing.T) {
	const file = "testdata/peacock.txt"
	var b strings.Builder
	for _, p := range peacocks {
		name, o := p.name, experiment.Options{Workers: []int{30}, Jobs: 20, Seeds: 1}
		table, err := p.table(o)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := p.table(o); err != nil || !reflect.DeepEqual(table.Cells, again.Cells) || !reflect.DeepEqual(table.Figures, again.Figures) {
			t.Errorf("%s: the same options give another table: %v", name, err)
		}
		for _, rows := range [][][]string{{{table.Title}}, table.Rows[0], table.Rows[1]} {
			for _, row := range rows {
				fmt.Fprintln(&b, strings.Join(row, " | "))
			}
		}
		if err := table.Draw(filepath.Join(t.TempDir(), "table.svg")); err != nil {
			t.Error(err)
		}
	}
	if *rewriteGolden {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("-rewrite writes it again:\n%s", d)
	}
}

// The sizes are those that the documents name: 18 tasks a worker below 100 %, 150 from there on, the
// source's 1,780 in one, 3,200 jobs of the cluster; with figures for the bench, but not of a part of the cells.
func TestSection37TheCells(t *testing.T) {
	want := map[string]int{"peacock": 18, "peacock-parts": 6, "peacock-estimates": 6, "peacock-hops": 18, "peacock-killed": 2, "peacock-long": 6}
	for _, e := range peacocks {
		cells := e.cells(experiment.Options{}, nil)
		if len(cells) != want[e.name] {
			t.Errorf("%s has %d cells, want %d", e.name, len(cells), want[e.name])
		}
		for _, c := range cells {
			s := mesh.Shapes()[slices.IndexFunc(mesh.Shapes(), func(s mesh.Shape) bool { return s.Name == c.Trace })]
			each := float64(c.Jobs) * s.Tasks / float64(c.Workers)
			wanted := 18.0
			switch {
			case e.name == "peacock-killed" && c.Jobs == 3200:
				continue
			case e.name == "peacock-hops":
				wanted = 180_000 / float64(c.Workers)
			case e.name == "peacock-long":
				wanted = 1780
			case c.Load >= 100:
				wanted = 150
			}
			if math.Abs(each/wanted-1) > 0.001 {
				t.Errorf("%s, %s: %d jobs are %.1f tasks for each of %d workers, want %v", e.name, c.name(), c.Jobs, each, c.Workers, wanted)
			}
		}
		table, err := e.table(experiment.Options{Workers: []int{10}, Jobs: 5})
		if cells := table.Cells.([]PeacockCell); err != nil || len(cells) == 0 || len(table.Figures) == 0 {
			t.Errorf("%s: %d cells, %d figures, %v", e.name, len(cells), len(table.Figures), err)
		}
	}
	table, err := peacocks[0].table(experiment.Options{Workers: []int{10}, Jobs: 5, Only: "yahoo 20% 10 sparrow"})
	if cells := table.Cells.([]PeacockCell); err != nil || len(cells) != 1 || len(cells[0].Against) != 1 || len(table.Figures) != 0 {
		t.Errorf("a part of the cells: %+v, %v", table, err)
	}
}

// Jobs that take as long under both are neither faster nor slower; a job that never completes counts as lost.
func TestWhatIsCounted(t *testing.T) {
	r := peacockRunner{jobs: make([]mesh.Job, 4), ours: mesh.Outcome{Took: []time.Duration{1e9, 2e9, 3e9, 2e9}}}
	for i := range r.jobs {
		r.jobs[i].Durations = make([]time.Duration, 2)
	}
	run := r.made(mesh.Outcome{Took: []time.Duration{1e9, 4e9, 1e9, 0}, Hops: 24, JobHops: 12})
	want := PeacockRun{Mean: 2, Hops: 3, JobHops: 1.5, Lost: 1, Faster: 25, Equal: 25, Slower: 25} // 6 s over 3 jobs, and so ours.
	if run != want {
		t.Errorf("%+v, want %+v", run, want)
	}
	r.jobs[1].Arrival = units.Instant(5e9)
	if end := r.end(r.ours); end != 7*time.Second {
		t.Errorf("the last job has completed after %v", end)
	}
}

// Jobs of a file come when it says, on whatever size; of their trace the source knows nothing.
func TestJobsOfAFileComeWhenItSays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("0 1 10 10\n5 1 10 10\n40 2 1 1 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := peacocks[0].table(experiment.Options{Workers: []int{1}, Trace: file, Jobs: 2, Only: "f 1 sparrow"})
	cells, _ := table.Cells.([]PeacockCell)
	if err != nil || len(cells) != 1 || cells[0].Jobs != 2 || cells[0].Tasks != 2 {
		t.Fatalf("%+v, %v", table, err)
	}
	c := cells[0] // 20 s of work in which 5 s pass from the first to the second; 10 s, and 15 s.
	if math.Abs(c.TrueLoad-200) > 1e-9 || math.Abs(c.Runs[0].Mean-12.5) > 0.05 || math.Abs(c.Against[0].Runs[0].Mean-12.5) > 0.05 {
		t.Errorf("%+v", c)
	}
	if rows := table.Rows[0]; rows[1][0] != "f" || strings.Contains(rows[1][7], "(") {
		t.Errorf("the source knows nothing of this trace: %v", rows[1])
	}
}

// A switch is read, and an unknown one or a value names what there is.
func TestPeacockSwitches(t *testing.T) {
	o := experiment.Options{Workers: []int{30}, Jobs: 60, Only: "google 100% 30 sparrow"}
	first := func(o experiment.Options) PeacockCell {
		t.Helper()
		table, err := peacocks[0].table(o)
		if err != nil {
			t.Fatal(err)
		}
		return table.Cells.([]PeacockCell)[0]
	}
	usual := first(o)
	o.Switches = []string{"demand work"}
	if byWork := first(o); math.Abs(byWork.TrueLoad-100) > 1e-6 || math.Abs(usual.TrueLoad-100) < 1 {
		t.Errorf("true loads %v and by work %v", usual.TrueLoad, byWork.TrueLoad)
	}
	o.Switches = []string{"queue fifo"}
	if fifo := first(o); fifo.Runs[0].Mean == usual.Runs[0].Mean {
		t.Error("another queue has the same mean")
	}
	for s, want := range map[string]string{
		"hops 3":      `--switch: unknown switch "hops": want one of demand jobs|work, overtake corrected|printed`,
		"guard":       `--switch: guard "": want one of turn|none`,
		"demand half": `--switch: demand "half": want one of jobs|work`,
	} {
		if _, err := peacocks[0].caseNames(experiment.Options{Switches: []string{s}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", s, err, want)
		}
	}
	stop := make(chan struct{})
	close(stop)
	o.Stop = stop
	if _, err := peacocks[0].table(o); !errors.Is(err, des.ErrStopped) || !strings.Contains(err.Error(), "google 100%, 30 workers, seed 1") {
		t.Errorf("stopped: %v", err)
	}
}
