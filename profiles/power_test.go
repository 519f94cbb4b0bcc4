package profiles

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// powered is a run of two stages that read by times the input, and whose work goes with the powers of that.
func powered(by float64, powers ...float64) api.Profile {
	p := api.Profile{Schema: api.ProfileSchema, Name: "p", Runs: 1, Cores: 8, Head: 2}
	for id, power := range powers {
		work := units.Work(80 * math.Pow(by, power))
		s := api.ProfileStage{ID: id, Job: id, Name: "s", Signature: fmt.Sprint("s", id), Parents: []int{}, Tasks: 64, Records: int64(1e9 * by),
			Bytes: int64(1e11 * by), CoreSeconds: work, Duration: units.Seconds(work / 8), LongestTask: units.Seconds(work / 64)}
		s.NominalRate = rate(s.Records, s.CoreSeconds)
		p.Stages = append(p.Stages, s)
	}
	p.Duration = replay(p)
	return p
}

// Runs of half the input and of all of it say what three times the input takes.
func TestTwoInputsTeachHowWorkGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		power := rapid.Float64Range(0, 2)
		a, b := power.Draw(t, "a"), power.Draw(t, "b")
		known := Merge(powered(0.5, a, b), powered(1, a, b), Terms{})
		truth := powered(3, a, b)
		said, doubt := Scaled(known, 3*1e11/float64(known.Stages[0].Bytes))
		for i := range said.Stages {
			if off := float64(said.Stages[i].CoreSeconds/truth.Stages[i].CoreSeconds) - 1; math.Abs(off) > 0.03 {
				t.Fatalf("stage %d of powers %v: off by %.3f: %+v", i, []float64{a, b}, off, known.Habit.Stages[i].Growth)
			}
			if off := float64(said.Stages[i].Duration/truth.Stages[i].Duration) - 1; math.Abs(off) > 0.03 {
				t.Fatalf("the time of stage %d is off by %.3f", i, off)
			}
		}
		if err := said.Validate(); err != nil || doubt <= 0 || doubt > 0.2 {
			t.Fatalf("doubt %v, %v", doubt, err)
		}
	})
}

// What no runs have shown is taken to grow with its size, and is said to be in doubt.
func TestUntilItIsKnownWorkGrowsWithItsSize(t *testing.T) {
	known := powered(1, 1)
	for range 9 {
		known = Merge(known, powered(1, 1), Terms{})
	}
	if g := known.Habit.Stages[0].Growth; Grown(g, 3) != 3 || Grown(g, 0.2) != 0.2 || g.Runs != 10 {
		t.Errorf("%+v", g)
	}
	said, doubt := Scaled(known, 2)
	if s := said.Stages[0]; math.Abs(float64(s.CoreSeconds)-160) > 1e-9 || s.Tasks != 128 || math.Abs(float64(s.LongestTask)-1.25) > 1e-9 {
		t.Errorf("%+v", s)
	}
	if math.Abs(float64(doubt)-0.6*math.Ln2) > 1e-9 {
		t.Errorf("doubt %v", doubt)
	}
	if same, doubt := Scaled(known, 1); doubt != 0 || same.Stages[0].CoreSeconds != known.Stages[0].CoreSeconds {
		t.Error("as much input is other work")
	}
}

// The sums are those of a line of least squares through the logarithms, drawn towards 1.
func TestGrowthIsALineThroughTheRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.Float64Range(-5, 5)
		var sizes, works []float64
		for i := range rapid.IntRange(2, 12).Draw(t, "runs") {
			sizes, works = append(sizes, draw.Draw(t, fmt.Sprint("size ", i))), append(works, draw.Draw(t, fmt.Sprint("work ", i)))
		}
		g := api.Growth{Runs: 1, Power: 1, Doubt: powerDoubt, Size: sizes[0], Work: works[0]}
		for i := 1; i < len(sizes); i++ {
			g, _ = grow(g, sizes[i], works[i])
		}
		var all, x, y, xx, xy, yy float64
		for i := range sizes {
			w := math.Pow(growthAge, float64(len(sizes)-1-i))
			all, x, y = all+w, x+w*sizes[i], y+w*works[i]
		}
		x, y = x/all, y/all
		for i := range sizes {
			w := math.Pow(growthAge, float64(len(sizes)-1-i))
			xx, xy, yy = xx+w*(sizes[i]-x)*(sizes[i]-x), xy+w*(sizes[i]-x)*(works[i]-y), yy+w*(works[i]-y)*(works[i]-y)
		}
		for what, both := range map[string][2]float64{"size": {g.Size, x}, "work": {g.Work, y}, "sizes": {g.Sizes, xx}, "common": {g.Common, xy}, "works": {g.Works, yy}} {
			if math.Abs(both[0]-both[1]) > 1e-9*(1+math.Abs(both[1])) {
				t.Fatalf("%s is %v, want %v", what, both[0], both[1])
			}
		}
		if line := xy / xx; xx > 1e-6 && (g.Power-min(max(1, line), 2) > 1e-9 || min(1, max(line, 0))-g.Power > 1e-9) || !(g.Doubt <= powerDoubt) {
			t.Fatalf("the power %v is not between 1 and %v", g.Power, line)
		}
	})
}

func TestAJumpThatNoInputExplains(t *testing.T) {
	day := 0
	taught := func(known api.Profile, by, times float64) api.Profile {
		run := powered(by, 1, 1)
		day++
		run.Stages[1].CoreSeconds *= units.Work(times * (1 + 0.02*float64(day%3-1)))
		return Merge(known, run, Terms{Day: fmt.Sprintf("2026-11-%02d", day)})
	}
	known := powered(1, 1, 1)
	for range 5 {
		known = taught(known, 1, 1)
	}
	if grows := taught(known, 1.8, 1); Jumps(grows) != nil {
		t.Errorf("more input explains it: %v", Jumps(grows))
	}
	day = 19
	jumped := taught(known, 1, 1.8)
	if said := Jumps(jumped); !slices.Equal(said, []string{"stage 1 takes 1.8 times since 2026-11-20, seen once"}) {
		t.Errorf("%q", said)
	}
	if said := Jumps(taught(jumped, 1, 1)); said != nil {
		t.Errorf("it was an accident: %q", said)
	}
	jumped = taught(jumped, 1, 1.8)
	for range 3 {
		if said := Jumps(jumped); !slices.Equal(said, []string{"stage 1 takes 1.8 times since 2026-11-20"}) {
			t.Errorf("%q", said)
		}
		jumped = taught(jumped, 1, 1.8)
	}
	for range toldJump {
		jumped = taught(jumped, 1, 1.8)
	}
	if said := Jumps(jumped); said != nil {
		t.Errorf("that is usual by now: %q", said)
	}
	if spread := jumped.Habit.Stages[1].Spread; spread < 0.01 || spread > 0.05 {
		t.Errorf("it spreads by %v, not by 2 %%", spread)
	}
}

// A run that says what the collector took, what was spilled and the peak of memory teaches that; others leave it.
func TestWhatRunsShowOfAStageBesides(t *testing.T) {
	old, run := powered(1, 1), powered(1, 1)
	run.Habit.Stages = map[int]api.StageHabit{0: {Collector: 0.2, Spilled: 1e9, PeakMemory: 3e8}}
	known := Merge(old, run, Terms{})
	if h := known.Habit.Stages[0]; h.Collector != 0.2 || h.Spilled != 1e9 || h.PeakMemory != 3e8 {
		t.Errorf("%+v", h)
	}
	known = Merge(known, powered(1, 1), Terms{})
	if h := known.Habit.Stages[0]; h.Collector != 0.2 || h.Growth.Runs != 3 {
		t.Errorf("%+v", h)
	}
	for what, terms := range map[string]Terms{"tried again": {Tried: map[int]units.Work{0: 1}}, "cold": {Cold: map[int]int{0: 1}}} {
		if h := Merge(known, powered(2, 1), terms).Habit.Stages[0]; h != known.Habit.Stages[0] {
			t.Errorf("a stage that was %s taught %+v", what, h)
		}
	}
}
