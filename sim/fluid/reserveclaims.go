package fluid

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim/experiment"
)

// Why claims of the rules that reserve differ.
const (
	growing = "fair shares complete what they have begun, so that no unit is free when a short job comes; where they do " +
		"not (frozen) pythia keeps 2.7 and 1.7 times as many"
	bursting = "jobs of thousands of tasks that come in bursts fill this cluster, too; without bursts (Poisson) 4 and 3 " +
		"points; the source's jobs never used more than 9,345 CPUs at once"
)

// oneTask and lighter are why claims of section 5.4, and of waste, differ.
const (
	oneTask = "most jobs have one task, for which the printed corrector's error is at most 0, so that the fraction " +
		"sinks to the least rate that was learnt"
	lighter = "not known; jobs of more than 1,000 tasks come in bursts, which leave the cluster empty in between"
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
		half   = "half of it to one and a half: the trace is made up"
		alike  = "twice as far as the source's 5 %"
		gain   = "half of the gain, or more: the trace is made up"
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
		{"pythia_reactive.sdr_ratio.most.2250", "4.4.2", new(1.4), new(4.2), half, growing},
		{"pythia_reactive.sdr_ratio.most.4500", "4.4.2", new(1.0), new(2.4), half, growing},
		{"pythia_reactive.ptr_ratio", "4.4.1", new(1.0), new(2.9), half, ""},
		{"fs.sdr", "4.4.1", new(0.1), new(0.3), half, growing},
		{"fs.ptr", "4.4.1", nil, new(0.02), "theirs is near 0", ""},
		{"fs.waste.4500", "4.4.2", new(0.84), new(0.93), "the source's own range", lighter},
		{"reactive.waste.4500", "4.4.2", new(0.12), new(0.3), "the source's own range", lighter},
		{"justice_reactive.ptr_ratio.most.2250", "5.4.3", new(1.6), new(4.8), half, oneTask},
		{"justice_oracle.ptr_ratio.least.2250", "5.4.3", new(0.5), nil, "half as far again as theirs", oneTask},
		{"justice_reactive.wtr_ratio.least.2250", "5.4.3", nil, new(0.1), "theirs is near 0", oneTask},
		{"justice_fs.ptr_ratio.aria2x4x.4500", "5.4.3", new(1.2), new(3.7), half, oneTask},
		{"justice_fs.ptr_ratio.fixed1x.4500", "5.4.3", new(5.1), new(15.4), half, oneTask},
		{"justice_reactive.ptr_ratio.steady.4500", "5.4.3", new(1.0), new(2.6), half, oneTask},
		{"justice_reactive.ptr_ratio.jockey1x2x.4500", "5.4.3", new(0.43), new(1.3), half, oneTask},
		{"justice_reactive.ptr_ratio.aria1x3x.4500", "5.4.3", new(0.28), new(0.84), half, oneTask},
		{"justice_oracle.sdr_ratio.least.2250", "5.4.2", new(0.9), nil, alike, oneTask},
		{"justice_oracle.sdr_ratio.least.4500", "5.4.2", new(0.9), nil, alike, oneTask},
		{"justice_fs.equality_ratio.most.2250", "5.4.1", new(1.11), nil, gain, ""},
		{"justice_fs.equality_ratio.most.4500", "5.4.1", new(1.08), nil, gain, ""},
	}
}

// inCells are the comparisons that the text of the source has beside those of its headings.
func inCells() (all []comparison) {
	every, two, steady := GeneratorNames(), []string{"fixed2x"}, []string{"fixed1x", "fixed2x", "90loose"}
	least, most, mean := slices.Min[[]float64], slices.Max[[]float64], experiment.Mean[float64]
	add := func(name, says, unit string, source float64, cpus int, generators []string, over func([]float64) float64,
		of func(a, b ReserveRun) float64, first, second string) {
		says = fmt.Sprintf("%s, %d", says, cpus)
		all = append(all, comparison{name, says, unit, source, cpus, generators, over, of, first, second, true})
	}
	sdr := func(a, b ReserveRun) float64 { return a.SDR / b.SDR }
	ptr := func(a, b ReserveRun) float64 { return a.PTR / max(b.PTR, 0.001) } // It may be 0.
	wtr := func(a, b ReserveRun) float64 { return a.WTR / max(b.WTR, 0.001) }
	equality := func(a, b ReserveRun) float64 { return a.Equality / b.Equality }
	const met, work, ratio, greatest = "deadlines met", "productive time", "ratio", ", greatest"
	pythia, justice, oracle, fs, reactive := assign.Pythia, assign.Justice, assign.Oracle, assign.FS, assign.FSReactive
	add("pythia_reactive.sdr_ratio.most.2250", met+greatest, ratio, 2.77, 2250, varied, most, sdr, pythia, reactive)
	add("pythia_reactive.sdr_ratio.most.4500", met+greatest, ratio, 1.58, 4500, varied, most, sdr, pythia, reactive)
	add("pythia_reactive.ptr_ratio", work+", fixed2x", ratio, 1.93, 2250, two, mean, ptr, pythia, reactive)
	add("fs.sdr", met+", fixed2x", "part", 0.2, 2250, two, mean, func(a, _ ReserveRun) float64 { return a.SDR }, fs, fs)
	add("fs.ptr", work+", fixed2x", "part", 0, 2250, two, mean, func(a, _ ReserveRun) float64 { return a.PTR }, fs, fs)
	for _, rule := range []string{fs, reactive} {
		add(strings.TrimPrefix(rule, "fs-")+".waste.4500", "WTR where deadlines vary", "part",
			map[string]float64{fs: 0.885, reactive: 0.21}[rule], 4500, varied, mean,
			func(a, _ ReserveRun) float64 { return a.WTR }, rule, rule)
	}
	add("justice_reactive.ptr_ratio.most.2250", work+greatest, ratio, 3.21, 2250, every, most, ptr, justice, reactive)
	add("justice_oracle.ptr_ratio.least.2250", work+", least", ratio, 0.67, 2250, every, least, ptr, justice, oracle)
	add("justice_reactive.wtr_ratio.least.2250", "work wasted, least", ratio, 0, 2250, every, least, wtr, justice,
		reactive)
	for name, source := range map[string]float64{"aria2x4x": 2.46, "fixed1x": 10.26} {
		add("justice_fs.ptr_ratio."+name+".4500", work+", "+name, ratio, source, 4500, []string{name}, mean, ptr, justice, fs)
	}
	add("justice_reactive.ptr_ratio.steady.4500", work+" of fixed and 90loose, greatest", ratio, 1.72, 4500, steady, most,
		ptr, justice, reactive)
	for name, source := range map[string]float64{"jockey1x2x": 0.86, "aria1x3x": 0.56} {
		add("justice_reactive.ptr_ratio."+name+".4500", work+", "+name, ratio, source, 4500, []string{name}, mean, ptr,
			justice, reactive)
	}
	for name, first := range map[string]string{"": justice, ".without_one_task": justice + several} {
		add("justice_oracle.ptr_ratio"+name, work+", aria2x4x", ratio, 0, 2250, []string{"aria2x4x"}, mean, ptr, first,
			oracle)
	}
	for i, cpus := range []int{2250, 4500} {
		add(fmt.Sprintf("justice_oracle.sdr_ratio.least.%d", cpus), met+", least", ratio, 1, cpus, every, least, sdr, justice,
			oracle)
		add(fmt.Sprintf("justice_fs.equality_ratio.most.%d", cpus), "equality"+greatest, ratio, []float64{1.23, 1.17}[i],
			cpus, every, most, equality, justice, fs)
	}
	slices.SortStableFunc(all, func(a, b comparison) int { return strings.Compare(a.name, b.name) })
	return all
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
