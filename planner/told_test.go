package planner_test

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
)

// While a stage runs that the profile lacks, a scrape is told which part of the work left that is, and
// `apps show` says from what it is estimated; once its tasks tell what it takes nothing is estimated.
func TestEstimatedWorkIsTold(t *testing.T) {
	w, id, sub := paced(t)
	w.to(20)
	w.tell(id, sub, done(20, 1, 2), reads(ready(20, 2, "something else", 50000, "1"), 0, 1))
	part := w.control(api.VerbApps, api.ControlRequest{}).Estimated[id]
	if part < 0.1 || part > 0.6 {
		t.Errorf("%v of the work left is estimated", part)
	}
	if r := w.control(api.VerbApps, api.ControlRequest{Page: &api.Page{}}); r.Estimated != nil {
		t.Errorf("a page has %v", r.Estimated)
	}
	if m := w.app(id).Stages[1].Match; m == nil || m.Known != api.StageEstimated || m.By == "" {
		t.Errorf("%+v", m)
	}
	w.to(24)
	w.tells(id, 2, 2, 0.5, 10)
	if r := w.control(api.VerbApps, api.ControlRequest{}); len(r.Estimated) > 0 {
		t.Errorf("%v is estimated when two tasks have finished", r.Estimated)
	}
	if m := w.app(id).Stages[1].Match; m == nil || m.Known != api.StageNew {
		t.Errorf("%+v", m)
	}
}
