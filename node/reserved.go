package node

import "github.com/sparkpacer/pacer/units"

// askReserved has the partakers from from on ask for no more together than so many cores.
func (d *division) askReserved(cores units.Cores, from int) {
	all := units.Cores(0)
	for i := range d.stages[from:] {
		all += d.stages[from+i].Request
	}
	for i := range d.stages[from:] {
		d.stages[from+i].Request *= min(1, cores/all)
	}
}

// placeReserved has executors without a quota for which cores are reserved weigh what they are granted beside the one
// that is granted most, which it returns. They have that, and those that have quotas have theirs.
func (d *division) placeReserved() (most units.Cores) {
	if widest, _ := d.widest(); widest.c != nil {
		most = widest.c.grant
	}
	for i, p := range d.part[:d.watched] {
		if p.reserved {
			most = max(most, d.grants[i])
		}
	}
	for i, p := range d.part[:d.watched] {
		if p.reserved {
			p.x.place = d.rules.Weights.Place(float64(d.grants[i]), float64(most))
		}
	}
	return most
}
