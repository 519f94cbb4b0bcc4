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
	// Serving is for how long it has served without a break.
	Serving units.Seconds `json:"serving_s"`
}

// Validate reports what cannot be true of p.
func (p *Presence) Validate() error {
	for what, text := range map[string]string{"planner": p.Planner, "process": p.Process, "host": p.Host} {
		if len(text) > MostName {
			return Errorf(KindInvalid, "%s of a planner: %d bytes, at most %d are taken", what, len(text), MostName)
		}
	}
	if p.Process == "" {
		return Errorf(KindInvalid, "a planner without a process")
	}
	if err := units.Finite("a planner's time of service", float64(p.Serving)); err != nil {
		return Errorf(KindInvalid, "%v", err)
	}
	return nil
}
