package sharing

import (
	"math"
	"strconv"
)

// Weight is the CPU weight of an executor's group among its siblings, as a multiple of the kernel's default. Of all
// executors together it is the weight against one busy thread of the rest of the machine on each CPU.
type Weight float64

const (
	// Unset is a weight that was never written.
	Unset Weight = 0
	// Normal is for an executor that runs tasks.
	Normal Weight = 1
)

// String returns the weight's name, or its number.
func (w Weight) String() string {
	switch w {
	case Unset:
		return "unset"
	case standard.Weights.Low:
		return "low"
	case Normal:
		return "normal"
	}
	return strconv.FormatFloat(float64(w), 'g', 4, 64)
}

// Place is the weight of a stage that is granted so many cores, where another one is granted most.
func (w *Weights) Place(granted, most float64) Weight {
	if granted >= most {
		return Normal
	}
	step := math.Ceil(w.Steps*math.Log2(granted/most)) / w.Steps
	return max(w.Least, Weight(math.Exp2(step))) * Normal
}
