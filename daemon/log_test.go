package daemon

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/metrics"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

func TestLinesOfOneKindAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log, q := slog.New(slog.NewTextHandler(&out, nil)), newQuiet()
		for range 100 {
			q.line(log, slog.LevelInfo, "quota", "a change")
			q.line(log, slog.LevelDebug, "detail", "not at this level")
		}
		q.line(log, slog.LevelInfo, "other", "something else")
		if got := strings.Count(out.String(), "event=quota"); got != 20 {
			t.Errorf("%d lines at once, want 20", got)
		}
		if !strings.Contains(out.String(), "event=other") || strings.Contains(out.String(), "event=detail") {
			t.Errorf("kinds and levels are mixed up:\n%s", &out)
		}
		timer := time.NewTimer(200 * time.Millisecond)
		<-timer.C
		out.Reset()
		q.line(log, slog.LevelInfo, "quota", "a change")
		if !strings.Contains(out.String(), "not_logged=80") {
			t.Errorf("after a pause: %s", &out)
		}
	})
}

// Kinds without end are not remembered, and those that are heard stay limited.
func TestAttackKindsWithoutEnd(t *testing.T) {
	for name, pause := range map[string]time.Duration{"at once": 0, "slowly": time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, passed, loud := newQuiet(), 0, 0
				for i := range 5000 {
					if ok, _ := q.pass("loud"); ok {
						loud++
					}
					if ok, _ := q.pass(fmt.Sprint("kind ", i)); ok {
						passed++
					}
					time.Sleep(pause)
				}
				if len(q.kinds) > mostKinds {
					t.Errorf("%d kinds are remembered", len(q.kinds))
				}
				if most := 20 + int(5*5000*pause/time.Second); loud > most {
					t.Errorf("%d lines of one kind, at most %d may be", loud, most)
				}
				if pause > 0 && passed != 5000 {
					t.Errorf("%d of 5,000 kinds are heard", passed)
				}
				time.Sleep(time.Minute)
				if ok, _ := q.pass("one more"); !ok || len(q.kinds) > mostKinds {
					t.Errorf("after a rest: %v, %d kinds", ok, len(q.kinds))
				}
			})
		})
	}
}

func TestMachineNameIsAValidNodeName(t *testing.T) {
	if name := machineName(); name == "" || len(name) > 63 || strings.ContainsAny(name, ". /") {
		t.Errorf("name %q", name)
	}
}

func TestTheMemoryIsThreeQuartersOfWhatThereIs(t *testing.T) {
	for _, c := range []struct{ total, limit, want units.Bytes }{
		{16 * units.GiB, 0, 12 * units.GiB}, {16 * units.GiB, 4 * units.GiB, 3 * units.GiB}, {16 * units.GiB, 64 * units.GiB, 12 * units.GiB},
	} {
		if got := mostOf(c.total, c.limit); got != c.want {
			t.Errorf("of %v within %v: %v, want %v", c.total, c.limit, got, c.want)
		}
	}
}

func TestTheReserveIsATenthAndAtLeastATenthOfACore(t *testing.T) {
	if defaultReserve(0.5) != 0.1 || defaultReserve(64) != 6.4 {
		t.Errorf("%v, %v", defaultReserve(0.5), defaultReserve(64))
	}
}

// The series of a profile's late runs is there before a run of it ends: one that began at 1 would not have risen.
func TestLateRunsAreCountedFromZero(t *testing.T) {
	r := prometheus.NewRegistry()
	count, err := metrics.NewPlanner(r, func() (metrics.View, error) { return metrics.View{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	shows := func(series string) {
		t.Helper()
		want := "# HELP pacer_runs_total Applications that have ended, by profile and by how they ended.\n" +
			"# TYPE pacer_runs_total counter\n" + series + "\n"
		if err := testutil.GatherAndCompare(r, strings.NewReader(want), "pacer_runs_total"); err != nil {
			t.Error(err)
		}
	}
	countFact(count, ledger.Registered{Promise: ledger.Promise{Profile: "free"}})
	countFact(count, ledger.Registered{Promise: ledger.Promise{Profile: "etl", Deadline: 90}})
	shows("pacer_runs_total{profile=\"etl\",result=\"late\"} 0\npacer_runs_total{profile=\"etl\",result=\"met\"} 0")
	late := -1.0
	countFact(count, ledger.Archived{Detail: api.AppDetail{AppSummary: api.AppSummary{Profile: "etl", ErrorPct: &late}},
		Run: ledger.Run{State: api.AppFinished, Deadline: 100, Duration: 101}})
	shows("pacer_runs_total{profile=\"etl\",result=\"late\"} 1\npacer_runs_total{profile=\"etl\",result=\"met\"} 0")
}
