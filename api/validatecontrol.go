package api

import "math"

// Validate reports every fault of r at once that is one whatever its verb.
func (r *ControlRequest) Validate() error {
	if err := CheckVersion("the client", r.V); err != nil {
		return err
	}
	var f faults
	f.token("app", string(r.App))
	f.text("profile", r.Profile, MostName)
	f.text("owner", r.Owner, MostName)
	f.text("node", r.Node, MostToken)
	f.text("submission", r.Submission, MostToken)
	f.bounded("extend_s", float64(r.Extend))
	f.bounded("deadline_s", float64(r.Deadline))
	f.between("cap_cores", float64(r.Cap), 0, MostCores)
	f.between("exit_code", float64(r.ExitCode), -MostCount, MostCount)
	f.bounded("elapsed_s", float64(r.Elapsed))
	f.bounded("suspended_s", float64(r.Suspended))
	if b := r.Backup; b != nil {
		f.token("backup", b.ID)
		f.size("offset of the backup", b.Offset)
	}
	f.text("login", r.Login, MostToken)
	if p := r.Page; p != nil {
		f.text("page", p.After, 2*MostName+1) // A profile's name and owner.
		f.count("most", p.Most, MostCount)
	}
	if q := r.Query; q != nil {
		q.validate(&f)
	}
	if d := r.Division; d != nil {
		d.validate(&f)
	}
	if p := r.Policy; p != nil {
		p.validate(&f)
	}
	if s := r.Step; s != nil {
		for _, amount := range [...]float64{s.Low, s.High, float64(s.Each), float64(s.At)} {
			f.bounded("an amount of the step", amount)
		}
		f.between("stage", float64(s.Stage), Unknown, MostCount)
	}
	return f.err("request")
}

// Validate reports every fault of r at once, but not those of its Body.
func (r *PlanRequest) Validate() error {
	if err := CheckVersion("the client", r.V); err != nil {
		return err
	}
	var f faults
	f.text("profile", r.Profile, MostName)
	f.finite("deadline_s", float64(r.Deadline))
	f.between("cores", float64(r.Cores), 0, MostCores)
	f.check(r.Certainty == 0 || ValidCertainty(r.Certainty), "certainty is %v, want %v to %v", float64(r.Certainty),
		float64(LeastCertainty), float64(MostCertainty))
	return f.err("plan request")
}

// Validate reports every fault of r at once.
func (r *LogRequest) Validate() error {
	if err := CheckVersion("the client", r.V); err != nil {
		return err
	}
	var f faults
	f.token("app", string(r.App))
	f.token("executor", string(r.Executor))
	f.check(r.Stream == "stdout" || r.Stream == "stderr", "stream is %q, want stdout or stderr", Clip(r.Stream, MostToken))
	f.check(r.Offset >= 0 && r.Offset < math.MaxInt64-MostMemory, "offset is %d", r.Offset)
	return f.err("log request")
}
