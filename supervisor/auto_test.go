package supervisor

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// doubts are those of the supervisors of these tests.
var doubts = sharing.Default().Doubts

// jobs are applications of one stage each that ask for all they can use: triples of least
// cores, time to completion and tasks.
func jobs(of ...[3]float64) []App {
	var apps []App
	for i, j := range of {
		apps = append(apps, App{
			ID: api.AppID(fmt.Sprintf("app-%d", i)), HasDeadline: true, TTC: units.Seconds(j[1]), Least: units.Cores(j[0]),
			Stages: []Stage{{Request: units.Cores(j[2]), Runnable: int(j[2])}},
		})
	}
	return apps
}

// The algorithm of Moore's paper: of those that are due by a deadline that cannot be kept the
// longest one is given up.
func TestAutoGivesUpTheOneThatNeedsMost(t *testing.T) {
	for _, c := range []struct {
		name string
		apps []App
		want []float64
	}{
		{"all can be in time: in order of deadline", jobs([3]float64{2, 10, 5}, [3]float64{4, 20, 8}), []float64{5, 3}},
		{"what a run needs is not known of the first", jobs([3]float64{0, 10, 8}, [3]float64{8, 20, 8}), []float64{8, 0}},
		{"the second needs most until then", jobs([3]float64{4, 10, 8}, [3]float64{8, 20, 8}), []float64{8, 0}},
		{"the first needs most", jobs([3]float64{8, 20, 8}, [3]float64{2, 21, 8}), []float64{0, 8}},
		{"of three one is enough", jobs([3]float64{4, 10, 4}, [3]float64{8, 10, 8}, [3]float64{4, 10, 4}), []float64{4, 0, 4}},
		{"who asks for less than was predicted needs less", jobs([3]float64{8, 20, 2}, [3]float64{7, 21, 7}), []float64{2, 6}},
		{"at its end nobody needs what the node does not have", jobs([3]float64{99, 0.5, 3}, [3]float64{2, 20, 8}), []float64{3, 5}},
		{"who is late for itself alone keeps its place", jobs([3]float64{9, 10, 9}, [3]float64{2, 100, 8}), []float64{8, 0}},
		{"who is late by less than predictions are off is not given up", jobs([3]float64{8, 10, 8}, [3]float64{0.2, 10, 8}), []float64{8, 0}},
		{"but not before one that has no time for it", jobs([3]float64{9, 10, 9}, [3]float64{7, 100, 8}), []float64{0, 8}},
		{"who is late already takes nothing that others need", jobs([3]float64{8, -5, 8}, [3]float64{6, 10, 8}), []float64{0, 8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := supervisor(t, Config{Strategy: Auto})
			compare(t, c.name, s.Divide(8, c.apps, nil), c.want, 1e-6)
		})
	}
}

// The oracle: of all sets of applications the largest that the earliest deadline first has in
// time, or late by no more than predictions are off.
func TestAutoGivesUpAsFewAsPossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cores := float64(rapid.IntRange(1, 8).Draw(t, "cores"))
		demands := genDemands(t)
		most := 0
		for set := range 1 << len(demands) {
			work, fits := 0.0, true
			for i, d := range demands {
				if set>>i&1 == 1 {
					work += needOf(d)
					fits = fits && d.ttc > 0 && work <= cores*(float64(d.ttc)+doubts.Late)
				}
			}
			if fits {
				most = max(most, bits.OnesCount(uint(set)))
			}
		}
		giveUp(cores, demands, doubts)
		kept, work := 0, 0.0
		for _, d := range demands {
			if d.late {
				continue
			}
			kept++
			if work += needOf(d); work > cores*(float64(d.ttc)+doubts.Late)*(1+tiny) {
				t.Fatalf("%s cannot be in time with %v of %v cores: %+v", d.id, work/float64(d.ttc), cores, demands)
			}
		}
		if kept != most {
			t.Fatalf("%d of %d are kept, %d can be: %+v", kept, len(demands), most, demands)
		}
	})
}

// Whoever is given up and keeps its place makes nobody late that is in time without it: those
// behind it have room for all that it needs.
func TestWhoKeepsItsPlaceMakesNobodyLate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cores := float64(rapid.IntRange(1, 8).Draw(t, "cores"))
		demands := genDemands(t)
		giveUp(cores, demands, doubts)
		putBehind(cores, demands, doubts)
		work := 0.0
		for _, d := range demands {
			switch {
			case d.behind && !d.late:
				t.Fatalf("%s is put behind and not given up: %+v", d.id, demands)
			case d.behind:
			case d.late:
				work += d.least * float64(d.ttc)
			default:
				if work += needOf(d); work > cores*(float64(d.ttc)+doubts.Late)+tiny {
					t.Fatalf("%s cannot be in time with %v of %v cores: %+v", d.id, work/float64(d.ttc), cores, demands)
				}
			}
		}
	})
}

// genDemands are applications in order of deadline; those of some have passed.
func genDemands(t *rapid.T) []demand {
	demands := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) demand {
		return demand{
			request: float64(rapid.IntRange(1, 9).Draw(t, "request")), id: api.AppID(rapid.StringN(1, 4, -1).Draw(t, "id")), hasDeadline: true,
			ttc: units.Seconds(rapid.IntRange(-1, 9).Draw(t, "ttc")), least: float64(rapid.IntRange(1, 9).Draw(t, "least")),
		}
	}), 0, 7).Draw(t, "demands")
	slices.SortFunc(demands, byDeadline)
	return demands
}

// needOf is what an application needs until its deadline: what is predicted, or what it asks
// for until then where that is less.
func needOf(d demand) float64 {
	return math.Max(0, math.Min(d.least*float64(d.ttc), d.request*float64(d.ttc)))
}

// givenUpOf are the applications that a division has given up.
func givenUpOf(s *Supervisor, apps []App) (of []api.AppID) {
	for i := range apps {
		if s.GaveUp(i) {
			of = append(of, apps[i].ID)
		}
	}
	return of
}

// The more cores there are, the fewer cannot be in time.
func TestWithMoreCoresFewerCannotBeInTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		demands := genDemands(t)
		cores := float64(rapid.IntRange(1, 8).Draw(t, "cores"))
		lost := func(cores float64) (n int) {
			for i := range demands {
				demands[i].late = false
			}
			giveUp(cores, demands, doubts)
			for _, d := range demands {
				if d.late {
					n++
				}
			}
			return n
		}
		if few, more := lost(cores), lost(cores+rapid.Float64Range(0, 5).Draw(t, "more")); more > few {
			t.Fatalf("%d cannot be in time, with more cores %d: %+v", few, more, demands)
		}
	})
}

// While the same ones are given up, more cores take from nobody.
func TestMoreCoresTakeFromNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, apps := genConfig(t), genShared(t)
		cfg.Strategy, cfg.Gamma = Auto, 0
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		capacity := rapid.Float64Range(0, 40).Draw(t, "capacity")
		if floors, _ := sums(cfg, apps); floors >= capacity {
			t.Skip("the floors do not fit: covered by the invariants")
		}
		before := s.Divide(units.Cores(capacity), apps, nil)
		lost := givenUpOf(s, apps)
		more := s.Divide(units.Cores(capacity+rapid.Float64Range(0, 5).Draw(t, "more")), apps, nil)
		if !slices.Equal(lost, givenUpOf(s, apps)) {
			return
		}
		for i := range before {
			if more[i] < before[i]-tiny {
				t.Fatalf("grant %d falls from %v to %v with more capacity; %v are given up", i, before[i], more[i], lost)
			}
		}
	})
}

// Nobody is given up where all have what they ask for, also where the rest is given away, nor
// who shares, has no deadline, or of whom the least cores are not known. Other strategies give
// nobody up.
func TestWhoIsNotGivenUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, apps := genConfig(t), genShared(t)
		capacity := rapid.Float64Range(0, 40).Draw(t, "capacity")
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		s.Divide(units.Cores(capacity), apps, nil)
		_, wants := sums(cfg, apps)
		for i, a := range apps {
			known := a.Least > 0 && !math.IsInf(float64(a.Least), 1)
			may := cfg.Strategy == Auto && a.HasDeadline && !a.Shares && known
			if s.GaveUp(i) && (!may || wants <= capacity && cfg.Eq21 != Eq21Printed) {
				t.Fatalf("%+v is given up by %s, %v of %v cores are asked for", a, cfg.Strategy, wants, capacity)
			}
		}
	})
}
