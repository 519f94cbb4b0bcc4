package controller

import "github.com/sparkpacer/pacer/units"

// law is one control law. It keeps nothing itself: all that changes is in the
// State, so that a law can be changed and a State be restored at any time.
type law interface {
	// request returns the cores wanted, before any clamp; v.err is e(k). It is
	// called with what the step before left in the State.
	request(s *State, v view) units.Cores
	// sync makes the State consistent with c cores in force (Eq 19); start says
	// that a target begins, otherwise c is a grant that differs from a request.
	sync(s *State, c units.Cores, start bool)
}

// view is one step's input in the units of the equations.
type view struct {
	Input
	// interval is q, dt the time since the step before, left the time until the
	// set point reaches 1, all in seconds.
	interval, dt, left float64
	// setPoint is a0 as a fraction, err is a0% - a% in per cent.
	setPoint, err float64
}

// lawTable is where a new law is entered.
func lawTable(cfg *Config) []struct {
	name string
	law  law
} {
	return []struct {
		name string
		law  law
	}{
		{LawPI, &pi{cfg}},
		{LawPacer, &pacer{cfg}},
	}
}

// newLaw returns the law that cfg names.
func newLaw(cfg *Config) (law, bool) {
	for _, entry := range lawTable(cfg) {
		if entry.name == cfg.Law {
			return entry.law, true
		}
	}
	return nil, false
}

// Laws returns the names of the laws that are built.
func Laws() []string {
	var names []string
	for _, entry := range lawTable(&Config{}) {
		names = append(names, entry.name)
	}
	return names
}
