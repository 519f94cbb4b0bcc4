package supervisor

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

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
		{"who is late already takes nothing that others need", jobs([3]float64{8, -5, 8}, [3]float64{6, 10, 8}), []float64{0, 8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := supervisor(t, Config{Strategy: Auto})
			compare(t, c.name, s.Divide(8, c.apps, nil), c.want, 1e-6)
		})
	}
}

// The oracle: of all sets of applications the largest that the earliest deadline first has in
// time.
func TestAutoGivesUpAsFewAsPossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cores := float64(rapid.IntRange(1, 8).Draw(t, "cores"))
		demands := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) demand {
			return demand{
				request: 9, // All that the least can be.
				id:      api.AppID(rapid.StringN(1, 4, -1).Draw(t, "id")), hasDeadline: true,
				ttc: units.Seconds(rapid.IntRange(1, 9).Draw(t, "ttc")), least: float64(rapid.IntRange(1, 9).Draw(t, "least")),
			}
		}), 0, 7).Draw(t, "demands")
		slices.SortFunc(demands, byDeadline)
		most := 0
		for set := range 1 << len(demands) {
			work, fits := 0.0, true
			for i, d := range demands {
				if set>>i&1 == 1 {
					work += d.least * float64(d.ttc)
					fits = fits && work <= cores*float64(d.ttc)*(1+slack)
				}
			}
			if fits {
				most = max(most, bits.OnesCount(uint(set)))
			}
		}
		giveUp(cores, demands)
		kept, work := 0, 0.0
		for _, d := range demands {
			if d.late {
				continue
			}
			kept++
			if work += d.least * float64(d.ttc); work > cores*float64(d.ttc)*(1+slack)+tiny {
				t.Fatalf("%s cannot be in time with %v of %v cores: %+v", d.id, work/float64(d.ttc), cores, demands)
			}
		}
		if kept != most {
			t.Fatalf("%d of %d are kept, %d can be: %+v", kept, len(demands), most, demands)
		}
	})
}
