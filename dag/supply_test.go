package dag_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/units"
)

// Of eight cores others have five until 20 s, and two from 10 s on: three are left, then one,
// then six.
func TestWhatOthersLeave(t *testing.T) {
	s := dag.Supply{Cores: 8, Taken: []dag.Taken{{Cores: 5, Until: 20}, {Cores: 2, From: 10, Until: 100}}}
	if work, last := s.Between(0, 30); work != 3*10+1*10+6*10 || last != 6 {
		t.Errorf("%v core-seconds, %v cores in the end, want 100 and 6", work, last)
	}
	if work, last := s.Between(5, 15); work != 3*5+1*5 || last != 1 {
		t.Errorf("%v core-seconds, %v cores in the end, want 20 and 1", work, last)
	}
	if work, last := s.Between(15, 15); work != 0 || last != 0 {
		t.Errorf("in no time %v core-seconds, %v cores", work, last)
	}
	for _, k := range []struct {
		work units.Work
		want units.Seconds
	}{{0, 0}, {15, 5}, {30, 10}, {35, 15}, {40, 20}, {100, 30}, {40 + 6*80 + 8, 101}} {
		if at := s.After(0, k.work); at != k.want {
			t.Errorf("%v core-seconds are there by %v s, want %v", k.work, at, k.want)
		}
	}
}

// The oracle counts second by second; promises change on whole ones.
func TestSupplyIsTheSumOfItsSeconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := dag.Supply{Cores: units.Cores(rapid.IntRange(1, 64).Draw(t, "cores"))}
		for range rapid.IntRange(0, 4).Draw(t, "others") {
			from := rapid.IntRange(0, 50).Draw(t, "from")
			s.Taken = append(s.Taken, dag.Taken{Cores: units.Cores(rapid.IntRange(0, 40).Draw(t, "taken")),
				From: units.Seconds(from), Until: units.Seconds(from + rapid.IntRange(0, 50).Draw(t, "for"))})
		}
		from := rapid.IntRange(0, 60).Draw(t, "begin")
		until := from + rapid.IntRange(1, 60).Draw(t, "length")
		want, last := 0.0, 0.0
		for second := from; second < until; second++ {
			last = float64(s.Cores)
			for _, o := range s.Taken {
				if float64(o.From) <= float64(second) && float64(second) < float64(o.Until) {
					last -= float64(o.Cores)
				}
			}
			last = max(last, 0.05*float64(s.Cores))
			want += last
		}
		work, end := s.Between(units.Seconds(from), units.Seconds(until))
		if math.Abs(float64(work)-want) > 1e-6 || math.Abs(float64(end)-last) > 1e-9 {
			t.Fatalf("%v core-seconds and %v cores, want %v and %v", work, end, want, last)
		}
		if at := s.After(units.Seconds(from), work); math.Abs(float64(at)-float64(until)) > 1e-6 {
			t.Fatalf("they are there by %v, want %v", at, until)
		}
	})
}

// A stage that disks and networks hold up ends no sooner for all cores, and leaves them to others: of two side by side
// the one that moves for 50 s uses 2 cores of 10, and the other one, of 80 core-seconds, ends after 10 s on the rest.
func TestAStageUsesNoMoreCoresThanItsDevicesKeepUpWith(t *testing.T) {
	p := api.Profile{Schema: api.ProfileSchema, Name: "p", Duration: 1, Cores: 10, Stages: []api.ProfileStage{
		{ID: 0, Name: "moves", Tasks: 100, Duration: 10, Records: 100, CoreSeconds: 100, NominalRate: 1},
		{ID: 1, Name: "computes", Tasks: 100, Duration: 8, Records: 80, CoreSeconds: 80, NominalRate: 1}}}
	g, err := dag.New(p)
	if err != nil {
		t.Fatal(err)
	}
	q := dag.Default()
	q.Open = true
	s := dag.Supply{Cores: 10, Least: func(stage int, from units.Seconds) units.Seconds {
		return []units.Seconds{50 - from, 0}[stage]
	}}
	f := g.Forecast(q, 0, s, 0)
	if moves, computes := f.Stages[0].Duration, f.Stages[1].Duration; math.Abs(float64(moves)-50) > 1e-6 ||
		math.Abs(float64(computes)-10) > 1e-6 || math.Abs(float64(f.FullCores)-50) > 1e-6 {
		t.Errorf("%v and %v of %v, want 50 and 10 of 50", moves, computes, f.FullCores)
	}
	if s.Least = nil; math.Abs(float64(g.Forecast(q, 0, s, 0).FullCores)-18) > 1e-6 {
		t.Errorf("without devices %v, want 18", g.Forecast(q, 0, s, 0).FullCores)
	}
}

// The rest of a stage that runs takes as long as it has to, not a part of that.
func TestAStageThatRunsTakesItsLeast(t *testing.T) {
	p := api.Profile{Schema: api.ProfileSchema, Name: "p", Duration: 10, Cores: 10, Stages: []api.ProfileStage{
		{ID: 0, Name: "moves", Tasks: 100, Duration: 10, Records: 100, CoreSeconds: 100, NominalRate: 1}}}
	g, err := dag.New(p)
	if err != nil {
		t.Fatal(err)
	}
	q := dag.Default()
	q.Open = true
	s := dag.Supply{Cores: 10, Least: func(int, units.Seconds) units.Seconds { return 40 }}
	for _, left := range []float64{1, 0.5, 0.25, 0.02} {
		end, _ := g.Resume(q, 0, s, dag.Standing{Now: 30, Underway: []dag.Underway{{Left: left}}})
		if math.Abs(float64(end)-70) > 1e-6 {
			t.Errorf("with %v left it ends at %v, want 70", left, end)
		}
	}
}
