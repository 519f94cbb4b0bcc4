package supervisor

import (
	"errors"
	"fmt"
	"math"

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
	// Floor is the least that a stage with runnable tasks gets, in cores: 0.10
	// by default, so that its JVM keeps sending heartbeats. 0 is the paper's.
	Floor units.Cores `json:"floor_cores"`
	// Quantum is the least change worth an action (see Supervisor.Acts), in
	// cores: cq of the paper, 0.05 by default. Grants are not rounded to it.
	Quantum units.Cores `json:"quantum_cores"`
}

// Default returns Pacer's configuration.
func Default() Config {
	return Config{Strategy: EDFPure, Floor: 0.10, Quantum: 0.05}
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
	for _, field := range []struct {
		name  string
		value units.Cores
	}{{"floor_cores", c.Floor}, {"quantum_cores", c.Quantum}} {
		if v := float64(field.value); math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			faults = append(faults, fmt.Errorf("supervisor.%s is %v, want a finite number >= 0", field.name, v))
		}
	}
	return errors.Join(faults...)
}
