package node

import (
	"fmt"
	"strings"

	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/supervisor"
)

// Presets of a Config.
const (
	// PresetPacer is Default.
	PresetPacer = "pacer"
	// PresetPaper is [1] as it is printed: the law of Eq 13-19, progress in finished
	// tasks, Eq 21 as printed.
	PresetPaper = "paper"
)

// Presets are the names that Preset takes.
func Presets() []string { return []string{PresetPacer, PresetPaper} }

// Preset returns c with what the preset of that name chooses; the rest, as the law's
// parameters and the strategy, is c's. Its error lists the names.
func (c Config) Preset(name string) (Config, error) {
	from := Default()
	switch name {
	case PresetPacer:
	case PresetPaper:
		from.Controller.Law, from.Meter.Progress, from.Supervisor.Eq21 = controller.LawPI, meter.Tasks, supervisor.Eq21Printed
	default:
		return c, fmt.Errorf("preset %q: want one of %s", name, strings.Join(Presets(), ", "))
	}
	c.Controller.Law, c.Meter.Progress, c.Supervisor.Eq21 = from.Controller.Law, from.Meter.Progress, from.Supervisor.Eq21
	return c, nil
}
