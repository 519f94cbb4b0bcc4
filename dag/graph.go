package dag

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// longest is the most that the times and the works of a profile may add up to,
// in seconds and core-seconds (some 30,000 years): sums stay exact enough and
// finite whatever a hand-written profile says.
const longest = 1e12

// Graph is the stage graph of a profile. It never changes and is safe for
// concurrent use.
type Graph struct {
	profile api.Profile
	// index maps a stage's id to its place in profile.Stages.
	index map[int]int
	// before and after hold the direct edges by place. before[i] < i: the order
	// of the profile is topological.
	before, after [][]int
	// gaps[i] is the largest sum of gaps on a path that begins with stage i.
	gaps []units.Seconds
	// alone[i] says that no stage can run beside stage i.
	alone []bool
	width int
	// factors scale what stages that ran side by side keep busy (recorded.go).
	factors []float64
}

// New builds the graph of p. It returns a KindInvalid error when p is not a
// valid profile or its times are beyond all reason. p may be changed afterwards.
func New(p api.Profile) (*Graph, error) {
	g, err := build(p)
	if err == nil {
		g.findFactors()
	}
	return g, err
}

func build(p api.Profile) (*Graph, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := checkTotals(p); err != nil {
		return nil, err
	}
	g := &Graph{profile: p, index: make(map[int]int, len(p.Stages))}
	g.profile.Stages = slices.Clone(p.Stages)
	for i, s := range p.Stages {
		g.profile.Stages[i].Parents = slices.Clone(s.Parents)
		g.index[s.ID] = i
	}
	g.connect()
	g.sumGaps()
	g.findAlone()
	g.width = g.widest()
	return g, nil
}

// With is New for what is left of g's profile: a profile of the same stages with other
// sizes. What g knows of stages that ran side by side holds for their rest.
func (g *Graph) With(p api.Profile) (*Graph, error) {
	rest, err := build(p)
	if err == nil {
		rest.factors = g.factors
	}
	return rest, err
}

// Stages returns the stages in order of id. The caller must not change Parents.
func (g *Graph) Stages() []api.ProfileStage { return slices.Clone(g.profile.Stages) }

// Stage returns the stage with the given id, if there is one.
func (g *Graph) Stage(id int) (api.ProfileStage, bool) {
	i, ok := g.index[id]
	if !ok {
		return api.ProfileStage{}, false
	}
	return g.profile.Stages[i], true
}

// Alone reports whether no stage of the graph can run beside the one with this id.
func (g *Graph) Alone(id int) bool {
	i, ok := g.index[id]
	return ok && g.alone[i]
}

// Overhead returns what the driver will take that no core can shorten, when the
// stages with the given ids are not ready yet: the largest sum of gaps along one
// path of them, the tail and the exit. The stages must include all that depend on one of
// them, which is so at any moment of a run; unknown ids are ignored.
func (g *Graph) Overhead(remaining []int) units.Seconds {
	var gaps units.Seconds
	for _, id := range remaining {
		if i, ok := g.index[id]; ok {
			gaps = max(gaps, g.gaps[i])
		}
	}
	return gaps + g.profile.Tail + g.profile.Exit
}

// Before returns the ids of the stages that the one with this id is ready after, but for the
// driver's gap; none for the first ones, and for unknown ones.
func (g *Graph) Before(id int) []int {
	i, ok := g.index[id]
	if !ok {
		return nil
	}
	ids := make([]int, 0, len(g.before[i]))
	for _, b := range g.before[i] {
		ids = append(ids, g.profile.Stages[b].ID)
	}
	return ids
}

// Precedes reports whether stage later can only be ready once stage earlier has ended:
// it is false of a stage and itself, and of unknown ones.
func (g *Graph) Precedes(earlier, later int) bool {
	from, known := g.index[earlier]
	to, ok := g.index[later]
	if !known || !ok || from >= to {
		return false
	}
	behind := make([]bool, to+1) // By place: whether it comes after from.
	behind[from] = true
	for i := from + 1; i <= to; i++ {
		behind[i] = slices.ContainsFunc(g.before[i], func(b int) bool { return behind[b] })
	}
	return behind[to]
}

// connect fills in the edges. A job's first stages depend on the last stages of
// the job before; all others follow from these.
func (g *Graph) connect() {
	stages := g.profile.Stages
	g.before, g.after = make([][]int, len(stages)), make([][]int, len(stages))
	var previous []int
	for first := 0; first < len(stages); {
		end := first + 1
		for end < len(stages) && stages[end].Job == stages[first].Job {
			end++
		}
		for i := first; i < end; i++ {
			g.connectStage(i, first, previous)
		}
		previous = g.leaves(first, end)
		first = end
	}
}

// connectStage adds the edges into stage i of the job whose first stage is at
// first; previous are the last stages of the job before.
func (g *Graph) connectStage(i, first int, previous []int) {
	inJob := false
	var before []int
	for _, parent := range g.profile.Stages[i].Parents {
		p := g.index[parent]
		before = append(before, p)
		inJob = inJob || p >= first
	}
	if !inJob {
		before = append(before, previous...)
	}
	slices.Sort(before)
	g.before[i] = slices.Compact(before)
	for _, p := range g.before[i] {
		g.after[p] = append(g.after[p], i)
	}
}

// leaves returns the stages of [first, end) that nothing depends on so far.
func (g *Graph) leaves(first, end int) []int {
	var leaves []int
	for i := first; i < end; i++ {
		if len(g.after[i]) == 0 {
			leaves = append(leaves, i)
		}
	}
	return leaves
}

func (g *Graph) sumGaps() {
	g.gaps = make([]units.Seconds, len(g.profile.Stages))
	for i := len(g.gaps) - 1; i >= 0; i-- {
		for _, next := range g.after[i] {
			g.gaps[i] = max(g.gaps[i], g.gaps[next])
		}
		g.gaps[i] += g.profile.Stages[i].Gap
	}
}

// findAlone fills in alone: a stage is alone if all others come before or after it.
func (g *Graph) findAlone() {
	n := len(g.profile.Stages)
	g.alone = make([]bool, n)
	related := make([]int, n)
	comes := make([][]bool, n) // comes[i][j]: stage j comes before stage i.
	for i := range n {
		comes[i] = make([]bool, n)
		for _, b := range g.before[i] {
			comes[i][b] = true
			for j, before := range comes[b] {
				comes[i][j] = comes[i][j] || before
			}
		}
		for j, before := range comes[i] {
			if before {
				related[i]++
				related[j]++
			}
		}
	}
	for i := range n {
		g.alone[i] = related[i] == n-1
	}
}

// work is the CPU time that Eq 6 expects of a stage, in core-seconds.
func work(s api.ProfileStage) float64 { return float64(s.Records) / float64(s.NominalRate) }

func checkTotals(p api.Profile) error {
	times, works := float64(p.Head+p.Tail+p.Exit+p.Duration), 0.0
	for _, s := range p.Stages {
		times += float64(s.Duration + s.Gap + s.LongestTask)
		works += work(s)
	}
	if times < longest && works < longest {
		return nil
	}
	return api.Errorf(api.KindInvalid, "profile %s: its times add up to %.3g s and its work to %.3g core-seconds, want less than %.0e",
		p.Name, times, works, longest)
}
