package api

import (
	"strings"
	"unicode"
)

// Validate reports every fault of s at once. It allocates nothing for one without:
// a planner checks thousands in a second.
func (s *NodeStatus) Validate() error {
	if s.V != Version {
		return CheckVersion("node "+s.Node, s.V)
	}
	var f faults
	if !ValidNodeName(s.Node) {
		f.add("node name %q: want letters, digits, - and _", Clip(s.Node, MostToken))
	}
	if s.Incarnation == "" {
		f.add("incarnation is empty")
	}
	f.token("incarnation", s.Incarnation)
	f.text("release", s.Release, MostToken)
	f.token("planner", s.Planner)
	f.text("host", s.Host, MostName)
	f.count("the number of hosts", len(s.Hosts), MostHosts)
	for _, host := range s.Hosts[:min(len(s.Hosts), MostHosts)] {
		f.text("a host", host, MostName)
	}
	f.number("seq", s.Seq)
	f.number("epoch", s.Epoch)
	f.positive("offered_cores", float64(s.Offered))
	f.positive("total_cores", float64(s.Total))
	f.between("offered_cores", float64(s.Offered), 0, MostCores)
	f.between("total_cores", float64(s.Total), 0, MostCores)
	f.between("others_cores", float64(s.Others), 0, MostCores)
	f.size("memory_bytes", int64(s.Memory))
	s.Division.validate(&f)
	f.count("the number of executors", len(s.Executors), MostExecutors)
	for i := range s.Executors[:min(len(s.Executors), MostExecutors)] {
		f.in("executors", i)
		s.Executors[i].validate(&f)
	}
	f.out()
	f.count("the number of stages", len(s.Stages), MostStageReports)
	for i := range s.Stages[:min(len(s.Stages), MostStageReports)] {
		f.in("stages", i)
		s.Stages[i].validate(&f)
	}
	f.out()
	f.count("the number of faults", len(s.Faults), MostFaults)
	for i := range s.Faults[:min(len(s.Faults), MostFaults)] {
		fault := &s.Faults[i]
		f.in("faults", i)
		f.token("app", string(fault.App))
		f.text("reason", fault.Reason, MostName)
		f.check(fault.Reason != "" && !strings.ContainsFunc(fault.Reason, unicode.IsControl),
			"reason is empty or more than a line")
	}
	f.out()
	f.count("the number of losses", len(s.Losses), MostStageReports)
	for i := range s.Losses[:min(len(s.Losses), MostStageReports)] {
		l := &s.Losses[i]
		f.in("losses", i)
		f.token("app", string(l.App))
		f.token("to", string(l.To))
		f.finite("core_seconds", float64(l.CoreSeconds))
	}
	f.out()
	f.count("the number of shortages", len(s.Shortages), MostStageReports)
	for i := range s.Shortages[:min(len(s.Shortages), MostStageReports)] {
		l := &s.Shortages[i]
		f.in("shortages", i)
		f.token("app", string(l.App))
		f.token("to", string(l.To))
		f.between("asked_cores", float64(l.Asked), 0, MostCores)
		f.between("had_cores", float64(l.Had), 0, MostCores)
	}
	f.out()
	f.count("the number of orphans", len(s.Orphans), MostExecutors)
	for i := range s.Orphans[:min(len(s.Orphans), MostExecutors)] {
		f.in("orphans", i)
		f.token("app", string(s.Orphans[i].App))
		f.text("owner", s.Orphans[i].Owner, MostToken)
	}
	f.out()
	return f.err("node status")
}

func (d *Division) validate(f *faults) {
	f.text("strategy", d.Strategy, MostToken)
	f.text("eq21", d.Eq21, MostToken)
	f.bounded("gamma", d.Gamma)
}

func (x *ExecutorStatus) validate(f *faults) {
	f.token("app", string(x.App))
	f.token("executor id", string(x.ID))
	f.text("state", string(x.State), MostToken)
	f.text("exit", x.Exit, MostText)
	f.between("exit_code", float64(x.ExitCode), -MostCount, MostCount)
	f.count("pid", x.PID, MostCount)
	f.finite("core_seconds", float64(x.CPU))
	f.finite("throttled_s", float64(x.Throttled))
	if x.Quota != Unknown {
		f.between("quota_cores", float64(x.Quota), 0, MostCores)
	}
	f.between("ceiling_cores", float64(x.Ceiling), 0, MostCores)
	f.text("unpaced", x.Unpaced, MostText)
	x.Memory.validate(f)
}

func (m *ExecutorMemory) validate(f *faults) {
	if min(m.Heap, m.OffHeap, m.OffHeapUsed, m.Owed, m.Resident, m.Cache, m.Limit, m.Evicted, m.Spilled) < 0 {
		f.add("a size of its memory is negative")
	}
	f.count("moves", m.Moves, MostCount)
	f.finite("moving_s", float64(m.Moving))
}

func (s *StageStatus) validate(f *faults) {
	f.token("app", string(s.App))
	f.token("executor", string(s.Executor))
	s.StageKey.validate(f)
	f.finite("core_seconds", float64(s.CPU))
	f.between("progress", float64(s.Progress), 0, MostAmount)
	f.count("finished", s.Finished, MostCount)
	f.count("quota_changes", s.QuotaChanges, MostCount)
	f.finite("large_core_seconds", float64(s.LargeCPU))
	f.finite("large_reading_core_seconds", float64(s.LargeReading))
	f.count("the number of samples", len(s.Samples), MostSamples)
	for i := range s.Samples[:min(len(s.Samples), MostSamples)] {
		v := &s.Samples[i]
		for _, amount := range [...]float64{float64(v.Age), float64(v.SetPoint), float64(v.Progress), float64(v.Request),
			float64(v.Used)} {
			f.bounded("an amount of a sample", amount)
		}
		f.between("grant_cores", float64(v.Grant), Unknown, MostCores)
		f.count("running", v.Running, MostCount)
	}
}

// tokens checks how many ids there are, and as many of them as there may be.
func tokens[ID ~string](f *faults, number, name string, ids []ID) {
	f.count(number, len(ids), MostExecutors)
	for _, id := range ids[:min(len(ids), MostExecutors)] {
		f.token(name, string(id))
	}
}

// Validate reports every fault of p at once. What it cannot say, whether a node can follow
// it, the node says.
func (p *Plan) Validate() error {
	if err := CheckVersion("the planner", p.V); err != nil {
		return err
	}
	var f faults
	f.number("epoch", p.Epoch)
	f.number("term", p.Term)
	f.token("planner", p.Planner)
	f.token("succeeds", p.Succeeds)
	tokens(&f, "the number of ended applications", "over", p.Over)
	tokens(&f, "the number of drivers that exit", "exiting", p.Exiting)
	if p.Division != nil {
		p.Division.validate(&f)
	}
	for i := range p.Apps {
		a := &p.Apps[i]
		f.in("apps", i)
		f.token("id", string(a.ID))
		f.text("name", a.Name, MostName)
		f.bounded("remaining_s", float64(a.Remaining))
		f.between("least_cores", float64(a.Least), 0, MostAmount)
		f.between("cap_cores", float64(a.Cap), 0, MostAmount)
		f.finite("nominal_rate", float64(a.NominalRate))
		if a.Launch != nil {
			a.Launch.validate(&f)
		}
		tokens(&f, "the number of executors", "executor id", a.Executors)
		f.count("the number of targets", len(a.Stages), MostStageReports)
	}
	f.out()
	return f.err("plan of node " + p.Node)
}
