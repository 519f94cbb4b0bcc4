package supervisor

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// Config is what an operator chooses. Equations and tables are those of Baresi,
// Guinea, Leva, Quattrocchi, "Fine-grained Dynamic Resource Allocation for
// Big-Data Applications" (IEEE TSE), section 6.
type Config struct {
	// Strategy is one of Strategies, EDFPure by default.
	Strategy string `json:"strategy"`
	// Gamma is how much of what nobody asked for is given away (Eq 21), from 0,
	// the default, which saves it, to 1, which finishes early.
	Gamma float64 `json:"gamma"`
	// Eq21 is how that is read where all requests fit, one of Eq21Readings:
	// Eq21OnTop, which "" is too, or Eq21Printed.
	Eq21 string `json:"eq21,omitempty"`
	// Floor is the least that a stage with runnable tasks gets, in cores: 0.10
	// by default, so that its JVM keeps sending heartbeats. 0 is the paper's.
	Floor units.Cores `json:"floor_cores"`
	// FloorShare is the part of the capacity that those without a deadline that can be
	// kept have together, whatever the others ask for: 0.05 by default. 0 leaves them
	// their floors.
	FloorShare units.Fraction `json:"floor_share"`
	// Sharing are the rules of life beside others, nil for sharing.Default's.
	Sharing *sharing.Params `json:"sharing,omitempty"`
}

// Values of Config.Eq21: what ac of Eq 21 is where all requests fit.
const (
	// Eq21OnTop takes each request and what the strategy makes of the rest, up to
	// what can be used: nobody gets less than it asks for.
	Eq21OnTop = "on-top"
	// Eq21Printed takes what the strategy makes of the whole node, as in Table 1: EDFPure and EDFProp give no more than
	// requests, so that gamma means nothing under them. Speed may give less than a request.
	Eq21Printed = "printed"
)

// Eq21Readings are the values of Config.Eq21.
func Eq21Readings() []string { return []string{Eq21OnTop, Eq21Printed} }

// Default returns Pacer's configuration.
func Default() Config {
	return Config{Strategy: EDFPure, Eq21: Eq21OnTop, Floor: 0.10, FloorShare: 0.05}
}

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	var faults []error
	if _, known := findStrategy(c.Strategy); !known {
		faults = append(faults, fmt.Errorf("supervisor.strategy is %q, want one of %v", c.Strategy, Strategies()))
	}
	if !(c.Gamma >= 0 && c.Gamma <= 1) {
		faults = append(faults, fmt.Errorf("supervisor.gamma is %v, want 0 to 1", c.Gamma))
	}
	if c.Eq21 != "" && !slices.Contains(Eq21Readings(), c.Eq21) {
		faults = append(faults, fmt.Errorf("supervisor.eq21 is %q, want one of %v", c.Eq21, Eq21Readings()))
	}
	if !(c.FloorShare >= 0 && c.FloorShare < 1) {
		faults = append(faults, fmt.Errorf("supervisor.floor_share is %v, want 0 or more, below 1", float64(c.FloorShare)))
	}
	faults = append(faults, units.Finite("supervisor.floor_cores", c.Floor))
	return errors.Join(faults...)
}
