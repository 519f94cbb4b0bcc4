package fluid

import (
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim/claim"
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
	openLine = "while the line does not grow any rule grants the load that comes; in theirs thousands wait, and what " +
		"a rule wastes is lost: so it is here at a load of 1, where flexible grants 2 points more under FIFO, and 10 more " +
		"than rigid"
	fewLong  = "near saturation the line hangs on a few long applications, whose number differs from seed to seed"
	smallFew = "under SJF the median job is a short one, which waits little under any rule at any load"
	fewLine  = "lines are shorter here at the load that 75 % is granted of; under FIFO as long as theirs at a load of 0.85"
)

// Claims tries the figures of the source's section 3.3 on so many traces, until stop is closed. What is fitted to the
// source is none, nor is what it has in pictures alone.
func Claims(seeds int, stop <-chan struct{}) ([]claim.Claim, error) {
	t, err := RunPace(Options{Seeds: seeds, Stop: stop})
	if err != nil {
		return nil, err
	}
	return t.claims(), nil
}

// claims are those of a whole table.
func (t Table) claims() (all []claim.Claim) {
	try := func(table, name, measure string, theirs float64, band claim.Band, why string, values []float64) {
		c := claim.Claim{Table: table, Case: name, Measure: measure, Theirs: theirs, Band: band, Why: why}
		all = append(all, c.Tried(values))
	}
	between := func(least, most float64, reason string) claim.Band {
		return claim.Band{Least: &least, Most: &most, Reason: reason}
	}
	least := func(least float64, reason string) claim.Band { return claim.Band{Least: &least, Reason: reason} }
	most := func(most float64, reason string) claim.Band { return claim.Band{Most: &most, Reason: reason} }
	for _, c := range t.Cells {
		if c.Source == nil {
			continue
		}
		s := *c.Source
		try("Table 3.1", c.Case, "mean turnaround, s", s[0], between(s[0]/2, s[0]*2, madeUp), fewLine, c.each(turnaround))
		if c.Case != assign.FIFO+" "+assign.Malleable { // Its load is fitted.
			try("Table 3.1", c.Case, "cores granted, %", s[1], between(s[1]-3, s[1]+3, threePoint), openLine, c.each(cores))
			try("Table 3.1", c.Case, "memory granted, %", s[2], between(s[2]-3, s[2]+3, threePoint), openLine, c.each(memory))
		}
	}
	for _, b := range []struct {
		measure, table string
		band           claim.Band
		why            string
	}{
		{"fifo.flexible_malleable.mean_ratio", "Table 3.1", between(0.7, 0.97, lower), fewLong},
		{"fifo.flexible_malleable.cpu_points", "Table 3.1", least(2, asMany), openLine},
		{"fifo.flexible_malleable.memory_points", "Table 3.1", least(2, asMany), openLine},
		{"sjf.flexible_malleable.mean_ratio", "Table 3.1", between(0.7, 1, anyGain), fewLong},
		{"sjf.flexible_malleable.cpu_points", "Table 3.1", least(6, asMany), openLine},
		{"sjf.flexible_malleable.memory_points", "Table 3.1", least(6, asMany), openLine},
		{"fifo.flexible_rigid.median_ratio", "Fig 3.3", most(0.8, clearly), ""},
		{"sjf.flexible_rigid.median_ratio", "Fig 3.3", most(0.8, clearly), smallFew},
		{"fifo_sjf.pending_ratio", "Fig 3.4", least(3, thirdOfIt), ""},
		{"fifo.flexible_rigid.cpu_ratio", "Fig 3.5", least(1.1, halfGain), openLine},
		{"fifo.flexible_rigid.memory_ratio", "Fig 3.5", least(1.1, halfGain), openLine},
		{"sjf.flexible_rigid.cpu_ratio", "Fig 3.5", least(1.1, halfGain), openLine},
		{"sjf.flexible_rigid.memory_ratio", "Fig 3.5", least(1.1, halfGain), openLine},
		{"preempted.wait_ratio", "Fig 3.9", least(30, thirdOfIt), ""},
	} {
		m := t.Measures[slices.IndexFunc(t.Measures, func(m Measure) bool { return m.Name == b.measure })]
		name := strings.NewReplacer(".", " ", "_", " / ").Replace(m.Name[:strings.LastIndexByte(m.Name, '.')])
		try(b.table, name, m.Says+", "+m.Unit, m.Source, b.band, b.why, m.Values)
	}
	return all
}

// each is a figure of each run.
func (c Cell) each(of func(Run) float64) (values []float64) {
	for _, r := range c.Runs {
		values = append(values, of(r))
	}
	return values
}
