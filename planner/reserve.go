package planner

import (
	"time"

	"github.com/sparkpacer/pacer/deciders/reservation"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// reserving is what reservations were decided on last, as far as that is counted, and when.
type reserving struct {
	admission string
	serial    uint64
	running   int
	// offered is what nodes offer that may have executors, seated what those have that have reservations.
	offered, seated units.Cores
	at              units.Instant
}

// renew reports whether p is to be asked again: somebody or a node has come or gone, or it is long ago; less says that
// nodes give less than they gave.
func (r *reserving) renew(v ledger.View, p reservation.Policy, every time.Duration) (again, less bool) {
	of := reserving{admission: p.Admission, serial: v.Serial(), at: r.at}
	for a := range v.Running() {
		of.running++
		if a.Reserved() > 0 {
			of.seated += a.Tenant.Cores
		}
	}
	for _, n := range v.Nodes() {
		if n.Live() {
			of.offered += n.Offered
		}
	}
	if of == *r && v.Now() < r.at.Add(every) {
		return false, false
	}
	less = of.offered < r.offered
	*r, r.at = of, v.Now()
	return true, less
}
