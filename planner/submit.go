package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/admission"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/planner/access"
	"github.com/sparkpacer/pacer/units"
)

// submit takes an application in whose driver, or whose components, nodes are to start. It is in the queue from now on,
// with a verdict.
func (h components) submit(by api.Principal, q api.ControlRequest) (api.ControlReply, error) {
	if q.Query == nil || q.Query.Submit == nil || q.Query.Submit.Register == nil ||
		q.Query.Submit.Driver == nil && q.Query.Submit.Group == nil {
		return api.ControlReply{}, api.Errorf(api.KindInvalid, "no driver and no component is submitted")
	}
	s := q.Query.Submit
	r, nodes, err := submitted(s)
	if err != nil {
		return api.ControlReply{}, err
	}
	r.V, r.Nodes, r.Launch.DriverURL, r.Watched, r.Key = api.Version, &nodes, driverToCome, true, ""
	for _, a := range h.view.Apps() {
		if a.Tenant.Submission == r.Submission && component.Submitted(a) &&
			access.Again(by, a.ID, a.Tenant.Owner.User) == nil {
			return h.taken(a), nil // Its user asks twice.
		}
	}
	if s.DryRun {
		return h.wouldRun(by, r, s)
	}
	a, err := drivers{h.core}.admit(by, r)
	if err != nil {
		return api.ControlReply{}, err
	}
	if !component.Submitted(a) && !h.lodge(a, s) {
		endings{h.core}.stop(a, "its driver or its components could not be put on nodes")
		return api.ControlReply{}, api.Errorf(api.KindTransient,
			"the driver or the components of %s cannot be put on nodes now: try again", a.ID)
	}
	return h.taken(a), nil
}

// submitted is the registration of what is submitted, and what of it nodes have to have room for.
func submitted(s *api.Submit) (r api.RegisterRequest, nodes api.NodeRange, err error) {
	r = *s.Register
	if r.Nodes != nil {
		nodes.Least, nodes.Most = r.Nodes.Least, r.Nodes.Most
	}
	if r.Context != 0 || r.Launch.Attach != nil || r.AppID != "" {
		return r, nodes, api.Errorf(api.KindInvalid, "what is submitted is no new application")
	}
	if c := s.Driver; c != nil {
		if err := c.Validate(); err != nil {
			return r, nodes, err
		}
		if c.Name != api.DriverName || c.Class != api.ComponentCore {
			return r, nodes, api.Errorf(api.KindInvalid, "component %q is no driver of a new application",
				api.Clip(string(c.Name), api.MostToken))
		}
		nodes.Driver = c.Memory
	}
	if s.Group == nil {
		nodes.Told = s.Told()
		return r, nodes, nil
	}
	if err := s.Group.Validate(s.Driver); err != nil {
		return r, nodes, err
	}
	nodes.Group, nodes.Told = s.Group.Room(s.Driver == nil), s.Told()
	if !nodes.Group.Alone {
		return r, nodes, nil
	}
	// To the queue it is as an application with one executor of the size of its largest core component: so much of a node
	// is kept for it.
	nodes.Least, nodes.Most = 1, 1
	r.Mode, r.Launch = "", api.Launch{Heap: max(1, slices.Max(nodes.Group.Core)-1), Overhead: 1, OffHeapFixed: true}
	return r, nodes, nil
}

// lodge has a's driver and components be a's, on their nodes if it runs, and reports whether they can be.
func (h components) lodge(a *ledger.App, s *api.Submit) bool {
	of := ledger.OfApp{App: a.ID}
	if s.Group != nil { // Before the driver, which may be told where its programs are.
		f := component.GroupTaken{OfApp: of, Group: s.Group}
		if a.Running() {
			f.Nodes = h.said.group
		}
		if !h.record(f) {
			return false
		}
	}
	if s.Driver != nil {
		c := *s.Driver
		c.Submission, c.Submitted = a.Tenant.Submission, int64(a.Promise.Start)/1e6
		f := component.Taken{OfApp: of, Component: &c}
		if a.Running() {
			f.Node = h.said.driver
		}
		return h.record(f)
	}
	return true
}

// wouldRun says what of r would run where, if it came now. It changes nothing.
func (h components) wouldRun(by api.Principal, r api.RegisterRequest, s *api.Submit) (api.ControlReply, error) {
	if err := r.Validate(); err != nil {
		return api.ControlReply{}, err
	}
	if by.Kind == api.PrincipalUser {
		r.User = by.Name
	}
	d, err := admission.Decide(h.outlook, h.places, r)
	if err != nil {
		return api.ControlReply{}, err
	}
	comes := d.App()
	choices := h.line.Decide(h.outlook, &queue.Newcomer{App: comes, Profile: d.Profile, NoWait: r.NoWait})
	i := slices.IndexFunc(choices, func(c queue.Choice) bool { return c.App == comes })
	c := &choices[i]
	if c.What == queue.Refuse {
		return api.ControlReply{}, c.Err
	}
	if err := admission.Bounded(h.view, by, d.Tenant, len(c.Seating.Nodes()), c.What != queue.Start); err != nil {
		return api.ControlReply{}, err
	}
	if c.What == queue.Wait {
		return api.ControlReply{Message: fmt.Sprintf("it would wait at place %d of %d: %s", c.Wait.Place, c.Wait.Of,
			c.Wait.Why)}, nil
	}
	var lines []string
	add := func(id api.ExecutorID, memory units.Bytes, node string) {
		lines = append(lines, fmt.Sprintf("%s (%s) on node %s", id, memory.Words(), node))
	}
	if s.Driver != nil {
		add(api.DriverName, s.Driver.Memory, c.Seating.Driver)
	}
	at := 0
	for _, m := range s.Group.Parts() {
		for k := range m.Members() {
			if m.Class == api.ComponentElastic {
				add(m.Member(k, 1), m.Memory, "with memory, as it comes free")
				continue
			}
			add(m.Member(k, 1), m.Memory, c.Seating.Group[at])
			at++
		}
	}
	if on := c.Seating.Nodes(); len(on) > 0 {
		lines = append(lines, fmt.Sprintf("%d executors (%s each) on nodes %s", len(on), d.Tenant.Claim().Words(),
			strings.Join(on, ", ")))
	}
	return api.ControlReply{Message: strings.Join(lines, "\n")}, nil
}

// taken is the answer to the user that has submitted a.
func (h components) taken(a *ledger.App) api.ControlReply {
	return api.ControlReply{Apps: []api.AppSummary{report.Summary(h.view, h.estimates, a)}, Message: verdict.Reason(a)}
}
