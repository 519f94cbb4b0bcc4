package planner

import (
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/report"
)

// shownEnded is how many of the applications that have ended somebody sees who looks.
const shownEnded = 50

// changes are what has changed since a version. What runs, waits for its exit or is queued changes with time, with
// nodes and with others, and nodes with each of their statuses. The newest version that there is may go on for a
// while, so what is of that is told again the next time.
func (i inquiry) changes(since uint64) api.Changes {
	v := i.view
	c := api.Changes{At: time.Unix(0, int64(v.Now())).UTC(), Version: since, Release: i.cfg.Release,
		IDs: make([]api.AppID, 0, len(v.Apps())+shownEnded), Nodes: make([]api.NodeSummary, 0, len(v.Nodes()))}
	add := func(id api.AppID, version uint64, live bool, summary func() api.AppSummary) {
		c.IDs, c.Version = append(c.IDs, id), max(c.Version, version)
		if live || version >= since {
			s := summary()
			s.Submission = "" // It is for its user and operators alone.
			c.Apps = append(c.Apps, s)
		}
	}
	ended := v.Ended()
	for _, e := range ended[max(0, len(ended)-shownEnded):] {
		add(e.Detail.ID, e.Version(), false, func() api.AppSummary { return e.Detail.AppSummary })
	}
	for _, a := range v.Apps() {
		add(a.ID, a.Version(), a.Running() || a.Queued() || i.estimates.Leaves(a), func() api.AppSummary {
			return i.kept.Summary(v, i.estimates, a)
		})
	}
	c.Cores = &api.CoresHistory{V: api.Version, Promised: report.Promised(i.estimates.Outlook(v))}
	for _, n := range v.Nodes() {
		c.Nodes = append(c.Nodes, report.Node(v, n))
	}
	return c
}
