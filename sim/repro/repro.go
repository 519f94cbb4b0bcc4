package repro

import (
	"errors"
	"slices"

	"github.com/sparkpacer/pacer/sim/claim"
	"github.com/sparkpacer/pacer/sim/fluid"
	"github.com/sparkpacer/pacer/sim/paper"
	"github.com/sparkpacer/pacer/sim/zoe"
)

// Source is a publication, by its number; Claims tries what it says, each case with so many seeds,
// until stop is closed.
type Source struct {
	Name, Title string
	Claims      func(seeds int, stop <-chan struct{}) ([]claim.Claim, error)
}

// Sources are those whose claims are tried.
func Sources() []Source {
	return []Source{
		{"000", `F. Pace, "Mechanisms for Efficient and Responsive Distributed Applications in Compute Clusters"`, flexible},
		{"002", `E. Dimopoulos, "Resource Allocation in Multi-analytics, Resource-Constrained Environments"`,
			fluid.ReserveClaims},
		{"003", `L. Baresi et al., "Fine-grained Dynamic Resource Allocation for Big-Data Applications"`, paper.Claims},
	}
}

// flexible tries what is said of the flexible scheduler: in the world of units, and on the engines.
func flexible(seeds int, stop <-chan struct{}) ([]claim.Claim, error) {
	units, err1 := fluid.Claims(seeds, stop)
	engines, err2 := zoe.Claims(seeds, stop)
	return slices.Concat(units, engines), errors.Join(err1, err2)
}
