package sim

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// Record runs an application in a world of c at all cores, whatever its deadline, and
// returns its profile and what came of it.
func Record(c Config, a plant.App) (api.Profile, Outcome, error) {
	a.Deadline = 0
	w, err := New(c)
	if err != nil {
		return api.Profile{}, Outcome{}, err
	}
	o, err := w.alone(a)
	if err != nil {
		return api.Profile{}, o, err
	}
	p, ok := w.Profile(a.Name)
	if !ok {
		return p, o, fmt.Errorf("the recording run of %s left no profile", a.Name)
	}
	return p, o, nil
}

// Pace runs an application in a world of c under its deadline with the given profile.
// lost, if not 0, is when an executor of the first node is lost with what it has written,
// as a share of the deadline.
func Pace(c Config, a plant.App, p api.Profile, lost units.Fraction) (Outcome, error) {
	w, err := New(c)
	if err != nil {
		return Outcome{}, err
	}
	if err := w.PutProfile(p); err != nil {
		return Outcome{}, err
	}
	if lost > 0 {
		if err := w.Fault(w.Now()+a.Deadline*units.Seconds(lost), faultOutputs, c.Nodes[0].Name, 0); err != nil {
			return Outcome{}, err
		}
	}
	return w.alone(a)
}

// alone runs an application with nothing beside it.
func (w *World) alone(a plant.App) (Outcome, error) {
	d, err := w.Submit(0, a)
	if err != nil {
		return Outcome{}, err
	}
	if err := w.Run(); err != nil {
		return Outcome{}, err
	}
	return d.Outcome()
}
