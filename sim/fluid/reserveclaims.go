package fluid

import (
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/sim/experiment"
)

// Why claims of the rules that reserve differ.
const (
	growing = "fair shares complete what they have begun, so that no unit is free when a short job comes; where they do " +
		"not (frozen) pythia keeps 2.7 and 1.7 times as many"
	bursting = "jobs of thousands of tasks that come in bursts fill this cluster, too; without bursts (Poisson) 4 and 3 " +
		"points; the source's jobs never used more than 9,345 CPUs at once"
)

// tried is a comparison that is a claim: where the source has it, and from where to where ours may be.
type tried struct {
	name, section string
	least, most   *float64
	reason, why   string
}

// reserveClaims are those of sections 4.4 and 5.4. Readings that are compared with theirs are none.
func reserveClaims() []tried {
	const (
		around = "about half to one and a half: the trace is made up"
		more   = "clearly more: the trace is made up"
	)
	return []tried{
		{"pythia_fs.sdr_ratio", "4.4.1", new(2.0), new(6.0), around, growing},
		{"pythia_reactive.sdr_ratio", "4.4.1", new(1.5), new(3.5), around, growing},
		{"pythia_oracle.sdr_ratio.least", "4.4.2", new(0.9), nil, "twice as far as theirs, which is 5 %", ""},
		{"fs.waste", "4.4.2", new(0.84), nil, "the least that the source has, on 4,500 CPUs", ""},
		{"reactive.waste", "4.4.2", new(0.1), new(0.5), "of the order of theirs, 0.24 to 0.30: the trace is made up", ""},
		{"pythia.waste", "4.4.2", nil, new(0.02), "theirs is near 0", ""},
		{"justice_fs.sdr_ratio.least", "5.4.2", new(1.5), nil, more, ""},
		{"justice_reactive.sdr_ratio.least", "5.4.2", new(1.2), nil, more, ""},
		{"justice_reactive.sdr_ratio.jockey1x2x.4500", "5.4.3", new(1.0), nil, "more: the trace is made up", ""},
		{"justice_reactive.sdr_ratio.aria1x3x.4500", "5.4.3", new(1.0), nil, "more: the trace is made up", ""},
		{"justice_fs.fairer", "5.4.1", new(7.0), nil, "in all", ""},
		{"justice_reactive.fairer", "5.4.1", new(5.0), nil, "in most: the source's intervals overlap", ""},
		{"oracle_pythia.sdr_points.15000", "4.4", nil, new(3.0), "alike: within 3 points", ""},
		{"oracle_fs.sdr_points.15000", "4.4", nil, new(3.0), "alike: within 3 points", bursting},
		{"oracle_reactive.sdr_points.15000", "4.4", nil, new(3.0), "alike: within 3 points", bursting},
	}
}

// reserveClaimed tries the figures of the source of the rules that reserve.
func reserveClaimed(o experiment.Options) ([]experiment.Claim, error) {
	wanted := slices.DeleteFunc(reserveCells(clusters(o)), func(c ReserveCell) bool { return !c.claimed() })
	cells, err := TR1.cells(o, wanted)
	if err != nil {
		return nil, err
	}
	return experiment.Claims(compared(cells)), nil
}

// claimed reports whether a claim needs the cell.
func (c ReserveCell) claimed() bool {
	return slices.ContainsFunc(comparisons(), func(m comparison) bool {
		return slices.ContainsFunc(reserveClaims(), func(t tried) bool { return t.name == m.name }) && c.CPUs == m.cpus &&
			slices.Contains(m.generators, c.Generator) && (c.Rule == m.first || c.Rule == m.second)
	})
}

// claim is what is claimed of a comparison, where that is one of reserveClaims.
func (c comparison) claim() experiment.Claim {
	claim := experiment.Claim{Measure: c.says + ", " + c.unit, Theirs: c.source}
	for _, t := range reserveClaims() {
		if t.name == c.name {
			name, _, _ := strings.Cut(c.name, ".")
			claim.Table, claim.Case, claim.Why = "Section "+t.section, strings.Replace(name, "_", " / ", 1), t.why
			claim.Band = experiment.Band{Least: t.least, Most: t.most, Reason: t.reason}
		}
	}
	return claim
}
