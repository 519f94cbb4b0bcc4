package fluid

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/assign/scores"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/experiment"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// Each job ends once, met or not; no rule but fs has any work after its deadline; the oracle wastes nothing; shares drop
// nobody before that; and who is granted what its work needs is in time.
func TestReservationsInTheWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		made := TR1
		made.cores = rapid.Float64Range(200, 6000).Draw(t, "cores") // The fewer the rarer jobs come.
		d := rapid.SampledFrom(Generators()).Draw(t, "deadlines")
		cpus := rapid.SampledFrom([]int{1, 100, 2250}).Draw(t, "cpus")
		jobs := d.Due(made.Jobs(rapid.IntRange(1, 60).Draw(t, "jobs"), rapid.Uint64().Draw(t, "seed")), cpus, 1)
		p := assign.Policy{Rule: rapid.SampledFrom(assign.Reserving()).Draw(t, "rule"), Order: assign.FIFO}
		p.Reading = assign.Reading{Bootstrap: rapid.IntRange(0, 2).Draw(t, "bootstrap"), Recent: rapid.SampledFrom([]float64{0, .2}).Draw(t, "recent"),
			Violators: rapid.SampledFrom([]int{0, 100}).Draw(t, "violators")}
		c := Config{Total: assign.Amount{Cores: units.Cores(cpus)}, Policy: p}
		out, err := Simulate(c, jobs)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Simulate(c, jobs); err != nil || !reflect.DeepEqual(out, again) {
			t.Fatalf("another outcome: %v\n%+v\n%+v", err, out, again)
		}
		byID := map[string]assign.Job{}
		for _, j := range jobs {
			byID[j.ID] = j
		}
		for _, o := range out.Jobs {
			j, known := byID[o.ID]
			if delete(byID, o.ID); !known {
				t.Fatalf("%s ends twice", o.ID)
			}
			whole := o.Run.Used >= o.Run.Work*(1-1e-6)
			late := o.Ended > j.Due
			switch {
			case o.Run.Met != (whole && !late) || o.Run.Used > o.Run.Work*(1+1e-9) || o.Ended < j.Arrival:
				t.Fatalf("%+v, due at %d", o, j.Due)
			case p.Rule == assign.FS && !whole:
				t.Fatalf("%+v is dropped", o)
			case p.Rule == assign.FSReactive && !whole && !late:
				t.Fatalf("%+v is dropped before its deadline", o)
			case p.Rule == assign.Oracle && !o.Run.Met && o.Run.Used > 0:
				t.Fatalf("%+v wastes", o)
			case p.Rule != assign.FS && late && o.Run.Used > 0 && j.Tasks > p.Reading.Violators && o.Ended > j.Due+1:
				t.Fatalf("%+v goes on", o)
			}
		}
		if len(byID) > 0 || out.Refused > 0 {
			t.Fatalf("%d have not ended, %d are refused", len(byID), out.Refused)
		}
	})
}

// Alone each job is in time under every rule, with a deadline of its T.
func TestAloneAllAreInTime(t *testing.T) {
	for _, rule := range assign.Reserving() {
		for _, j := range Generators()[0].Due(TR1.Jobs(50, 3), 2250, 3) {
			out, err := Simulate(Config{Total: assign.Amount{Cores: 2250}, Policy: assign.Policy{Rule: rule}}, []assign.Job{j})
			if err != nil || len(out.Jobs) != 1 || !out.Jobs[0].Run.Met || out.Fairness != 0 {
				t.Errorf("%s: %v, %+v", rule, err, out)
			}
		}
	}
}

// Sections 4.3 and 5.3: what the source says of its traces.
func TestTracesAreMadeAfterTheirSources(t *testing.T) {
	const n = 20_000
	for _, c := range []struct {
		made                       Made
		one, ten, thousand, bigger float64 // Parts of the jobs with 1 and less than 10 tasks, with more than 1,000, and of these of work.
	}{{TR1, .58, .70, .13, .98}, {TR2, .62, .80, .03, .94}} {
		jobs := c.made.Jobs(n, 1)
		var one, ten, thousand, big, all, small float64
		for _, j := range jobs {
			w := float64(j.Time) * float64(j.Tasks)
			if all += w; j.Tasks > 1000 {
				thousand, big = thousand+1./n, big+w
			}
			if j.Tasks < 10 {
				ten += 1. / n
			}
			if j.Tasks == 1 {
				if one += 1. / n; w < 100 {
					small += 1. / n
				}
			}
		}
		for what, v := range map[string][2]float64{"one": {c.one, one}, "ten": {c.ten, ten}, "thousand": {c.thousand, thousand},
			"their work": {c.bigger, big / all}, "of one task below 100 s": {.8, small / one},
			"load": {1, all / c.made.cores / float64(jobs[n-1].Arrival) * 1e9}} {
			if math.Abs(v[0]-v[1]) > .02 {
				t.Errorf("%s, %s: %.3f, want %.2f", c.made.Name, what, v[1], v[0])
			}
		}
	}
}

// Section 5.2.1: deadlines are x T, and a rate is 1 / x.
func TestDeadlinesAreTimesT(t *testing.T) {
	jobs := TR1.Jobs(4000, 1)
	for name, want := range map[string][3]float64{"fixed1x": {1, 1, 1}, "fixed2x": {2, 2, 2}, "jockey1x2x": {1, 1.5, 2}, "jockey2x4x": {2, 3, 4},
		"90loose": {1, 1.9, 2}, "aria1x3x": {1, 2, 3}, "aria2x4x": {2, 3, 4}} {
		d := Generators()[slices.Index(GeneratorNames(), name)]
		var x []float64
		for _, j := range d.Due(jobs, 2250, 1) {
			v := j.Due.Sub(j.Arrival).Seconds() / (float64(j.Time) * float64(j.Tasks) / float64(min(j.Tasks, 2250)))
			if j.Time > 1 { // Else a nanosecond counts.
				x = append(x, v)
			}
		}
		if have := [3]float64{slices.Min(x), experiment.Mean(x), slices.Max(x)}; math.Abs(have[0]-want[0]) > .01 || math.Abs(have[1]-want[1]) > .05 ||
			math.Abs(have[2]-want[2]) > .01 {
			t.Errorf("%s: %v, want %v", name, have, want)
		}
	}
	if len(GeneratorNames()) != 7 {
		t.Error(GeneratorNames())
	}
}

// The table has a cell for each rule, generator and cluster, the other readings of two generators, and what the source says.
func TestReserveTable(t *testing.T) {
	o := experiment.Options{Seeds: 2, Jobs: 300}
	table, err := TR1.run(o)
	if err != nil {
		t.Fatal(err)
	}
	inCells := 0
	for _, f := range table.Figures {
		if len(f.Values) != 2 || !f.InCells && f.Measure == "" || !(experiment.Mean(f.Values) >= 0) {
			t.Errorf("%+v", f)
		}
		if f.InCells {
			inCells++
		}
	}
	n := 3*7*5 + 2*8 + 1
	if cells := len(table.Cells.([]ReserveCell)); cells != n || len(table.Rows[0]) != n+1 || len(table.Rows[1]) != 1+18 ||
		len(table.Shown[0]) != 1+7*5+2*8+1 || inCells != 3*7*5*4+21 {
		t.Errorf("%d cells, %d rows, %d shown, %d measures, %d figures in cells", cells, len(table.Rows[0]), len(table.Shown[0]), len(table.Rows[1]), inCells)
	}
	for _, row := range table.Rows[0] {
		if len(row) != 11 {
			t.Errorf("%v", row)
		}
	}
	files := []string{filepath.Join(t.TempDir(), "a.png"), filepath.Join(t.TempDir(), "a.svg")}
	if err := table.Draw(files...); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Size() < 10_000 {
			t.Error(f, err)
		}
	}
	o.Only, o.Seeds = "fs-reactive fixed1x 4500", 1
	if table, err = TR2.run(o); err != nil || len(table.Cells.([]ReserveCell)) != 1 || len(table.Rows[1]) != 1 {
		t.Errorf("%v, %+v", err, table)
	}
}

// A job that is ended at its deadline wastes what it has used, and teaches nothing: the one behind it gets as much as it
// did, unless the ended one teaches its part.
func TestOneThatIsEndedWastes(t *testing.T) {
	job := func(id string, at, time, x float64) assign.Job {
		return assign.Job{ID: id, Unit: assign.Amount{Cores: 1}, Core: 1, Elastic: 3, Tasks: 4, Time: units.Seconds(time),
			Arrival: units.Instant(at * 1e9), Due: units.Instant((at + x*time) * 1e9)}
	}
	// A tight one and a loose one have it learn 0.5; the next has half of what it needs, and is ended at its deadline.
	jobs := []assign.Job{job("a", 0, 10, 1), job("b", 0, 10, 2), job("c", 60, 100, 1), job("d", 200, 100, 4)}
	for truncated, units := range map[bool]float64{false: 2, true: 3} { // By (1 + 0.5) / 2 - 0.25, and (0.5 + 1) / 2 - 1/6.
		policy := assign.Policy{Rule: assign.Justice, Reading: assign.Reading{Truncated: truncated}}
		out, err := Simulate(Config{Total: assign.Amount{Cores: 100}, Policy: policy}, jobs)
		want := scores.Run{Met: false, Work: 400, Used: 200}
		if err != nil || len(out.Jobs) != 4 || !out.Jobs[0].Run.Met || math.Abs(float64(out.Jobs[2].Run.Used-want.Used)) > 1e-6 ||
			out.Jobs[2].Run.Met || out.Jobs[2].Ended != 160e9+1 {
			t.Errorf("%v, %+v", err, out.Jobs)
		}
		if took := out.Jobs[3].Ended.Sub(out.Jobs[3].Began).Seconds(); math.Abs(took-400/units) > 0.1 {
			t.Errorf("truncated %v: the last one takes %.1f s, want %.1f", truncated, took, 400/units)
		}
	}
}

// Each claim has a section, a band with a reason in which theirs lies, and all that it compares.
func TestReserveClaimsAreTheSources(t *testing.T) {
	o := experiment.Options{Seeds: 2, Jobs: 300}
	claims, err := reserveClaimed(o)
	if err != nil {
		t.Fatal(err)
	}
	wanted := slices.DeleteFunc(reserveCells(clusters(o)), func(c ReserveCell) bool { return !c.claimed() })
	for _, c := range claims {
		theirs := experiment.Claim{Band: c.Band}.Tried([]float64{c.Theirs})
		if c.Table == "" || c.Case == "" || c.Measure == "" || c.Band.Reason == "" || !theirs.Holds || c.Seeds != 2 {
			t.Errorf("%+v", c)
		}
	}
	if len(claims) != 15+19 || len(wanted) != 5*7+4+4*7+4*7 {
		t.Errorf("%d claims of %d cells", len(claims), len(wanted))
	}
	stop := make(chan struct{})
	close(stop)
	o.Stop = stop
	if _, err := reserveClaimed(o); !errors.Is(err, des.ErrStopped) {
		t.Errorf("%v", err)
	}
}
