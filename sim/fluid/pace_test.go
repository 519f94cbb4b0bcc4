package fluid

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim/experiment"
)

// A trace is as its Pace says, and the same for the same seed.
func TestATraceIsAsItsPaceSays(t *testing.T) {
	p := Pace{Jobs: 20_000, Seed: 3, Load: 0.6, Interactive: 0.2}
	jobs := p.Trace()
	if d := cmp.Diff(jobs, p.Trace()); d != "" {
		t.Error(d)
	}
	kinds, work, short := map[Kind]float64{}, 0.0, 0.0
	last := jobs[len(jobs)-1].Arrival
	for i, j := range jobs {
		kinds[KindOf(j)] += 1 / float64(len(jobs))
		work += float64(j.Time) * float64(times(j.Unit, j.Core+j.Elastic).Cores)
		if whole := times(j.Unit, j.Core+j.Elastic); whole.Cores > Machines.Cores/4 || whole.Memory > Machines.Memory/4 || j.Core < 1 ||
			j.Time < runtimeLeast || j.Time > runtimeMost {
			t.Fatalf("%+v", j)
		}
		if i > 0 && float64(j.Arrival-jobs[i-1].Arrival) < 0.5*float64(last)/float64(len(jobs)) {
			short += 1 / float64(len(jobs))
		}
	}
	if got := work / (float64(Machines.Cores) * last.Sub(0).Seconds()); got < 0.599 || got > 0.601 {
		t.Errorf("the load is %v, want %v", got, p.Load)
	}
	if k := kinds; k[Interactive] < 0.19 || k[Interactive] > 0.21 || k[Elastic] < 0.62 || k[Elastic] > 0.66 {
		t.Errorf("%v", kinds)
	}
	if short < 0.75 || short > 0.9 {
		t.Errorf("%v of the gaps are less than half of the mean", short)
	}
	p.Seed++
	if other := p.Trace(); cmp.Equal(jobs, other) {
		t.Error("two seeds give one trace")
	}
}

// The same options give the same bytes, all cases have their place in the table, and the figures can be drawn.
func TestTheTableOfPace(t *testing.T) {
	o := experiment.Options{Seeds: 2, Jobs: 800}
	table, err := RunPace(o)
	if err != nil {
		t.Fatal(err)
	}
	again, err := RunPace(o)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := json.Marshal(table)
	if second, _ := json.Marshal(again); string(first) != string(second) || len(first) < 1000 {
		t.Errorf("%s\n%s", first, second)
	}
	if len(table.Rows[0]) != 15 || len(table.Rows[1]) != 17 {
		t.Errorf("%d rows, %d measures", len(table.Rows[0]), len(table.Figures))
	}
	for _, rows := range table.Rows {
		for _, row := range rows {
			if len(row) != len(rows[0]) || slices.Contains(row, "NaN") {
				t.Errorf("%v under %v", row, rows[0])
			}
		}
	}
	if row := strings.Join(table.Rows[0][3], " "); !strings.Contains(row, "(3.36e+05)") || !strings.Contains(row, "(77%) ") || !strings.Contains(row, "(76%)") {
		t.Errorf("the source's figures are not in %s", row)
	}
	for _, ext := range []string{".png", ".svg"} {
		path := filepath.Join(t.TempDir(), "pace"+ext)
		if err := table.Draw(path); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() < 10_000 {
			t.Errorf("%s: %v, %v", ext, info, err)
		}
	}
}

func TestATraceIsRead(t *testing.T) {
	const text = "arrival,time,core,elastic,cores,memory,priority\r\n0,600,3,20,1.5,4g,0\n\n12.5, 30,1,0,0.25,100,2\n"
	jobs, err := ReadTrace("t.csv", strings.NewReader(text))
	want := []assign.Job{
		{ID: "line-0000002", Unit: assign.Amount{Cores: 1.5, Memory: 4 << 30}, Core: 3, Elastic: 20, Time: 600},
		{ID: "line-0000004", Arrival: 12.5e9, Priority: 2, Unit: assign.Amount{Cores: 0.25, Memory: 100}, Core: 1, Time: 30},
	}
	if d := cmp.Diff(want, jobs); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	table, err := OfTrace("t.csv", jobs).Run(experiment.Options{})
	if cells := table.Cells.([]Cell); err != nil || len(cells) != 8 || cells[0].Runs[0].Turnaround != 315 || len(table.Figures) != 0 {
		t.Errorf("%v, %+v", err, table)
	}
}

func TestATraceThatCannotBeReadIsRefusedWithItsLine(t *testing.T) {
	const heading = "arrival,time,core,elastic,cores,memory,priority\n"
	for text, want := range map[string]string{
		"":                       "t.csv:1: want the heading arrival,time,",
		"0,600,3,20,1,4g,0\n":    "t.csv:1: want the heading arrival,time,",
		heading:                  "t.csv:1: no job",
		heading + "0,600,3,20\n": "t.csv:2: wrong number of fields",
		heading + "0,600,3,20,1,4g,0\n-1,600,3,20,1,4g,0\n": `t.csv:3: arrival "-1": want a number from 0`,
		heading + "9,600,3,20,1,4g,0\n8,600,3,20,1,4g,0\n":  "t.csv:3: arrival 8 is before that of the line above",
		heading + "0,ten,3,20,1,4g,0\n":                     `t.csv:2: time "ten": want a number`,
		heading + "0,0,3,20,1,4g,0\n":                       `t.csv:2: time "0": want a number from 0.001`,
		heading + "0,NaN,3,20,1,4g,0\n":                     `t.csv:2: time "NaN": want a number`,
		heading + "0,600,0,20,1,4g,0\n":                     `t.csv:2: core "0": want a whole number from 1`,
		heading + "0,600,2.5,20,1,4g,0\n":                   `t.csv:2: core "2.5": want a whole number`,
		heading + "0,600,3,-2,1,4g,0\n":                     `t.csv:2: elastic "-2": want a whole number from 0`,
		heading + "0,600,3,20,-1,4g,0\n":                    `t.csv:2: cores "-1": want a number from 0`,
		heading + "0,600,3,20,1,-4g,0\n":                    `t.csv:2: memory: size "-4g"`,
		heading + "0,600,3,20,1,4x,0\n":                     `t.csv:2: memory: size "4x"`,
		heading + "0,600,3,20,1,4g,-1\n":                    `t.csv:2: priority "-1": want a whole number from 0`,
		heading + "0,600,3,20,1,4g,\"\n":                    "t.csv:2: extraneous or missing",
	} {
		if jobs, err := ReadTrace("t.csv", strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) || jobs != nil ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
