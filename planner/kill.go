package planner

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
)

// mostKiller bounds the name of who asks, in bytes.
const mostKiller = 200

// killApp ends an application by its user's wish. An application that waits is out of the queue at once;
// of one that runs the driver is told, and ends its context. A driver on a node that goes on without its context
// hears nothing any more: its node stops it.
func (d requests) killApp(q api.ControlRequest) (api.ControlReply, error) {
	a, err := d.livingApp(q.App)
	outlasts := err != nil && a != nil && there(a)
	if err != nil && !outlasts {
		return api.ControlReply{}, err
	}
	by := cmp.Or(strings.TrimSpace(q.User), "an operator")
	if len(by) > mostKiller || strings.ContainsFunc(by, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return api.ControlReply{}, api.Errorf(api.KindInvalid,
			"the name of who asks is longer than %d bytes or not printable", mostKiller)
	}
	if outlasts {
		endings{d.core}.stop(a, "killed by "+by)
		return api.ControlReply{Message: fmt.Sprintf("%s had stopped its context; its programs are stopped", a.ID)}, nil
	}
	if a.Outcome.Killed != "" {
		return api.ControlReply{Message: fmt.Sprintf("%s ends already: %s", a.ID, a.Outcome.KillReason())}, nil
	}
	queued := a.Queued()
	d.record(ledger.KillAsked{App: a.ID, By: by, Queued: queued})
	if queued {
		endings{d.core}.stop(a, a.Outcome.KillReason())
		return api.ControlReply{Message: fmt.Sprintf("%s is out of the queue", a.ID)}, nil
	}
	return api.ControlReply{Message: fmt.Sprintf("%s was told to end; its executors are stopped in %v if it does not",
		a.ID, killGrace)}, nil
}
