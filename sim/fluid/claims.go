package fluid

import (
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim/experiment"
)

// Why the bands are what they are.
const (
	madeUp     = "half to double: the trace is made up, its load fitted to one case"
	threePoint = "3 points: as far as a trace's own load is from seed to seed"
	lower      = "lower, and not by an order of magnitude: the trace is made up"
	anyGain    = "not longer; how much shorter goes with the trace, which is made up"
	clearly    = "clearly shorter: the boxes of a figure have no numbers"
	asMany     = "what the source has, or more"
	halfGain   = `half of it: the text has "more than 20 %" and "up to 20 %"`
	thirdOfIt  = "a third: the text has orders of magnitude"
)

// Why claims differ.
const (
	shortLine = "under SJF hardly any line grows at a load at which malleable with FIFO saturates, so that each rule " +
		"grants nearly all that comes"
	longLine = "80,000 applications of these sizes are years of this cluster, where theirs are three months: a line " +
		"that it cannot serve grows as long, and by what a rule wastes"
	smallFew = "under SJF the median job is a short one, which waits little under any rule at any load"
)

// paceClaims tries the figures of the source's section 3.3, but for those that the trace is fitted to, and those
// that it has in pictures alone.
func paceClaims(o experiment.Options) ([]experiment.Claim, error) {
	t, err := RunPace(o)
	if err != nil {
		return nil, err
	}
	return slices.Concat(cellClaims(t.Cells.([]Cell)), experiment.Claims(t.Figures)), nil
}

// cellClaims are those of Table 3.1 that are of one case.
func cellClaims(cells []Cell) (all []experiment.Claim) {
	for _, c := range cells {
		if c.Source == nil {
			continue
		}
		try := func(measure string, theirs float64, band experiment.Band, why string, of func(Run) float64) {
			all = append(all, experiment.Claim{Table: "Table 3.1", Case: c.Case, Measure: measure, Theirs: theirs, Band: band,
				Why: why}.Tried(experiment.Each(c.Runs, of)))
		}
		s := *c.Source
		try("mean turnaround, s", s[0], experiment.Within(s[0]/2, s[0]*2, madeUp), longLine, turnaround)
		if c.Case != assign.FIFO+" "+assign.Malleable { // Its load is fitted.
			try("cores granted, %", s[1], experiment.Around(s[1], 3, threePoint), shortLine, cores)
			try("memory granted, %", s[2], experiment.Around(s[2], 3, threePoint), shortLine, memory)
		}
	}
	return all
}

// claimOf is what is claimed of a measure, nothing of one that is fitted.
func claimOf(measure string) experiment.Claim {
	least := experiment.AtLeast
	for _, b := range []struct {
		measure, table string
		band           experiment.Band
		why            string
	}{
		{"fifo.flexible_malleable.mean_ratio", "Table 3.1", experiment.Within(0.7, 0.97, lower), longLine},
		{"fifo.flexible_malleable.cpu_points", "Table 3.1", least(2, asMany), shortLine},
		{"fifo.flexible_malleable.memory_points", "Table 3.1", least(2, asMany), shortLine},
		{"sjf.flexible_malleable.mean_ratio", "Table 3.1", experiment.Within(0.7, 1, anyGain), longLine},
		{"sjf.flexible_malleable.cpu_points", "Table 3.1", least(6, asMany), shortLine},
		{"sjf.flexible_malleable.memory_points", "Table 3.1", least(6, asMany), shortLine},
		{"fifo.flexible_rigid.median_ratio", "Fig 3.3", experiment.AtMost(0.8, clearly), ""},
		{"sjf.flexible_rigid.median_ratio", "Fig 3.3", experiment.AtMost(0.8, clearly), smallFew},
		{"fifo_sjf.pending_ratio", "Fig 3.4", least(3, thirdOfIt), ""},
		{"fifo.flexible_rigid.cpu_ratio", "Fig 3.5", least(1.1, halfGain), shortLine},
		{"fifo.flexible_rigid.memory_ratio", "Fig 3.5", least(1.1, halfGain), shortLine},
		{"sjf.flexible_rigid.cpu_ratio", "Fig 3.5", least(1.1, halfGain), shortLine},
		{"sjf.flexible_rigid.memory_ratio", "Fig 3.5", least(1.1, halfGain), shortLine},
		{"preempted.wait_ratio", "Fig 3.9", least(30, thirdOfIt), ""},
	} {
		if b.measure == measure {
			name := strings.NewReplacer(".", " ", "_", " / ").Replace(measure[:strings.LastIndexByte(measure, '.')])
			return experiment.Claim{Table: b.table, Case: name, Band: b.band, Why: b.why}
		}
	}
	return experiment.Claim{}
}
