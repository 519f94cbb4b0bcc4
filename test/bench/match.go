package main

import "slices"

// matchRows are about runs that differ from their profile. Each part of them is in a file of its own;
// the live ones, which want the machine alone, are the last.
func matchRows(o trialOptions) []row {
	return slices.Concat(
		[]row{{name: "align", minutes: 0.2, measure: alignment}, {name: "heal", minutes: 0.5, measure: healing}},
		paceRows(),
		shortRows(),
		countedRows(),
		executorRows(),
		liveRows(o),
	)
}
