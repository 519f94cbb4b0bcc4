package planner_test

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
)

// A run is in the report when it is history, as its exit says even later, after a restart too; its user sees it, and who
// operates, and nobody else.
func TestARunIsReported(t *testing.T) {
	w := newWorld(t, "a")
	r := registration("p", 0)
	r.User = "ann"
	w.run(r, "read", "map", "sum")
	w.pass(2 * time.Second)
	w.exit(r.Submission, 0)
	late := registration("p", 0)
	late.Submission, late.User = "s-late", "bob"
	w.run(late, "read", "map", "sum")
	w.pass(2 * time.Second)
	w.exit(late.Submission, 3)
	w.restart()
	ask := func(by api.Principal, how api.ReportBy) api.Report {
		t.Helper()
		reply := w.step(planner.Control{To: 1, By: by, Verb: api.VerbReport, Request: api.ControlRequest{V: api.Version, User: "ann",
			Query: &api.Query{By: how}}}).(api.ControlReply)
		if reply.Error != nil || reply.Report == nil {
			t.Fatalf("%+v", reply)
		}
		return *reply.Report
	}
	all := ask(api.Principal{}, api.ByUser)
	if rows := all.Rows; len(rows) != 2 || rows[0].Key != "ann" || rows[0].Unbound != 1 || rows[1].Failed != 1 || all.Total.Runs != 2 || all.Total.CoreHours <= 0 {
		t.Errorf("all: %+v", all)
	}
	for name, want := range map[string]int{"ann": 1, "bob": 1, "viv": 0} {
		mine := ask(api.Principal{Kind: api.PrincipalUser, Name: name, Role: api.RoleView}, "")
		if mine.Total.Runs != want || (name == "bob") != (mine.Total.Failed == 1) {
			t.Errorf("%s sees %+v", name, mine.Total)
		}
	}
	if reply := w.control(api.VerbReport, api.ControlRequest{Query: &api.Query{By: "moon"}}); api.KindOf(reply.Error) != api.KindInvalid || reply.Error == nil {
		t.Errorf("by the moon: %+v", reply)
	}
}
