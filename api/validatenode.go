package api

import (
	"strings"
	"unicode"

	"github.com/sparkpacer/pacer/units"
)

// Validate reports every fault of s at once. It allocates nothing for one without:
// a planner checks thousands in a second.
func (s *NodeStatus) Validate() error {
	var f faults
	if err := s.head(&f); s.V != Version {
		return err
	}
	for i := range f.begin("executors", len(s.Executors), MostExecutors) {
		f.place = i
		s.Executors[i].look(&f)
	}
	for i := range f.begin("stages", len(s.Stages), MostStageReports) {
		f.place = i
		s.Stages[i].look(&f)
	}
	for i := range f.begin("faults", len(s.Faults), MostFaults) {
		f.place = i
		s.Faults[i].look(&f)
	}
	for i := range f.begin("losses", len(s.Losses), MostStageReports) {
		f.place = i
		s.Losses[i].look(&f)
	}
	for i := range f.begin("shortages", len(s.Shortages), MostStageReports) {
		f.place = i
		s.Shortages[i].look(&f)
	}
	for i := range f.begin("orphans", len(s.Orphans), MostExecutors) {
		f.place = i
		s.Orphans[i].look(&f)
	}
	f.out()
	return f.err("node status")
}

// Sift takes the parts out of s that have faults, in its own lists, and tells of them. With an error s as a whole is
// not to be taken.
func (s *NodeStatus) Sift() ([]PartFault, error) {
	if err := s.head(&faults{}); err != nil {
		return nil, err
	}
	f := faults{pass: sifts}
	s.parts(&f)
	return f.parts, nil
}

// Fit brings all that s says of applications within the bounds by which it is taken, in its own lists.
func (s *NodeStatus) Fit() {
	f := faults{pass: fits}
	within(&f, "others_cores", &s.Others, 0, MostCores)
	s.parts(&f)
	text := func(x *ExecutorStatus) int { return len(x.Exit) + len(x.Unpaced) }
	above(s.Executors, mostTexts, text, func(x *ExecutorStatus) {
		x.Exit, x.Unpaced = Clip(x.Exit, mostBrief), Clip(x.Unpaced, mostBrief)
	})
	ticks := func(x *StageStatus) int { return len(x.Samples) }
	above(s.Stages, mostTicks, ticks, func(x *StageStatus) { x.Samples = x.Samples[max(0, len(x.Samples)-1):] })
}

// head says what is wrong with what s says of the node.
func (s *NodeStatus) head(f *faults) error {
	if s.V != Version {
		return CheckVersion("node "+s.Node, s.V)
	}
	if !ValidNodeName(s.Node) {
		f.add("node name %q: want letters, digits, - and _", Clip(s.Node, MostToken))
	}
	if s.Incarnation == "" {
		f.add("incarnation is empty")
	}
	f.token("incarnation", s.Incarnation)
	f.text("release", s.Release, MostToken)
	f.token("planner", s.Planner)
	f.text("host", s.Host, mostHost)
	f.count("the number of hosts", len(s.Hosts), MostHosts)
	for _, host := range s.Hosts[:min(len(s.Hosts), MostHosts)] {
		f.text("a host", host, MostName)
	}
	f.text("machine", s.Machine, MostToken)
	f.number("seq", s.Seq)
	f.number("epoch", s.Epoch)
	f.positive("offered_cores", float64(s.Offered))
	f.positive("total_cores", float64(s.Total))
	f.between("offered_cores", float64(s.Offered), 0, MostCores)
	f.between("total_cores", float64(s.Total), 0, MostCores)
	within(f, "others_cores", &s.Others, 0, MostCores)
	f.size("memory_bytes", int64(s.Memory))
	for _, p := range [...]*units.Fraction{&s.Kernel.Pressure.CPU, &s.Kernel.Pressure.Memory, &s.Kernel.Pressure.IO} {
		within(f, "pressure", p, 0, 1)
	}
	short(f, "lacks", &s.Kernel.Lacks, MostText)
	f.size("disk_rate", int64(s.Rates.Disk))
	f.size("net_rate", int64(s.Rates.Network))
	f.size("disk_rate_seen", int64(s.Rates.DiskSeen))
	f.size("net_rate_seen", int64(s.Rates.NetworkSeen))
	s.Division.validate(f)
	return f.err("node status")
}

// parts sifts or fits what s says of applications.
func (s *NodeStatus) parts(f *faults) {
	s.Executors = walk(f, "executors", s.Executors, MostExecutors)
	s.Stages = walk(f, "stages", s.Stages, MostStageReports)
	s.Faults = walk(f, "faults", s.Faults, MostFaults)
	s.Losses = walk(f, "losses", s.Losses, MostStageReports)
	s.Shortages = walk(f, "shortages", s.Shortages, MostStageReports)
	s.Orphans = walk(f, "orphans", s.Orphans, MostExecutors)
}

func (x *AppFault) owner() AppID { return x.App }

func (x *AppFault) look(f *faults) {
	f.token("app", string(x.App))
	short(f, "reason", &x.Reason, MostName)
	if f.pass == fits {
		x.Reason = line(x.Reason)
	}
	f.check(x.Reason != "" && !strings.ContainsFunc(x.Reason, unicode.IsControl), "reason is empty or more than a line")
}

// line is s without what ends a line or moves a cursor.
func line(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

func (l *Loss) owner() AppID { return l.App }

func (l *Loss) look(f *faults) {
	f.token("app", string(l.App))
	f.token("to", string(l.To))
	within(f, "core_seconds", &l.CoreSeconds, 0, MostAmount)
}

func (l *Shortage) owner() AppID { return l.App }

func (l *Shortage) look(f *faults) {
	f.token("app", string(l.App))
	f.token("to", string(l.To))
	within(f, "asked_cores", &l.Asked, 0, MostCores)
	within(f, "had_cores", &l.Had, 0, MostCores)
}

func (o *Orphan) owner() AppID { return o.App }

func (o *Orphan) look(f *faults) {
	f.token("app", string(o.App))
	short(f, "owner", &o.Owner, MostToken)
}

func (d *Division) validate(f *faults) {
	f.text("strategy", d.Strategy, MostToken)
	f.text("eq21", d.Eq21, MostToken)
	f.bounded("gamma", d.Gamma)
}

func (x *ExecutorStatus) owner() AppID { return x.App }

func (x *ExecutorStatus) look(f *faults) {
	f.token("app", string(x.App))
	f.token("executor id", string(x.ID))
	short(f, "state", &x.State, MostToken)
	short(f, "exit", &x.Exit, MostText)
	within(f, "exit_code", &x.ExitCode, -MostCount, MostCount)
	within(f, "pid", &x.PID, 0, MostCount)
	within(f, "core_seconds", &x.CPU, 0, MostAmount)
	within(f, "throttled_s", &x.Throttled, 0, MostAmount)
	if x.Quota != Unknown {
		within(f, "quota_cores", &x.Quota, 0, MostCores)
	}
	within(f, "ceiling_cores", &x.Ceiling, 0, MostCores)
	short(f, "unpaced", &x.Unpaced, MostText)
	x.Memory.look(f)
}

func (m *ExecutorMemory) look(f *faults) {
	for _, size := range [...]*units.Bytes{&m.Heap, &m.OffHeap, &m.OffHeapUsed, &m.Owed, &m.Resident, &m.Cache, &m.Limit,
		&m.Spare, &m.Evicted, &m.Spilled} {
		within(f, "a size of its memory", size, 0, MostMoved)
	}
	within(f, "its memory pressure", &m.Pressure, 0, 1)
	within(f, "moves", &m.Moves, 0, MostCount)
	within(f, "moving_s", &m.Moving, 0, MostAmount)
}

func (s *StageStatus) owner() AppID { return s.App }

func (s *StageStatus) look(f *faults) {
	f.token("app", string(s.App))
	f.token("executor", string(s.Executor))
	s.StageKey.validate(f)
	within(f, "core_seconds", &s.CPU, 0, MostAmount)
	within(f, "progress", &s.Progress, 0, MostAmount)
	within(f, "finished", &s.Finished, 0, MostCount)
	within(f, "quota_changes", &s.QuotaChanges, 0, MostCount)
	within(f, "large_core_seconds", &s.LargeCPU, 0, MostAmount)
	within(f, "large_reading_core_seconds", &s.LargeReading, 0, MostAmount)
	s.Heap.look(f)
	if f.pass == fits {
		s.Samples = s.Samples[max(0, len(s.Samples)-MostSamples):]
	}
	f.count("the number of samples", len(s.Samples), MostSamples)
	for i := range s.Samples[:min(len(s.Samples), MostSamples)] {
		v := &s.Samples[i]
		const amount = "an amount of a sample"
		within(f, amount, &v.Age, -MostAmount, MostAmount)
		within(f, amount, &v.SetPoint, -MostAmount, MostAmount)
		within(f, amount, &v.Progress, -MostAmount, MostAmount)
		within(f, amount, &v.Request, -MostAmount, MostAmount)
		within(f, amount, &v.Used, -MostAmount, MostAmount)
		within(f, "grant_cores", &v.Grant, Unknown, MostCores)
		within(f, "running", &v.Running, 0, MostCount)
	}
}

// Validate reports every fault of p at once. A node itself says whether it can follow it.
func (p *Plan) Validate() error {
	var f faults
	if err := p.head(&f); p.V != Version {
		return err
	}
	for _, ids := range [...][]AppID{p.Over, p.Exiting} {
		for i := range ids {
			ids[i].look(&f)
		}
	}
	for i := range p.Apps {
		f.in("apps", i)
		p.Apps[i].look(&f)
	}
	f.out()
	return f.err("plan of node " + p.Node)
}

// Sift takes the parts out of p that have faults, in its own lists, and tells of them: applications, and ids that are
// none of those that are over. With an error p as a whole is not to be taken.
func (p *Plan) Sift() ([]PartFault, error) {
	if err := p.head(&faults{}); err != nil {
		return nil, err
	}
	f := faults{pass: sifts}
	p.parts(&f)
	return f.parts, nil
}

// Fit brings what p says of applications within the bounds by which a node takes it. An application that has a fault
// besides stays: the node says so.
func (p *Plan) Fit() {
	f := faults{pass: fits}
	targets, executors := map[AppID]int{}, map[AppID]int{}
	for i := range p.Apps {
		p.Apps[i].look(&f)
		targets[p.Apps[i].ID], executors[p.Apps[i].ID] = len(p.Apps[i].Stages), len(p.Apps[i].Executors)
	}
	most, held := Level(targets, MostStageReports), Level(executors, MostExecutors)
	for i := range p.Apps {
		p.Apps[i].Stages = p.Apps[i].Stages[:min(len(p.Apps[i].Stages), most)]
		p.Apps[i].Executors = p.Apps[i].Executors[:min(len(p.Apps[i].Executors), held)]
	}
}

// head says what is wrong with what p says of the planner and the node.
func (p *Plan) head(f *faults) error {
	if err := CheckVersion("the planner", p.V); err != nil {
		return err
	}
	f.number("epoch", p.Epoch)
	f.number("term", p.Term)
	f.token("planner", p.Planner)
	f.token("succeeds", p.Succeeds)
	f.token("lend", p.Lend.By)
	f.finite("lend.every_s", float64(p.Lend.Every))
	if p.Division != nil {
		p.Division.validate(f)
	}
	return f.err("plan of node " + p.Node)
}

// parts sifts what p says of applications. There is no bound on how many of them are over: each has to be told.
func (p *Plan) parts(f *faults) {
	p.Over = walk[AppID, *AppID](f, "over", p.Over, len(p.Over))
	p.Exiting = walk[AppID, *AppID](f, "exiting", p.Exiting, len(p.Exiting))
	p.Apps = walk(f, "apps", p.Apps, len(p.Apps))
}

func (id *AppID) owner() AppID { return *id }

func (id *AppID) look(f *faults) { f.token("over", string(*id)) }

func (a *PlanApp) owner() AppID { return a.ID }

func (a *PlanApp) look(f *faults) {
	f.token("id", string(a.ID))
	short(f, "name", &a.Name, MostName)
	short(f, "band", &a.Band, MostToken)
	within(f, "remaining_s", &a.Remaining, -MostAmount, MostAmount)
	within(f, "least_cores", &a.Least, 0, MostAmount)
	within(f, "cap_cores", &a.Cap, 0, MostAmount)
	within(f, "nominal_rate", &a.NominalRate, 0, MostAmount)
	if a.Launch != nil {
		a.Launch.validate(f)
	}
	if a.Component != nil {
		a.Component.validate(f)
	}
	for id, c := range a.Components {
		f.token("component", string(id))
		if c != nil {
			c.validate(f)
		}
	}
	if f.pass == fits {
		a.Executors = a.Executors[:min(len(a.Executors), MostExecutors)]
	}
	f.count("the number of executors", len(a.Executors), MostExecutors)
	for _, id := range a.Executors[:min(len(a.Executors), MostExecutors)] {
		f.token("executor id", string(id))
	}
	for _, ids := range [...]*[]ExecutorID{&a.Loans, &a.Taken} {
		if f.pass == fits {
			*ids = (*ids)[:min(len(*ids), MostExecutors)]
		}
		f.count("the number of lent executors", len(*ids), MostExecutors)
		for _, id := range (*ids)[:min(len(*ids), MostExecutors)] {
			f.token("lent executor id", string(id))
		}
	}
	f.count("the number of targets", len(a.Stages), MostStageReports)
}
