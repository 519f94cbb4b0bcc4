package api

import "github.com/sparkpacer/pacer/units"

// SessionPart goes with EventPartBegan and EventPartOver: jobs of a session that have a deadline of their own. At is
// when the part began or was over, on the session's deadline clock. Name and Deadline, which counts from there, are
// told at its beginning.
type SessionPart struct {
	At       units.Seconds `json:"at_s"`
	Name     string        `json:"name,omitempty"`
	Deadline units.Seconds `json:"deadline_s,omitempty"`
	ByMoment bool          `json:"by_moment,omitempty"`
}

func (p *SessionPart) validate(f *faults, begins bool) {
	f.finite("part.at_s", float64(p.At))
	f.text("part.name", p.Name, MostName)
	f.finite("part.deadline_s", float64(p.Deadline))
	f.check(!begins || p.Name != "" && p.Deadline > 0, "a part without a name or a deadline")
}
