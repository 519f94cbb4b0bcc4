package consolidation

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Config has what the thesis leaves open. Default says what is taken where nobody says otherwise.
type Config struct {
	// Alpha is the learning rate, above 0 and at most 1; Gamma the discount, from 0 to below 1.
	Alpha, Gamma float64
	// Repeats is how often a round of Learn updates both tables.
	Repeats int
	// Danger is the reward of taking a VM into Overload, below 0: the further, the fewer violations, and the more
	// machines.
	Danger float64
	// Levels, Unknown, Train and Wake are switches; Switches has their names.
	Levels, Unknown, Train, Wake string
}

// The names of the switches.
const (
	// LevelsVM takes a VM's level of what it was given, LevelsMachine of its machine, as the thesis's example does: there
	// VMs of the size of its evaluation are all Low.
	LevelsVM, LevelsMachine = "vm", "machine"
	// UnknownProject takes a VM of which nothing is learnt where the mean does not come to Overload, UnknownAccept always.
	UnknownProject, UnknownAccept = "project", "accept"
	// TrainHalf has machines learn that use half of their CPU at most, TrainEighty those that use 80 %.
	TrainHalf, TrainEighty = "half", "eighty"
	// WakeRefused wakes a machine that sleeps for one that was Overloaded and refused three times, WakeNever none.
	WakeRefused, WakeNever = "three-refusals", "never"
)

// Refusals is after how many a machine is woken.
const Refusals = 3

// Switches are the names that each switch takes, the default first.
func Switches() map[string][]string {
	return map[string][]string{"levels": {LevelsVM, LevelsMachine}, "unknown": {UnknownProject, UnknownAccept},
		"train": {TrainHalf, TrainEighty}, "wake": {WakeRefused, WakeNever}}
}

// Default is what the thesis does not say.
func Default() Config {
	return Config{Alpha: 0.5, Gamma: 0.8, Repeats: 100, Danger: -100, Levels: LevelsVM, Unknown: UnknownProject,
		Train: TrainHalf, Wake: WakeRefused}
}

// Validate reports every fault of c at once.
func (c Config) Validate() error {
	var faults []error
	if !(c.Alpha > 0 && c.Alpha <= 1) || !(c.Gamma >= 0 && c.Gamma < 1) {
		faults = append(faults, fmt.Errorf("alpha %v and gamma %v, want above 0 to 1, and 0 to below 1", c.Alpha, c.Gamma))
	}
	if c.Repeats < 1 {
		faults = append(faults, fmt.Errorf("repeats is %d, want at least 1", c.Repeats))
	}
	if !(c.Danger < 0) || math.IsInf(c.Danger, 0) {
		faults = append(faults, fmt.Errorf("danger is %v, want below 0", c.Danger))
	}
	for _, s := range []struct{ name, is string }{{"levels", c.Levels}, {"unknown", c.Unknown}, {"train", c.Train},
		{"wake", c.Wake}} {
		if names := Switches()[s.name]; !slices.Contains(names, s.is) {
			faults = append(faults, fmt.Errorf("%s %q: want one of %v", s.name, s.is, names))
		}
	}
	return errors.Join(faults...)
}

// Trains reports whether a machine that uses so much learns.
func (c Config) Trains(now Use) bool {
	bound := 0.5
	if c.Train == TrainEighty {
		bound = 0.8
	}
	return now.CPU <= bound+rounding
}

// outReward is what it is worth to be in a state after a VM has gone: the lighter, the more.
func outReward(s State) float64 {
	cpu, memory := s.Levels()
	return float64(2*levels) - float64(cpu) - float64(memory)
}

// inReward is what it is worth to be in a state after a VM has come: the fuller the better, but for Overload.
func (c Config) inReward(s State) (sum float64) {
	cpu, memory := s.Levels()
	for _, l := range []Level{cpu, memory} {
		if l == Overload {
			sum += c.Danger
		} else {
			sum += float64(l) + 1
		}
	}
	return sum
}
