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
	// nodes are the stages in the profile's order, and between two jobs a barrier. An
	// edge leads to a later node: the order is topological.
	nodes []node
	// index maps a stage's id to its node.
	index map[int]int
	// width is the largest number of stages that can run side by side, recorded that of the profile.
	width, recorded int
	// legs are in order, leg is by node which one it is of (findLegs).
	legs []leg
	leg  []int
	// factors scale what stages that ran side by side keep busy (recorded.go), by node.
	factors []float64
	// whole has by node what a stage occupies, with one executor and with more (occupied).
	whole [2][]float64
	// Sums are those of the profile.
	Sums Sums
}

// Sums are what a profile has in all.
type Sums struct {
	// Work is that of stages whose rate is known, Gaps what comes before these, Durations what all stages take with
	// their gaps.
	Work            units.Work
	Gaps, Durations units.Seconds
}

// node is a stage, or the barrier between two jobs: it waits for the last stages of a job, and
// the first ones of the next job wait for it. So a job of a thousand stages after
// another one has two thousand edges and not a million.
type node struct {
	// stage is nil for a barrier, place its place in the profile.
	stage *api.ProfileStage
	place int
	// before and after hold the direct edges, in order.
	before, after []int
	// gaps is the largest sum of gaps on a path that begins here.
	gaps units.Seconds
	// alone says that no stage can run beside this one.
	alone bool
}

// cut reports whether all other nodes come before or after n: the walk comes through it alone.
func (n *node) cut() bool { return n.stage == nil || n.alone }

// New builds the graph of p. It returns a KindInvalid error when p is not a
// valid profile or its times are beyond all reason. p may be changed afterwards.
func New(p api.Profile) (*Graph, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := checkSums(p); err != nil {
		return nil, err
	}
	g := &Graph{index: make(map[int]int, len(p.Stages))}
	g.connect(p.Stages)
	g.take(p)
	g.survey()
	g.legs, g.leg = findLegs(g.nodes)
	g.recorded = g.width
	g.measure()
	g.findFactors()
	return g, nil
}

// take has g hold the stages of p, which has those that g was made of.
func (g *Graph) take(p api.Profile) {
	g.profile = p
	g.profile.Stages = slices.Clone(p.Stages)
	for i := range g.nodes {
		if n := &g.nodes[i]; n.stage != nil {
			n.stage = &g.profile.Stages[n.place]
			n.stage.Parents = slices.Clone(n.stage.Parents)
		}
	}
	g.sumGaps()
	g.Sums = Sums{}
	for i := range g.profile.Stages {
		s := &g.profile.Stages[i]
		g.Sums.Durations += s.Gap + s.Duration
		if s.NominalRate > 0 {
			g.Sums.Work += units.Work(work(s))
			g.Sums.Gaps += s.Gap
		}
	}
}

// measure fills in whole.
func (g *Graph) measure() {
	for k := range g.whole {
		g.whole[k] = g.occupied(k == 0)
	}
}

// With is New for what is left of g's profile: a profile of the same stages, in g's order, with other
// sizes. Facts that g knows of stages that ran side by side hold for their rest.
func (g *Graph) With(p api.Profile) (*Graph, error) {
	if err := checkSums(p); err != nil {
		return nil, err
	}
	rest := *g
	rest.nodes = slices.Clone(g.nodes)
	rest.take(p)
	rest.measure()
	return &rest, nil
}

// Stages returns the stages in their order, which is that of id but for extra ones (Extra). The caller must
// not change Parents.
func (g *Graph) Stages() []api.ProfileStage { return slices.Clone(g.profile.Stages) }

// Stage returns the stage with the given id, if there is one.
func (g *Graph) Stage(id int) (api.ProfileStage, bool) {
	i, ok := g.index[id]
	if !ok {
		return api.ProfileStage{}, false
	}
	return *g.nodes[i].stage, true
}

// Alone reports whether no stage of the graph can run beside the one with this id.
func (g *Graph) Alone(id int) bool {
	i, ok := g.index[id]
	return ok && g.nodes[i].alone
}

// Overhead returns what the driver will take that no core can shorten, when the stages with the given ids are not ready
// yet. That is the largest sum of gaps along one path of them, the tail and the exit. The stages must include all that
// depend on one of them, which is so at any moment of a run; unknown ids are ignored.
func (g *Graph) Overhead(remaining []int) units.Seconds {
	var gaps units.Seconds
	for _, id := range remaining {
		if i, ok := g.index[id]; ok {
			gaps = max(gaps, g.nodes[i].gaps)
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
	var ids []int
	for _, b := range g.nodes[i].before {
		if s := g.nodes[b].stage; s != nil {
			ids = append(ids, s.ID)
			continue
		}
		for _, last := range g.nodes[b].before {
			ids = append(ids, g.nodes[last].stage.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// After reports of a stage whether it can only be ready once one of those has ended: it is false of a stage and itself,
// and of unknown ones. It takes one walk for all.
func (g *Graph) After(earlier []int) func(later int) bool {
	from, behind := make([]bool, len(g.nodes)), make([]bool, len(g.nodes)) // By node: whether it comes after one.
	for _, id := range earlier {
		if i, known := g.index[id]; known {
			from[i] = true
		}
	}
	for i := range g.nodes {
		behind[i] = slices.ContainsFunc(g.nodes[i].before, func(b int) bool { return from[b] || behind[b] })
	}
	return func(later int) bool {
		i, known := g.index[later]
		return known && behind[i]
	}
}

// connect makes the nodes of the stages, and their edges. A job's first stages depend on the
// last stages of the job before; all others follow from these.
func (g *Graph) connect(stages []api.ProfileStage) {
	for first := 0; first < len(stages); {
		barrier, begin := noNode, len(g.nodes)
		if first > 0 {
			barrier = g.add(node{}, g.last())
			begin++
		}
		end := first
		for ; end < len(stages) && stages[end].Job == stages[first].Job; end++ {
			g.addStage(&stages[end], end, begin, barrier)
		}
		first = end
	}
}

// noNode is no node's number.
const noNode = -1

// addStage makes the node of the stage at place of the job whose nodes begin at begin.
func (g *Graph) addStage(s *api.ProfileStage, place, begin, barrier int) {
	inJob := false
	var before []int
	for _, parent := range s.Parents {
		b := g.index[parent]
		before = append(before, b)
		inJob = inJob || b >= begin
	}
	if !inJob && barrier != noNode {
		before = append(before, barrier)
	}
	slices.Sort(before)
	g.index[s.ID] = g.add(node{stage: s, place: place}, slices.Compact(before))
}

// add makes a node that depends on those of before.
func (g *Graph) add(n node, before []int) int {
	i := len(g.nodes)
	n.before = before
	for _, b := range before {
		g.nodes[b].after = append(g.nodes[b].after, i)
	}
	g.nodes = append(g.nodes, n)
	return i
}

// last returns the stages of the newest job that nothing depends on so far.
func (g *Graph) last() (leaves []int) {
	for i := len(g.nodes) - 1; i >= 0 && g.nodes[i].stage != nil; i-- {
		if len(g.nodes[i].after) == 0 {
			leaves = append(leaves, i)
		}
	}
	slices.Reverse(leaves)
	return leaves
}

func (g *Graph) sumGaps() {
	for i := len(g.nodes) - 1; i >= 0; i-- {
		n := &g.nodes[i]
		n.gaps = 0
		for _, next := range n.after {
			n.gaps = max(n.gaps, g.nodes[next].gaps)
		}
		if n.stage != nil {
			n.gaps += n.stage.Gap
		}
	}
}

// work is the CPU time that Eq 6 expects of a stage, in core-seconds.
func work(s *api.ProfileStage) float64 { return float64(s.Records) / float64(s.NominalRate) }

// checkSums says that the times of a profile are beyond all reason, as a KindInvalid error.
func checkSums(p api.Profile) error {
	times, works := float64(p.Head+p.Tail+p.Exit+p.Duration), 0.0
	for i := range p.Stages {
		s := &p.Stages[i]
		times += float64(s.Duration + s.Gap + s.LongestTask)
		works += work(s)
	}
	if times < longest && works < longest {
		return nil
	}
	return api.Errorf(api.KindInvalid,
		"profile %s: its times add up to %.3g s and its work to %.3g core-seconds, want less than %.0e",
		p.Name, times, works, longest)
}
