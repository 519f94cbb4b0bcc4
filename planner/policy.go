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
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
)

// setPolicy has the queue served by another policy from now on, or as configured again.
func (h starter) setPolicy(q api.ControlRequest) (api.ControlReply, error) {
	fact := ledger.QueuePolicySet{}
	if q.Policy != nil {
		if err := checkPolicy(*q.Policy); err != nil {
			return api.ControlReply{}, api.Errorf(api.KindInvalid, "%v", err)
		}
		fact.Policy = changed(h.view.QueuePolicy(), *q.Policy)
	}
	h.record(fact)
	h.line = h.cfg.line(h.cfg.PolicyIn(h.view))
	return api.ControlReply{Message: ledger.Change{Fact: fact}.Line().Text + " from now on"}, nil
}

// changed is the policy for which an operator asks, where had held before. A key that is absent stays as it is; but a
// rule comes with an order and a size, which are as configured where they are not given.
func changed(had *api.QueuePolicy, asked api.QueuePolicy) *api.QueuePolicy {
	if had != nil {
		kept := *had
		if asked.Rule != "" {
			kept.Order, kept.Size = "", ""
		}
		asked = asked.Over(kept)
	}
	return &asked
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
		{"admission", p.Admission, assign.Admissions()},
		{"late", p.Late, assign.Lates()},
	} {
		given := name.is != "" || name.what == "rule" && p == (api.QueuePolicy{})
		if given && !slices.Contains(name.of, name.is) {
			faults = append(faults, fmt.Errorf("%s is %q, want one of %s", name.what, name.is, strings.Join(name.of, ", ")))
		}
	}
	return errors.Join(faults...)
}

// showPolicy says how the queue is served, and who waits.
func (i inquiry) showPolicy(q api.ControlRequest) (r api.ControlReply, err error) {
	places := make(map[string]*ledger.App)
	for _, a := range i.view.Waiting() {
		places[fmt.Sprintf("%08d %s", waiting.Of(a).Place, a.ID)] = a
	}
	r.Apps, r.More = page(q.Page, slices.Sorted(maps.Keys(places)), func(place string) api.AppSummary {
		return i.kept.Summary(i.view, i.estimates, places[place])
	})
	if q.Page == nil || q.Page.After == "" {
		detail := report.Queue(i.view, i.cfg.PolicyIn(i.view), i.cfg.reserves(i.view), i.even)
		r.Policy = &detail
	}
	return r, nil
}
