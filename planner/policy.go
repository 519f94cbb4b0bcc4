package planner

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/report"
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
		{"rule", p.Rule, assign.Rules()},
		{"order", p.Order, assign.Orders()},
		{"size", p.Size, assign.Sizes()},
	} {
		given := name.is != "" || name.what == "rule"
		if given && !slices.Contains(name.of, name.is) {
			faults = append(faults, fmt.Errorf("%s is %q, want one of %s", name.what, name.is, strings.Join(name.of, ", ")))
		}
	}
	return errors.Join(faults...)
}

// showPolicy says how the queue is served, and who waits.
func (i inquiry) showPolicy(q api.ControlRequest) (r api.ControlReply, err error) {
	waiting := make(map[string]*ledger.App)
	for _, a := range i.view.Waiting() {
		waiting[fmt.Sprintf("%08d %s", a.Wait.Place, a.ID)] = a
	}
	r.Apps, r.More = page(q.Page, slices.Sorted(maps.Keys(waiting)), func(place string) api.AppSummary {
		return i.kept.Summary(i.view, i.estimates, waiting[place])
	})
	if q.Page == nil || q.Page.After == "" {
		detail := report.Queue(i.view, i.cfg.PolicyIn(i.view), i.even)
		r.Policy = &detail
	}
	return r, nil
}
