package planner

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/ledger"
)

// setPolicy has the queue served by another policy from now on, or as configured again.
func (h *starter) setPolicy(q api.ControlRequest) (api.ControlReply, error) {
	if q.Policy != nil {
		if err := checkPolicy(*q.Policy); err != nil {
			return api.ControlReply{}, api.Errorf(api.KindInvalid, "%v", err)
		}
	}
	fact := ledger.QueuePolicySet{Policy: q.Policy}
	h.record(fact)
	h.line, h.due = h.cfg.line(h.cfg.PolicyIn(h.view)), true // Others may be first in the queue.
	return api.ControlReply{Message: ledger.Change{Fact: fact}.Line().Text + " from now on"}, nil
}

// checkPolicy says all that is wrong with what an operator asks for; what is not given is as configured.
func checkPolicy(p api.QueuePolicy) error {
	var faults []error
	for _, name := range []struct {
		what, is string
		of       []string
	}{
		{"rule", p.Rule, []string{"backfill"}},
		{"order", p.Order, queue.Orders()},
		{"size", p.Size, []string{"time"}},
	} {
		given := name.is != "" || name.what == "rule"
		if given && !slices.Contains(name.of, name.is) {
			faults = append(faults, fmt.Errorf("%s is %q, want one of %s", name.what, name.is, strings.Join(name.of, ", ")))
		}
	}
	return errors.Join(faults...)
}
