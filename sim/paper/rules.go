package paper

import (
	"math"

	"github.com/sparkpacer/pacer/supervisor/sharing"
)

// Rule is one of the rules of life beside others, as it can be switched off.
type Rule struct {
	Name string
	// Says is the rule in a sentence.
	Says string
	// Off switches it off.
	Off func(*sharing.Params)
	// Live says why the simulator cannot show what the rule is worth, "" where it can: then
	// measurements on machines alone speak for it.
	Live string
}

// Rules are all rules. The worth of each stands in docs/simulator.md.
func Rules() []Rule {
	const drivers = "drivers and other programs have all that they want there"
	return []Rule{
		{"aim-unheld", "Beside executors without a quota stages are aimed at 0.94 of the deadline.",
			func(p *sharing.Params) { p.Aims.Unheld = 1 }, ""},
		{"aim-first", "In order, or due first, stages are aimed at 0.88 of the deadline.",
			func(p *sharing.Params) { p.Aims.First = 1 }, ""},
		{"slow-driver", "A driver that is slower than in the recorded run is taken to stay so.",
			func(p *sharing.Params) { p.Aims.Slower = 0 }, drivers},
		{"put-off", "In order, work that is due later is done later.",
			func(p *sharing.Params) { p.Later.Nodes = 0 }, ""},
		{"yield", "Elsewhere an application that is due later asks for less.",
			func(p *sharing.Params) { p.Later.Yield = 0 }, ""},
		{"left-alone", "An application that is left alone counts for half of a node.",
			func(p *sharing.Params) { p.Later.LeftAlone = 0 }, ""},
		{"doubt", "A deadline that is missed by 0.3 s gives up nobody.",
			func(p *sharing.Params) { p.Doubts.Late = 0 }, ""},
		{"reserve", "An application that makes no other late keeps its place; where all are in time requests count by need.",
			func(p *sharing.Params) { p.Doubts.Reserve = 1e9 }, ""},
		{"overdue", "An application that is late keeps its place for a tenth of its deadline.",
			func(p *sharing.Params) { p.Doubts.Overdue = 0 }, ""},
		{"again", "An application that was infeasible is paced again with 3 or 5 % to spare.",
			func(p *sharing.Params) { p.Again.Alone, p.Again.Turning = 0, 0 }, "it is for an application alone"},
		{"again-beside", "Beside others it is paced again with 10 % to spare.",
			func(p *sharing.Params) { p.Again.Beside = 0 }, ""},
		{"driver-waits", "A driver that makes the next stage has a core.",
			func(p *sharing.Params) { p.Room.Wait = 0 }, drivers},
		{"driver-exits", "A driver that exits has a core.",
			func(p *sharing.Params) { p.Room.Exit = 0 }, drivers},
		{"pressed", "While an application is short of cores the applications that share have a quota.",
			func(p *sharing.Params) { p.Room.Pressed = math.MaxFloat32 }, drivers},
		{"watched", "The cores of executors that are left alone are taken off.",
			func(p *sharing.Params) { p.Room.LeftAlone = 0 }, ""},
		{"unbound", "The stage that is granted most, and asks for more, has no quota.",
			func(p *sharing.Params) { p.Room.Unbound = false }, ""},
		{"low", "An executor without a stage has a tenth of the weight.",
			func(p *sharing.Params) { p.Weights.Low = sharing.Normal }, "an executor without a stage takes nothing there"},
		{"behind", "All that share have a fifteenth of the weight together.",
			func(p *sharing.Params) { p.Weights.Behind = sharing.Normal }, ""},
		{"by-grant", "Stages without a quota are weighed by their grants.",
			func(p *sharing.Params) { p.Weights.Least = sharing.Normal }, ""},
		{"together", "All executors together have a weight against the rest of the machine.",
			func(p *sharing.Params) {
				p.Weights.Shared, p.Weights.Even, p.Weights.Promised = sharing.Normal, sharing.Normal, sharing.Normal
			}, drivers},
		{"nice", "Drivers' sessions have nice values.",
			func(p *sharing.Params) { p.Nice = sharing.Nice{} }, "it has no sessions"},
	}
}
