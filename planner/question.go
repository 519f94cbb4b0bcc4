package planner

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/consolidation"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/heap"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/recording"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/deciders/versions"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// inquiry is what a question is answered from: a snapshot, so that the engine goes on meanwhile.
type inquiry struct {
	view      ledger.View
	estimates estimate.Policy
	places    placement.Policy
	kept      *report.Kept
	// cfg says how the queue is served where no operator does, even how even applications are served.
	cfg  Config
	even report.Evenness
}

// question is how a request that shows something is answered.
type question func(inquiry, api.ControlRequest) (api.ControlReply, error)

// settled is with the runs that have ended in the profiles and sums already: they go there for good when the
// nodes' last figures are there, and their users have been told that they do.
func (i inquiry) settled() inquiry {
	var f ledger.Foresight
	for _, a := range i.view.Apps() {
		if !a.Over() || a.Outcome.EndedBy != api.EndedByExit {
			continue
		}
		s := report.Summary(i.view, i.estimates, a)
		if teaching(a) {
			if _, learnt, err := recording.Record(i.view, a); err == nil {
				f.Profiles = append(f.Profiles, learnt)
			}
		}
		run := report.Run(i.estimates, i.view, a, &s)
		run.At = i.view.Now() // As the fact that archives it says.
		f.Runs = append(f.Runs, run)
	}
	if len(f.Runs) > 0 {
		i.view = f.Of(i.view)
	}
	return i
}

// questions is where one is entered.
var questions = map[api.Verb]question{
	api.VerbApps:     inquiry.listApps,
	api.VerbApp:      inquiry.showApp,
	api.VerbWhy:      inquiry.why,
	api.VerbNodes:    inquiry.listNodes,
	api.VerbSpare:    inquiry.spare,
	api.VerbPolicy:   inquiry.showPolicy,
	api.VerbProfiles: inquiry.listProfiles,
	api.VerbProfile:  inquiry.showProfile,
	api.VerbVersions: inquiry.history,
	api.VerbKnee:     inquiry.knee,
	api.VerbReport:   inquiry.report,
	api.VerbCores:    inquiry.promised,
}

func (i inquiry) listNodes(q api.ControlRequest) (r api.ControlReply, err error) {
	var names []string
	for _, n := range i.view.Nodes() {
		names = append(names, n.Node)
	}
	r.Nodes, r.More = page(q.Page, names, func(name string) api.NodeSummary {
		return report.Node(i.view, i.view.Node(name))
	})
	return r, nil
}

func (i inquiry) listApps(q api.ControlRequest) (r api.ControlReply, err error) {
	ended := make(map[string]*ledger.Ended)
	for _, e := range i.view.Ended() {
		ended[string(e.Detail.ID)] = e
	}
	ids := slices.Collect(maps.Keys(ended))
	for _, a := range i.view.Apps() {
		ids = append(ids, string(a.ID))
		if q.Page != nil {
			continue
		}
		if part := estimate.Estimated(a); part > 0 {
			if r.Estimated == nil {
				r.Estimated = make(map[api.AppID]units.Fraction)
			}
			r.Estimated[a.ID] = part
		}
	}
	slices.Sort(ids)
	r.Apps, r.More = page(q.Page, ids, func(id string) api.AppSummary {
		if a := i.view.App(api.AppID(id)); a != nil {
			return i.kept.Summary(i.view, i.estimates, a)
		}
		return ended[id].Detail.AppSummary
	})
	return r, nil
}

func (i inquiry) showApp(q api.ControlRequest) (r api.ControlReply, err error) {
	var detail api.AppDetail
	if a := i.view.App(q.App); a != nil {
		detail = i.kept.Detail(i.view, i.estimates, a)
	} else if e := i.view.EndedApp(q.App); e != nil {
		detail = e.Detail
	} else {
		return r, notFound(q.App)
	}
	if q.Page != nil && q.Page.After != "" {
		// The rest is on the first page.
		detail = api.AppDetail{AppSummary: api.AppSummary{ID: detail.ID}, Stages: detail.Stages}
	}
	places := make([]string, len(detail.Stages))
	for k := range places {
		places[k] = fmt.Sprintf("%08d", k)
	}
	stages := detail.Stages
	detail.Stages, r.More = page(q.Page, places, func(place string) api.AppStage {
		k, _ := strconv.Atoi(place)
		return stages[k]
	})
	r.App = &detail
	return r, nil
}

func (i inquiry) why(q api.ControlRequest) (r api.ControlReply, err error) {
	var w api.Why
	if a := i.view.App(q.App); a != nil {
		w = i.kept.Why(i.view, i.estimates, a)
	} else if e := i.view.EndedApp(q.App); e != nil {
		w = report.WhyEnded(e)
	} else {
		return r, notFound(q.App)
	}
	r.Why = &w
	return r, nil
}

func (i inquiry) listProfiles(q api.ControlRequest) (r api.ControlReply, err error) {
	var keys []string
	rows := map[string]*ledger.Profile{}
	for _, p := range seenProfiles(i.settled().view, q) {
		key := p.Body.Name + "\x00" + p.Body.Owner // As they are in order.
		keys, rows[key] = append(keys, key), p
	}
	r.Listed, r.More = page(q.Page, keys, func(key string) api.ProfileSummary {
		row, s := rows[key].Body.Summary(), versions.Of(rows[key])
		row.Version, row.Pinned = s.Newest().Number, s.Pinned
		return row
	})
	return r, nil
}

// pageBytes is about how large a page is, encoded: one that is larger has one entry.
const pageBytes = 1 << 20

// page returns the entries of keys, which are in order, that p asks for, and the last one's key if
// there are more; all without a p.
func page[T any](p *api.Page, keys []string, entry func(key string) T) (list []T, more string) {
	list, bytes := []T{}, 0
	for _, key := range keys {
		if p == nil {
			list = append(list, entry(key))
			continue
		}
		if p.After != "" && key <= p.After {
			continue
		}
		if p.Most > 0 && len(list) == p.Most {
			return list, more
		}
		one := entry(key)
		body, _ := json.Marshal(one) // A value that cannot be encoded is told when all is.
		if bytes += len(body); bytes > pageBytes && len(list) > 0 {
			return list, more
		}
		list, more = append(list, one), key
	}
	return list, ""
}

func (i inquiry) showProfile(q api.ControlRequest) (api.ControlReply, error) {
	p, err := findProfile(i.settled().view, q)
	if err != nil {
		return api.ControlReply{}, err
	}
	body := p.Body
	if q.Query != nil {
		body, err = version(p, q.Query.To)
	}
	return api.ControlReply{Profiles: []api.Profile{body}}, err
}

// report adds up the runs that have ended: all for who operates, for others their own.
func (i inquiry) report(q api.ControlRequest) (r api.ControlReply, err error) {
	var query api.Query
	if q.Query != nil {
		query = *q.Query
	}
	own := ledger.RunName(q.User)
	d := report.Runs(i.settled().view, query, func(run *ledger.Run) bool { return q.Operates || run.User == own })
	rows := make(map[string]api.ReportRow, len(d.Rows))
	keys := make([]string, 0, len(d.Rows))
	for _, row := range d.Rows {
		key := "=" + row.Key // A page begins after a key, and "" is one.
		keys, rows[key] = append(keys, key), row
	}
	d.Rows, r.More = page(q.Page, keys, func(key string) api.ReportRow { return rows[key] })
	r.Report = &d
	return r, nil
}

// promised says what applications are promised of the cores from now on: who had them the engine does not know.
func (i inquiry) promised(api.ControlRequest) (r api.ControlReply, err error) {
	r.Cores = &api.CoresHistory{V: api.Version, Promised: report.Promised(i.estimates.Outlook(i.view))}
	return r, nil
}

// spare says which node may sleep, or who is in the way.
func (i inquiry) spare(api.ControlRequest) (r api.ControlReply, err error) {
	t, _ := consolidation.Decode(i.view.Learnt(ledger.NodesKey)) // A table that cannot be read is told by the next round.
	r.Message = placement.Empty(i.estimates.Outlook(i.view), t).String()
	return r, nil
}

func notFound(id api.AppID) error {
	return api.Errorf(api.KindNotFound, "application %q is not known: `pacer apps` lists them", string(id))
}

// history are the versions of a profile, and what has changed between two of them where a request asks for that: since
// the version before the newest, if it does not say which.
func (i inquiry) history(q api.ControlRequest) (api.ControlReply, error) {
	p, err := findProfile(i.view, q)
	if err != nil {
		return api.ControlReply{}, err
	}
	s := versions.Of(p)
	h := api.ProfileHistory{V: api.Version, Name: p.Body.Name, Owner: p.Body.Owner, Versions: []api.ProfileVersion{}}
	for _, v := range slices.Backward(s.Versions) {
		body, err := version(p, v.Number)
		if err != nil {
			return api.ControlReply{}, err
		}
		told := api.ProfileVersion{Number: v.Number, How: v.How, By: v.By, Pinned: v.Number == s.Pinned, Runs: body.Runs,
			Stages: len(body.Stages), Duration: body.Duration, Work: body.Work()}
		if v.Since > 0 {
			told.Since = time.Unix(0, int64(v.Since)).UTC()
		}
		h.Versions = append(h.Versions, told)
	}
	if q.Query != nil {
		h.Diff, err = compare(p, s, q.Query.From, q.Query.To)
	}
	return api.ControlReply{History: &h}, err
}

// knee is what is known of the heap of a profile's runs.
func (i inquiry) knee(q api.ControlRequest) (r api.ControlReply, err error) {
	p, err := findProfile(i.view, q)
	if err == nil {
		k := heap.Report(p)
		r.Knee = &k
	}
	return r, err
}

// compare is what has changed between two versions of p.
func compare(p *ledger.Profile, s versions.State, from, to int) (*api.ProfileDiff, error) {
	to = cmp.Or(to, s.Newest().Number)
	if from == 0 {
		for _, v := range s.Versions {
			if v.Number < to {
				from = v.Number
			}
		}
	}
	if from == 0 || from == to {
		return nil, api.Errorf(api.KindInvalid, "profile %q has one version to compare: say which two", p.Body.Name)
	}
	a, err := version(p, from)
	if err != nil {
		return nil, err
	}
	b, err := version(p, to)
	if err != nil {
		return nil, err
	}
	return &api.ProfileDiff{From: from, To: to, Said: append([]string{}, profiles.Diff(a, b)...)}, nil
}
