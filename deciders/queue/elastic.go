package queue

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Elastic has elastic components start where memory is free and no application waits. For the first application in the
// line that fits once some have gone, these leave: no more than it needs to start.
func (p Policy) Elastic(o *estimate.Outlook) []ledger.Lever {
	v := o.View
	if len(v.Waiting()) == 0 {
		return component.Grow(v)
	}
	line := slices.Clone(v.Waiting())
	slices.SortStableFunc(line, func(x, y *ledger.App) int { return waiting.Of(x).Place - waiting.Of(y).Place })
	for _, w := range line {
		a, _ := o.Starting(w, v.Judged(w.Tenant.Owner.User, w.Promise.Profile))
		free := func(n *ledger.Node) units.Bytes { return p.Places.Left(v, n, a) }
		coming := func(n *ledger.Node) units.Bytes {
			_, leaving := component.Stays(v, n.Node)
			return free(n) + leaving
		}
		if _, err := p.Places.Seats(o, a, coming); err == nil {
			return nil // It starts by itself.
		}
		s, err := p.Places.Seats(o, a, func(n *ledger.Node) units.Bytes {
			elastic, _ := component.Stays(v, n.Node)
			return coming(n) + elastic
		})
		if err == nil {
			return component.Leave(v, lacks(v, a, s, coming), a.ID)
		}
	}
	return nil
}

// lacks is what a lacks of nodes to start with its driver and components by s, and with executors, if it has some, on
// as many nodes as it needs: where it lacks least.
func lacks(v ledger.View, a *ledger.App, s placement.Seating, coming placement.Room) map[string]units.Bytes {
	lacks := map[string]units.Bytes{}
	for _, n := range v.Live() {
		lacks[n.Node] = -coming(n)
	}
	if s.Driver != "" {
		lacks[s.Driver] += a.Tenant.Nodes.Driver
	}
	for i, node := range s.Group {
		lacks[node] += a.Tenant.Nodes.Group.Core[i]
	}
	seats := slices.Clone(s.Seats)
	slices.SortStableFunc(seats, func(x, y placement.Seat) int {
		return cmp.Compare(lacks[x.Node.Node], lacks[y.Node.Node])
	})
	for _, seat := range seats[:min(len(seats), placement.Least(a))] {
		lacks[seat.Node.Node] += a.Tenant.Claim()
	}
	return lacks
}
