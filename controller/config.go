package controller

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// The names of the laws.
const (
	// LawPI is the paper's law, Eq 13-19, with the gains of Eq 17.
	LawPI = "pi"
	// LawPacer is Pacer's own law (see the package documentation).
	LawPacer = "pacer"
)

// Config holds what is the same for all stages. Equations are those of Baresi,
// Guinea, Leva, Quattrocchi, "Fine-grained Dynamic Resource Allocation for
// Big-Data Applications" (IEEE TSE).
type Config struct {
	// Law names the control law: LawPI or LawPacer.
	Law string `json:"law"`
	// Phi is where in the time allowed the set point reaches 1 (Fig 5): the
	// stage aims to end after Phi (Deadline - Start). In (0, 1]; 1 by default.
	Phi float64 `json:"phi"`
	// P is the plant's pole per Interval (Eq 8), in [0, 1). 0.3 by default, as
	// long as nobody has identified it: p = 0 makes the loop faster than a JVM.
	P float64 `json:"p"`
	// Eta is tau_C / tau_P, the distance between the controller's zero and the
	// plant's pole (Eq 16-17), greater than 1. 10 by default: a phase margin of
	// 55 degrees.
	Eta float64 `json:"eta"`
	// Interval is q, the nominal time between two steps. 500 ms by default.
	Interval time.Duration `json:"interval"`
	// K is the gain in cores for an error of 1, that is of the whole stage, as in the authors' code. The K of Eq 17, in
	// cores per per cent, is a hundredth of it. 0 takes Eq 17. Used by LawPI alone.
	K float64 `json:"k"`
	// Ti is the integral time; a = 1 - Interval/Ti. 0 takes Eq 17. Used by
	// LawPI alone.
	Ti time.Duration `json:"ti"`
}

// Default returns Pacer's configuration.
func Default() Config {
	return Config{Law: LawPacer, Phi: 1, P: 0.3, Eta: 10, Interval: 500 * time.Millisecond}
}

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("controller."+format, args...))
		}
	}
	_, known := newLaw(&c)
	check(known, "law is %q, want one of %v", c.Law, Laws())
	check(c.Phi > 0 && c.Phi <= 1, "phi is %v, want above 0, at most 1", c.Phi)
	check(c.P >= 0 && c.P < 1, "p is %v, want at least 0, below 1", c.P)
	check(c.Eta > 1 && !math.IsInf(c.Eta, 1), "eta is %v, want above 1", c.Eta)
	check(c.Interval > 0, "interval is %v, want above 0", c.Interval)
	check(c.K >= 0 && !math.IsInf(c.K, 1), "k is %v, want 0 (Eq 17) or above", c.K)
	check(c.Ti == 0 || c.Ti >= c.Interval, "ti is %v, want 0 (Eq 17) or at least the interval", c.Ti)
	return errors.Join(faults...)
}
