package ledger

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
)

// Reserved: an application has that reservation, which its user is told so (Why), "" where there is nothing to say.
type Reserved struct {
	App api.AppID
	Reservation
	Why string
}

func (f Reserved) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	if err := amounts("a reservation", float64(f.Cores), float64(f.From)); err != nil {
		return err
	}
	cores, p := f.Held(), &a.Promise
	switch {
	case !a.Running():
		return fmt.Errorf("application %s is %s", a.ID, a.Outcome.State)
	case cores > 0 && (p.Mode != Recording || p.Deadline <= 0 || a.Profile != nil || f.Dropped):
		return fmt.Errorf("cores are reserved for application %s, %s with a deadline of %s", a.ID, p.Mode, p.Deadline)
	case cores > a.Reservation.Held():
		if err := f.check(l, a); err != nil {
			return err
		}
	}
	a.Reservation = f.Reservation
	if f.Why != "" {
		p.Reason = f.Why
	}
	return nil
}

// reservedTolerance is how far reservations may be above what a node offers, as a part of it.
const reservedTolerance = 1e-6

// check says which node of a cannot give it its part beside what is reserved there for others.
func (f Reserved) check(l *Ledger, a *App) error {
	for _, node := range a.Seats() {
		if !l.allocation(a, node).Stays() {
			continue // It is no part of what its nodes offer.
		}
		part := f.Cores / a.Tenant.Cores
		for _, t := range l.allocations[node] {
			if b := t.App; b != a && b.Running() && b.Reservation.Held() > 0 && t.Stays() {
				part += b.Reservation.Held() / b.Tenant.Cores
			}
		}
		if !(part <= 1+reservedTolerance) {
			return fmt.Errorf("node %s has %.0f %% of its cores reserved with those of %s", node, 100*float64(part), a.ID)
		}
	}
	return nil
}
