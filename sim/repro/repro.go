// Package repro has the list of the sources whose claims the simulators try, for `pacer repro` and the bench.
package repro

import (
	"github.com/sparkpacer/pacer/sim/claim"
	"github.com/sparkpacer/pacer/sim/fluid"
	"github.com/sparkpacer/pacer/sim/paper"
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
		{"000", `F. Pace, "Mechanisms for Efficient and Responsive Distributed Applications in Compute Clusters"`, fluid.Claims},
		{"003", `L. Baresi et al., "Fine-grained Dynamic Resource Allocation for Big-Data Applications"`, paper.Claims},
	}
}
