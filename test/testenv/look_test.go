package testenv_test

import (
	"math"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/testenv"
)

// cores is who had the cores.
func cores(e *testenv.Env, q *api.Query) *api.CoresHistory {
	e.T.Helper()
	r, err := e.Ask(api.VerbCores, api.ControlRequest{Query: q})
	if err != nil || r.Cores == nil {
		e.T.Fatalf("%+v, %v", r, err)
	}
	return r.Cores
}

// While an application is paced it is shown what it is promised until its deadline, second by second it is shown what it has used,
// and when it has ended it is in the report: beside what its profile says. A restart keeps the report.
func TestWhoHadTheCoresAndWhatRunsCameTo(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		n := one(e)
		d := paced(e, testenv.Chain("chain", 3, 30), 1.6)
		underQuota(e, n, d)
		detail := e.App(d.ID())
		due := detail.Submitted.Add(detail.Deadline.Duration())
		if p := cores(e, nil).Promised; len(p) != 1 || p[0].App != d.ID() || !(p[0].Cores > 0 && p[0].Cores < 2) || p[0].Until.Sub(due).Abs() > time.Second {
			t.Errorf("promised %+v, until %v", p, due)
		}
		r, err := e.Ask(api.VerbNodes, api.ControlRequest{})
		if err != nil || r.Nodes[0].NodeCores == nil || r.Nodes[0].Used <= 0 || r.Nodes[0].Granted <= 0 || r.Nodes[0].Granted > 2 {
			t.Errorf("nodes %+v, %v", r.Nodes, err)
		}
		ended := d.Wait()
		e.Pass(2 * time.Second)
		h := cores(e, nil)
		used, known := 0.0, 0
		for _, a := range h.Apps {
			for i, v := range a.Used {
				if a.App == d.ID() {
					used += float64(v)
				}
				if h.Offered[i] == 2 {
					known++
				}
			}
		}
		if math.Abs(used-float64(ended.CoreSeconds)) > 0.1*float64(ended.CoreSeconds)+2 || len(h.Apps) != 2 || known < h.Points || len(h.Promised) != 0 {
			t.Errorf("it has used %v core-seconds, of which %v are shown; %d applications, %d of %d points, promised %+v", float64(ended.CoreSeconds), used,
				len(h.Apps), known, h.Points, h.Promised)
		}
		if m := cores(e, &api.Query{Step: 60}); m.Points == 0 || m.Points > h.Points/60+1 {
			t.Errorf("%d minutes of %d seconds", m.Points, h.Points)
		}
		report := func() api.ReportRow {
			r, err := e.Ask(api.VerbReport, api.ControlRequest{Query: &api.Query{Since: 3600}})
			if err != nil || r.Report == nil || len(r.Report.Rows) != 1 || r.Report.Rows[0].Key != "chain" {
				t.Fatalf("%+v, %v", r.Report, err)
			}
			return r.Report.Rows[0]
		}
		before := report()
		if before.Runs != 2 || before.Met != 1 || before.Unbound != 1 || math.Abs(*before.MarginPct-*ended.ErrorPct) > 0.01 || before.ProfileCoreHours == nil ||
			math.Abs(*before.PacedCoreHours / *before.ProfileCoreHours - 1) > 0.15 || *before.Offered != 2 || *before.Held >= 2 {
			t.Errorf("%+v", before)
		}
		e.StopPlanner()
		e.StartPlanner()
		if after := report(); after.Runs != 2 || *after.Margin != *before.Margin {
			t.Errorf("after a restart %+v, want %+v", after, before)
		}
		if h := cores(e, nil); h.Points > 5 || len(h.Apps) != 0 {
			t.Errorf("after a restart there are %d points of %d applications", h.Points, len(h.Apps))
		}
	})
}
