package prophet

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/sim/des"
)

// kind is one of the source's ten applications: GB of its large, medium and small input (section 8.3 of the source).
// "Small" of TriangleCount, Terasort, WordCount, Sort and Grep, which is not printed, is half of "medium".
//
// The rest is made up. Rounds is how often the stages Each come after the stages First, the former for each GB of
// input on one core in all. A stage's rates are those of one task in MB/s.
type kind struct {
	name   string
	input  [3]float64
	rounds int
	first  []Stage
	each   []Stage
	last   []Stage
}

func stage(time, disk, network float64) Stage {
	return Stage{Time: time, Rate: placement.Rates{disk, network}}
}

// kinds have rates as the source's figures 4.1 and 4.2 show them. They are disks of up to 300 MB/s for an executor of
// five cores and a network of up to 160 MB/s. For more than half of the time of many an executor there is next to
// nothing of one of them. Times are seconds of one core for a GB of input.
var kinds = []kind{
	{"SVM", [3]float64{38.3, 19.2, 9.6}, 6, []Stage{stage(80, 58, 2)}, []Stage{stage(45, 2, 3), stage(20, 4, 28)}, nil},
	{"KMeans", [3]float64{21.9, 10.9, 5.5}, 8, []Stage{stage(85, 58, 2)}, []Stage{stage(60, 1, 2), stage(15, 3, 30)}, nil},
	{"LogisticRegression", [3]float64{37.1, 18.5, 9.3}, 6,
		[]Stage{stage(80, 58, 2)}, []Stage{stage(50, 2, 2), stage(15, 4, 25)}, nil},
	{"PageRank", [3]float64{4.0, 1.9, 0.933}, 8,
		[]Stage{stage(200, 45, 4)}, []Stage{stage(150, 20, 8), stage(150, 30, 30)}, nil},
	{"SVD++", [3]float64{0.3656, 0.1633, 0.0781}, 8,
		[]Stage{stage(2000, 20, 4)}, []Stage{stage(1500, 15, 6), stage(1500, 25, 26)}, nil},
	{"TriangleCount", [3]float64{0.3647, 0.1672, 0.0836}, 3,
		[]Stage{stage(2500, 20, 5)}, []Stage{stage(2500, 30, 20), stage(2500, 25, 28)}, nil},
	{"Terasort", [3]float64{37.3, 18.6, 9.3}, 1,
		[]Stage{stage(95, 58, 3)}, []Stage{stage(100, 45, 28)}, []Stage{stage(95, 58, 10)}},
	{"WordCount", [3]float64{44, 22, 11}, 1, []Stage{stage(140, 57, 2)}, []Stage{stage(40, 10, 15)}, nil},
	{"Sort", [3]float64{44, 22, 11}, 1, []Stage{stage(90, 58, 3)}, []Stage{stage(90, 45, 30)}, []Stage{stage(60, 58, 5)}},
	{"Grep", [3]float64{44, 22, 11}, 1, []Stage{stage(120, 58, 1)}, []Stage{stage(10, 3, 10)}, nil},
}

// coresOf are the cores of an executor, as in the source; memoryOf (GB) is made up, as are the numbers of
// executors by input.
var (
	coresOf     = []int{1, 3, 5}
	memoryOf    = map[int]float64{1: 3, 3: 6, 5: 8}
	executorsOf = [3]int{12, 10, 8}
)

// submitted is until when applications come, in seconds.
const submitted = 1200

// Draw are the source's 90 applications: ten kinds, three inputs and three sizes of executors, submitted at random
// times. Stages differ from their kind's by a tenth.
func Draw(seed uint64) []App {
	r := des.Random(seed, "applications")
	var apps []App
	for _, k := range kinds {
		for size, input := range k.input {
			for _, cores := range coresOf {
				a := App{Arrives: submitted * r.Float64(),
					Kind:  fmt.Sprintf("%s %s x%d", k.name, []string{"large", "medium", "small"}[size], cores),
					Cores: cores, Executors: executorsOf[size], Memory: memoryOf[cores]}
				add := func(stages []Stage) {
					for _, s := range stages {
						scale := input / float64(cores*a.Executors) * des.Around(r, 0.1)
						a.Stages = append(a.Stages, Stage{Time: max(1, s.Time*scale),
							Rate: placement.Rates{s.Rate[0] * float64(cores), s.Rate[1] * float64(cores)}})
					}
				}
				add(k.first)
				for range k.rounds {
					add(k.each)
				}
				add(k.last)
				apps = append(apps, a)
			}
		}
	}
	slices.SortStableFunc(apps, func(a, b App) int { return cmp.Compare(a.Arrives, b.Arrives) })
	return apps
}
