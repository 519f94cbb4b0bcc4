package profiles

import (
	"fmt"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Beliefs of a stage before its runs have shown it: its work goes with its size, within powerDoubt, and differs by
// workDoubt from run to run, which counts as much as priorRuns runs.
const (
	powerDoubt = 0.6
	workDoubt  = 0.03
	priorRuns  = 3
	// growthAge is what a run counts for growth with each newer one.
	growthAge = 0.9
	// sureDoubt is the doubt below which a power counts: until then work goes with size.
	sureDoubt = 0.25
	mostPower = 2
)

// Work that differs from what is expected for its input by leastJump and by jumpSpreads of its usual spread is a
// jump, told while it is among the newest toldJump runs.
const (
	leastJump   = 1.3
	jumpSpreads = 3
	toldJump    = 20
)

// Grown is how many times its work a stage takes that reads size times as much.
func Grown(g api.Growth, size float64) float64 {
	if size == 1 || !(size > 0) || !sure(g) {
		return size
	}
	return math.Pow(size, g.Power)
}

func sure(g api.Growth) bool { return g.Runs > 1 && g.Doubt < sureDoubt }

// Scaled is p as its application is expected to be with by times the input, and by which part its work may well be
// another one (a standard deviation). Stages of which no runs of different size have shown how they grow may grow
// otherwise than their input. A stage that reads a source has more tasks, any other one larger ones.
func Scaled(p api.Profile, by float64) (scaled api.Profile, doubt units.Fraction) {
	if by == 1 || !(by > 0) {
		return p, 0
	}
	p.Stages, p.Variants = slices.Clone(p.Stages), slices.Clone(p.Variants)
	work := p.Work()
	for i := range p.Stages {
		s, g := &p.Stages[i], p.Habit.Stages[p.Stages[i].ID].Growth
		if !sure(g) {
			g.Doubt = powerDoubt
		}
		doubt += units.Fraction(s.CoreSeconds / work * units.Work(math.Abs(math.Log(by))*g.Doubt))
		more, gap, counted := Grown(g, by), s.Gap, !uncounted(s, p.Count(s.ID))
		longest := s.LongestTask * units.Seconds(more)
		if len(s.Parents) == 0 && s.Bytes > 0 {
			tasks := s.Tasks
			s.Tasks = min(api.MostCount, max(1, int(math.Ceil(float64(tasks)*by))))
			longest *= units.Seconds(float64(tasks) / float64(s.Tasks))
		}
		*s = s.Part(by)
		if !counted {
			s.Records = int64(s.Tasks) * int64(p.Count(s.ID))
		}
		s.CoreSeconds *= units.Work(more / by)
		s.Duration, s.Gap, s.LongestTask = s.Duration*units.Seconds(more/by), gap, longest
		s.NominalRate = rate(s.Records, s.CoreSeconds)
	}
	for i := range p.Variants {
		p.Variants[i], _ = Scaled(p.Variants[i], by)
	}
	p.Duration = replay(p)
	return p, doubt
}

// habit is what is known of the stage at that place besides what it takes. A stage that failed, was tried again, or
// warmed up executors teaches nothing of that.
func (at place) habit(old, run *api.Profile, w float64, t Terms) api.StageHabit {
	if at.run < 0 {
		return old.Habit.Stages[old.Stages[at.old].ID]
	}
	ran := run.Stages[at.run]
	seen := run.Habit.Stages[ran.ID]
	if at.old < 0 || old.Stages[at.old].Failed != ran.Failed {
		return seen
	}
	h := withOrigin(old.Habit.Stages[old.Stages[at.old].ID], seen, w)
	if t.tried(ran.ID) || ran.Failed || t.Cold[ran.ID] > 0 {
		return h
	}
	h.Collector = meanKnown(h.Collector, seen.Collector, w)
	h.Spilled = meanKnown(h.Spilled, seen.Spilled, w)
	h.PeakMemory = meanKnown(h.PeakMemory, seen.PeakMemory, w)
	h.Factor = meanKnown(h.Factor, seen.Factor, w)
	if workWeight(h.Sure, seen.Sure, w) != w { // Only one is measured.
		if seen.Sure == api.SureMeasured {
			h.Sure, h.Growth, h.Spread, h.Jump = api.SureMeasured, api.Growth{}, 0, api.Jump{}
		}
		return h
	}
	h.Sure = seen.Sure
	n := at.count(run)
	before := asMany(old, at.old, n)
	return learnGrowth(h, &before, &ran, float64(n), t.Day)
}

// withOrigin is h with what a run has told of where a stage's bytes came from; an older driver tells nothing.
func withOrigin(h, seen api.StageHabit, w float64) api.StageHabit {
	switch {
	case seen.BytesRemote == nil:
	case h.BytesRemote == nil:
		h.BytesRemote, h.BytesCached = seen.BytesRemote, seen.BytesCached
	default:
		h.BytesRemote = new(meanCount(*h.BytesRemote, *seen.BytesRemote, w))
		h.BytesCached = meanCount(h.BytesCached, seen.BytesCached, w)
	}
	return h
}

// withHabit is p with the habit of the stage of that id, where there is one.
func withHabit(p api.Profile, id int, h api.StageHabit) api.Profile {
	if h == (api.StageHabit{}) {
		return p
	}
	if p.Habit.Stages == nil {
		p.Habit.Stages = map[int]api.StageHabit{}
	}
	p.Habit.Stages[id] = h
	return p
}

// learnGrowth has h learn from a run of n stages, which took before until then, how their work grows with what they
// read, how far it spreads otherwise, and whether it has jumped.
func learnGrowth(h api.StageHabit, before, ran *api.ProfileStage, n float64, day string) api.StageHabit {
	by := ""
	switch {
	case before.Bytes > 0 && ran.Bytes > 0:
		by = "bytes"
	case !uncounted(before, int(n)) && !uncounted(ran, int(n)):
		by = "records"
	}
	point := func(s *api.ProfileStage) (size, work float64) {
		size = map[string]float64{"": 1, "bytes": float64(s.Bytes) / n, "records": float64(s.Records) / n}[by]
		return math.Log(size), math.Log(float64(s.CoreSeconds) / n)
	}
	g := h.Growth
	if g.Runs == 0 || g.By != by || g.Size == 0 && g.Work == 0 {
		g = api.Growth{By: by, Runs: 1, Power: 1, Doubt: powerDoubt}
		g.Size, g.Work = point(before)
		h.Jump = api.Jump{}
	}
	size, work := point(ran)
	off := work - g.Work - g.Power*(size-g.Size)
	most := max(math.Log(leastJump), jumpSpreads*math.Hypot(float64(h.Spread), g.Doubt*(size-g.Size)))
	switch j := &h.Jump; {
	case math.Abs(off) > most && g.Runs > 1 && (j.Runs != 1 || (j.Times > 1) != (off > 0)):
		*j = api.Jump{Times: min(math.Exp(off), api.MostAmount), Since: day, Runs: 1}
		h.Growth = g
		return h // One run may be an accident.
	case math.Abs(off) > most && g.Runs > 1:
		j.Times, j.Runs = min(math.Sqrt(j.Times*math.Exp(off)), api.MostAmount), 2
		g.Work += math.Log(j.Times) // Earlier work is as it would be now.
	case j.Runs == 1 || j.Runs > toldJump:
		*j = api.Jump{}
	case j.Runs > 0:
		j.Runs++
	}
	h.Growth, h.Spread = grow(g, size, work)
	return h
}

// grow is g with one more run, and by which part work spreads around it. It is a line through the logarithms of size
// and work (least squares, older runs counting less), drawn towards what is believed before.
func grow(g api.Growth, size, work float64) (api.Growth, units.Fraction) {
	all := growthAge*(1-math.Pow(growthAge, float64(g.Runs)))/(1-growthAge) + 1
	x, y := size-g.Size, work-g.Work
	g.Runs, g.Size, g.Work = g.Runs+1, g.Size+x/all, g.Work+y/all
	g.Sizes = growthAge*g.Sizes + x*(size-g.Size)
	g.Common = growthAge*g.Common + x*(work-g.Work)
	g.Works = growthAge*g.Works + y*(work-g.Work)
	spread, believed := workDoubt*workDoubt, 1/(powerDoubt*powerDoubt)
	for range 2 {
		sure := g.Sizes/spread + believed
		g.Power = min(max((g.Common/spread+believed)/sure, 0), mostPower)
		g.Doubt = 1 / math.Sqrt(sure)
		rest := max(0, g.Works-2*g.Power*g.Common+g.Power*g.Power*g.Sizes)
		spread = (priorRuns*workDoubt*workDoubt + rest) / (priorRuns + all - 1)
	}
	return g, units.Fraction(math.Sqrt(spread))
}

// Jumps says which stages of p take more or less than before without another input, by their ids.
func Jumps(p api.Profile) (said []string) {
	for i := range p.Stages {
		id := p.Stages[i].ID
		j := p.Habit.Stages[id].Jump
		if j.Runs == 0 {
			continue
		}
		text := fmt.Sprintf("stage %d takes %.1f times since %s", id, j.Times, j.Since)
		if j.Runs == 1 {
			text += ", seen once"
		}
		said = append(said, text)
	}
	return said
}
