package planner

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
)

// standing takes in that a principal's credentials are taken no more, or are again.
func (d requests) standing(ev Standing) {
	switch p := ev.Principal; p.Kind {
	case api.PrincipalNode:
		if ev.Revoked {
			d.loseNode(p.Name)
		}
	case api.PrincipalUser:
		for _, a := range d.view.Apps() {
			if a.Tenant.Launch.User == p.Name && !a.Over() && ev.Revoked != (a.Outcome.Revoked > 0) {
				d.ownerStands(a, ev.Revoked)
			}
		}
	}
}

// loseNode has a node be lost at once: nothing that it says is heard any more.
func (d requests) loseNode(name string) {
	if n := d.view.Node(name); n != nil && n.Here() {
		d.record(ledger.NodeLost{Node: n.Node, Revoked: true})
	}
}

// ownerStands turns a queued application of a user down whose credentials were revoked, and tells one
// that runs when it is ended; one whose user has some again goes on.
func (d requests) ownerStands(a *ledger.App, revoked bool) {
	d.record(ledger.OwnerRevoked{App: a.ID, Revoked: revoked})
	why := revocation(a)
	switch {
	case !revoked:
		d.say(a.ID, fmt.Sprintf("user %s has credentials again: it goes on", a.Tenant.Launch.User))
	case a.Queued():
		judgement := a.Promise.Judgement
		judgement.Reason = why
		d.apply(ledger.TurnedDown{App: a.ID, Name: a.Name, Err: api.Errorf(api.KindDenied, "%s", why),
			At: a.At(d.now), Judgement: judgement})
	default:
		d.say(a.ID, fmt.Sprintf("%s: it is ended in %v", why, d.cfg.RevokeGrace))
	}
}
