package realenv

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/sparklog"
)

// QuotasOf is how long after a stage of app was ready each executor that it had then was held back for it, in
// milliseconds: from the moment of the driver's event, on the clock that its submission started, to the line that the
// node controller logs in the turn in which it writes the quota, directly before it. Stages that were ready while
// another one ran are left out, for they wait for executors, and so are executors that the node had not found by then.
func QuotasOf(t testing.TB, app api.AppDetail, log sparklog.Log, said string) (ms []float64) {
	t.Helper()
	began, err := strconv.ParseInt(log.Settings["spark.pacer.submitted"], 10, 64)
	if err != nil {
		t.Fatalf("when the application was submitted: %v", err)
	}
	for _, s := range app.Stages {
		if app.Pacing != "paced" || s.Stage < 0 || slices.ContainsFunc(app.Stages, func(o api.AppStage) bool {
			return o.StageKey != s.StageKey && o.Start <= s.Start && s.Start < o.Start+o.Duration
		}) {
			continue
		}
		ready := time.UnixMilli(began).Add(s.Start.Duration())
		for _, x := range s.Executors {
			found, ok := ToldAt(t, said, fmt.Sprintf("executor found %s/%s", app.ID, x))
			if !ok || found.After(ready) {
				continue
			}
			held, ok := ToldAt(t, said, fmt.Sprintf("stage bound %s/%s stage %d.%d", app.ID, x, s.Stage, s.Attempt))
			if !ok {
				t.Logf("stage %d never held executor %s back", s.Stage, x)
				continue
			}
			ms = append(ms, max(0, float64(held.Sub(ready).Microseconds())/1000))
		}
	}
	return ms
}

// ToldAt is when a node controller has said something in its log for the first time.
func ToldAt(t testing.TB, log, said string) (at time.Time, ok bool) {
	t.Helper()
	for line := range strings.Lines(log) {
		if !strings.Contains(line, `"`+said+`"`) {
			continue
		}
		text, _, _ := strings.Cut(strings.TrimPrefix(line, "time="), " ")
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return at, true
	}
	return at, false
}
