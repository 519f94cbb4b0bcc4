package sim

import (
	"math"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// account asks where the time of d's application went. The parts are its duration, whatever has happened; where the
// planner's clock was set back behind the submission that is none.
func (d *Driver) account() {
	of := d.result
	if r, ok := d.w.control.query(api.VerbWhy, api.ControlRequest{App: of.ID}); ok {
		d.why = r.Why
	}
	if sum := d.accounted(); math.Abs(float64(sum-max(0, of.Duration))) > 1e-6 {
		d.w.fail("%s took %v, of which %v are accounted for", of.ID, of.Duration, sum)
	}
}

// accounted is the time that the parts of d's application are, together.
func (d *Driver) accounted() (sum units.Seconds) {
	if d.why == nil {
		return 0
	}
	for _, p := range d.why.Parts {
		sum += p.For
	}
	return sum
}

// Unaccounted runs the world of RunChaos of a seed, and returns of each application of which the planner knows the
// exit which part of its time, from its submission to its driver's exit by the world's own clock, the parts of
// report.Why lack or have too much, in per cent.
func Unaccounted(seed uint64) (pct []float64, err error) {
	w, err := rained(seed, nil)
	if err != nil {
		return nil, err
	}
	for _, d := range w.drivers {
		if d.result != nil && d.result.EndedBy.Known() && d.took > 0 {
			pct = append(pct, 100*math.Abs(float64((d.accounted()-d.took)/d.took)))
		}
	}
	return pct, nil
}
