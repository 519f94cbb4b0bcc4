package planner

import (
	"fmt"
	"strings"

	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
)

// Presets of a Config.
const (
	// PresetPacer is Default.
	PresetPacer = "pacer"
	// PresetPaper is [1] as it is printed: alpha 1 and Eq 1-3 for all stages, no aim
	// of its own, an executor for each stage that runs, infeasible deadlines paced.
	PresetPaper = "paper"
)

// Presets are the names that Preset takes.
func Presets() []string { return []string{PresetPacer, PresetPaper} }

// Preset returns c with what the preset of that name chooses; the rest is c's. Its
// error lists the names.
func (c Config) Preset(name string) (Config, error) {
	from := Default()
	switch name {
	case PresetPacer:
	case PresetPaper:
		from.Alpha, from.Aim, from.Margin = 1, 0, 0
		from.Split, from.Branches, from.PaceInfeasible = dag.SplitPaper, estimate.BranchesTogether, true
	default:
		return c, fmt.Errorf("preset %q: want one of %s", name, strings.Join(Presets(), ", "))
	}
	c.Alpha, c.Aim, c.Margin = from.Alpha, from.Aim, from.Margin
	c.Split, c.Branches, c.PaceInfeasible = from.Split, from.Branches, from.PaceInfeasible
	return c, nil
}
