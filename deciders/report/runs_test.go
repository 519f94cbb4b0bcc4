package report_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// ran are runs of two users in two days: two in time, one late, one without a deadline, one that failed, one that was
// killed, one that was refused, and one of which nobody knows how it ended.
func ran(t *testing.T) *ledgertest.Cluster {
	c := ledgertest.New(t, "a")
	i := 0
	end := func(r ledger.Run) {
		i++
		r.App = api.AppID(fmt.Sprintf("app-%d", i))
		if r.State == "" {
			r.State = api.AppFinished
		}
		c.App(r.App, "p", 60, "a")
		c.Know(ledger.RunEnded{App: r.App, State: api.AppUnknown}, ledger.Archived{App: r.App,
			Detail: api.AppDetail{AppSummary: api.AppSummary{ID: r.App, State: r.State}}, Run: r})
	}
	end(ledger.Run{Profile: "etl", User: "ann", Class: api.ClassBatch, Deadline: 100, Duration: 90, Work: 3600, Compared: 1800, Profiled: 2000, Mean: 2, Offered: 8})
	end(ledger.Run{Profile: "etl", User: "ann", Class: api.ClassBatch, Deadline: 100, Duration: 110, Work: 1800, Mean: 4, Offered: 8})
	end(ledger.Run{Profile: "etl", User: "bob", Class: api.ClassDeadline, Duration: 20})
	end(ledger.Run{Profile: "etl", User: "bob", Class: api.ClassDeadline, Deadline: 100, State: api.AppFailed, Duration: 1})
	end(ledger.Run{Profile: "etl", User: "bob", Class: api.ClassDeadline, Deadline: 100, State: api.AppFailed, Killed: true, Duration: 1})
	c.To(units.Seconds((25 * time.Hour).Seconds()))
	end(ledger.Run{Profile: "sales", User: "bob", Class: api.ClassDeadline, Deadline: 100, Duration: 100})
	end(ledger.Run{Profile: "sales", User: "bob", Class: api.ClassDeadline, Deadline: 100, State: api.AppUnknown})
	c.Know(ledger.Refused{Detail: api.AppDetail{AppSummary: api.AppSummary{ID: "app-no", State: api.AppRefused}},
		Run: ledger.Run{App: "app-no", Profile: "sales", User: "bob", Class: api.ClassDeadline, Deadline: 1, State: api.AppRefused}})
	return c
}

func everybody(*ledger.Run) bool { return true }

func TestWhatRunsCameTo(t *testing.T) {
	v := ran(t).View()
	r := report.Runs(v, api.Query{}, everybody)
	var got struct{ Rows []api.ReportRow }
	got.Rows = append(r.Rows, r.Total)
	b, err := json.Marshal(got.Rows)
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	row := func(key string, counts [8]float64, margin, pct, hours, paced, profiled, held, offered any) map[string]any {
		m := map[string]any{"key": key, "median_margin_s": margin, "median_margin_pct": pct, "core_hours": hours, "paced_core_hours": paced,
			"profile_core_hours": profiled, "held_cores": held, "offered_cores": offered, "freed_core_hours": nil}
		if held != nil { // Those that ran did so for 200 s.
			m["freed_core_hours"] = (8 - 3.1) * 200 / 3600.0
		}
		for i, name := range []string{"runs", "met", "late", "unbound", "failed", "killed", "refused", "unknown"} {
			m[name] = counts[i]
		}
		return m
	}
	want := []map[string]any{
		row("etl", [8]float64{5, 1, 1, 1, 1, 1, 0, 0}, 0.0, 0.0, 1.5, 0.5, 2000.0/3600, (2*90+4*110)/200.0, 8.0),
		row("sales", [8]float64{3, 1, 0, 0, 0, 0, 1, 1}, 0.0, 0.0, 0.0, nil, nil, nil, nil),
		row("", [8]float64{8, 2, 1, 1, 1, 1, 1, 1}, 0.0, 0.0, 1.5, 0.5, 2000.0/3600, (2*90+4*110)/200.0, 8.0),
	}
	if d := cmp.Diff(want, rows); d != "" {
		t.Error(d)
	}
}

// Runs are added up by what is asked for, of the time that is asked for, and of those that who asks may see.
func TestWhichRunsAreAddedUp(t *testing.T) {
	v := ran(t).View()
	of := func(q api.Query, sees func(*ledger.Run) bool) string {
		r, text := report.Runs(v, q, sees), ""
		for _, row := range r.Rows {
			text += fmt.Sprintf("%s %d, ", row.Key, row.Runs)
		}
		return fmt.Sprintf("%s%d", text, r.Total.Runs)
	}
	anns := func(r *ledger.Run) bool { return r.User == "ann" }
	day := func(hours int) string {
		return time.Unix(0, int64(v.Now())).UTC().Add(time.Duration(hours) * time.Hour).Format(time.DateOnly)
	}
	for _, c := range []struct {
		q    api.Query
		sees func(*ledger.Run) bool
		want string
	}{
		{api.Query{By: api.ByUser}, everybody, "ann 2, bob 6, 8"},
		{api.Query{By: api.ByClass}, everybody, "batch 2, deadline 6, 8"},
		{api.Query{By: api.ByDay}, everybody, day(-25) + " 5, " + day(0) + " 3, 8"},
		{api.Query{By: api.ByDay, UTCOffset: 86400}, everybody, day(-1) + " 5, " + day(24) + " 3, 8"},
		{api.Query{Since: 3600}, everybody, "sales 3, 3"},
		{api.Query{Since: 1e15}, everybody, "etl 5, sales 3, 8"},
		{api.Query{}, anns, "etl 2, 2"},
		{api.Query{Since: 3600}, anns, "0"},
	} {
		if got := of(c.q, c.sees); got != c.want {
			t.Errorf("%+v: %s, want %s", c.q, got, c.want)
		}
	}
	if m := report.Runs(v, api.Query{By: api.ByUser}, anns).Rows[0]; *m.Margin != 0 || *m.MarginPct != 0 {
		t.Errorf("the median of 10 s early and 10 s late is %v, %v %%", *m.Margin, *m.MarginPct)
	}
}
