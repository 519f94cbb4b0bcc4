package planner

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/admission"
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/placement"
	"github.com/sparkpacer/pacer/report"
)

// inquiry is what a question is answered from: a snapshot, so that the engine goes on meanwhile.
type inquiry struct {
	view      ledger.View
	estimates estimate.Policy
	places    placement.Policy
	kept      *report.Kept
}

// question is how a request that shows something is answered.
type question func(inquiry, api.ControlRequest) (api.ControlReply, error)

// questions is where one is entered.
var questions = map[api.Verb]question{
	api.VerbApps:     inquiry.listApps,
	api.VerbApp:      inquiry.showApp,
	api.VerbNodes:    inquiry.listNodes,
	api.VerbProfiles: inquiry.listProfiles,
	api.VerbProfile:  inquiry.showProfile,
}

func (i inquiry) listNodes(api.ControlRequest) (api.ControlReply, error) {
	r := api.ControlReply{Nodes: []api.NodeSummary{}}
	for _, n := range i.view.Nodes() {
		r.Nodes = append(r.Nodes, report.Node(i.view, n))
	}
	return r, nil
}

func (i inquiry) listApps(api.ControlRequest) (api.ControlReply, error) {
	r := api.ControlReply{Apps: []api.AppSummary{}}
	for _, e := range i.view.Ended() {
		r.Apps = append(r.Apps, e.Detail.AppSummary)
	}
	for _, a := range i.view.Apps() {
		r.Apps = append(r.Apps, i.kept.Summary(i.view, i.estimates, a))
	}
	slices.SortFunc(r.Apps, func(a, b api.AppSummary) int { return cmp.Compare(a.ID, b.ID) })
	return r, nil
}

func (i inquiry) showApp(q api.ControlRequest) (api.ControlReply, error) {
	if a := i.view.App(q.App); a != nil {
		detail := i.kept.Detail(i.view, i.estimates, a)
		return api.ControlReply{App: &detail}, nil
	}
	if e := i.view.EndedApp(q.App); e != nil {
		detail := e.Detail
		return api.ControlReply{App: &detail}, nil
	}
	return api.ControlReply{}, notFound(q.App)
}

func (i inquiry) listProfiles(api.ControlRequest) (api.ControlReply, error) {
	r := api.ControlReply{Profiles: []api.Profile{}}
	for _, p := range i.view.Profiles() {
		r.Profiles = append(r.Profiles, p.Body)
	}
	return r, nil
}

func (i inquiry) showProfile(q api.ControlRequest) (api.ControlReply, error) {
	p := i.view.Profile(q.Profile)
	if p == nil {
		return api.ControlReply{}, admission.NoProfile(q.Profile)
	}
	return api.ControlReply{Profiles: []api.Profile{p.Body}}, nil
}

func notFound(id api.AppID) error {
	return api.Errorf(api.KindNotFound, "application %q is not known: `pacer apps` lists them", string(id))
}
