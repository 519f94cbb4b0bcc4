package main

import (
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/internal/benchline"
	"github.com/sparkpacer/pacer/internal/realenv"
)

// figure is what a cell has measured.
type figure struct {
	Name     string
	Measured benchline.Measured
	Unit     string
}

// adder takes a figure.
type adder func(name string, m benchline.Measured, unit string)

// cell is a part of the figures that is measured by itself.
type cell struct {
	name string
	// minutes are about what it takes, for the estimate of the time left.
	minutes float64
	// spark says that it needs real Spark, and root.
	spark bool
	// scale says that `make bench-scale` has it.
	scale   bool
	measure func(t testing.TB, add adder)
}

// cells are all but the workloads under deadlines and those of trusted.
func cells() []cell {
	return []cell{
		{"sim", 2, false, false, simulated},
		{"strategies", 1, false, false, strategies},
		{"verdicts", 1, false, false, verdicts},
		{"speed", 4, false, true, speed},
		{"scale", 4, false, true, scaled},
		{"micro", 1, false, false, micro},
		{"tail-virtual", 0.5, false, false, virtualTail},
		{"docker", 0.5, true, false, dockerUpdate},
		{"plan", 0.5, true, false, planLatency},
		{"idle", 0.5, true, false, idle},
		{"full-node", 1, true, false, fullNode},
		{"rebind", 4, true, false, rebind},
		{"start", 6, true, false, start},
		{"demo", 8, true, false, demonstration},
		{"tail", 6, true, false, tail},
		{"precision", 5, true, false, precision},
	}
}

// cellsOf are those that a command measures.
func cellsOf(command string) []cell {
	switch command {
	case trustCommand:
		return trusted()
	case "scale":
		return slices.DeleteFunc(cells(), func(c cell) bool { return !c.scale })
	}
	return cells()
}

// take measures a cell and returns its figures.
func (c cell) take(t testing.TB) []figure {
	if c.spark {
		realenv.RequireSpark(t)
	}
	var figures []figure
	c.measure(t, func(name string, m benchline.Measured, unit string) {
		t.Logf("%s %.4g %s (%.4g to %.4g, n = %d)", name, m.Value, unit, m.Spread[0], m.Spread[1], m.N)
		figures = append(figures, figure{name, m, unit})
	})
	return figures
}
