package api

import "github.com/sparkpacer/pacer/units"

// PresenceRequest asks who serves as planner on the bus: everybody who does answers.
type PresenceRequest struct {
	V int `json:"v"`
}

// Presence is the answer of a planner that serves.
type Presence struct {
	V int `json:"v"`
	// Planner is the name of its store, Process new with each start, Host its machine.
	Planner string `json:"planner,omitempty"`
	Process string `json:"process"`
	Host    string `json:"host,omitempty"`
	// Term is how often a planner has started on that store.
	Term uint64 `json:"term,omitempty"`
	// Serving is for how long it has served without a break.
	Serving units.Seconds `json:"serving_s"`
}

// Validate reports every fault of p at once.
func (p *Presence) Validate() error {
	var f faults
	f.text("planner", p.Planner, MostName)
	f.text("process", p.Process, MostName)
	f.text("host", p.Host, MostName)
	f.check(p.Process != "", "process is empty")
	f.finite("serving_s", float64(p.Serving))
	return f.err("presence of a planner")
}
