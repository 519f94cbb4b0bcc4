package planner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
)

// stepped is how many bytes a step saves.
func (w *world) stepped(event planner.Event) (bytes int) {
	w.Helper()
	for _, action := range w.e.Step(w.now, event) {
		if s, ok := action.(planner.Save); ok {
			for _, p := range s.Changes {
				bytes += len(p.Key) + len(p.Value)
			}
		}
	}
	return bytes
}

// numbered is a batch of one driver, of executors of these numbers that have come.
func (w *world) numbered(id api.AppID, submission string, numbers ...int) planner.DriverEvents {
	var events []api.Event
	for _, n := range numbers {
		w.events[id]++
		e := upOn(api.ExecutorID(fmt.Sprint(n)), "host-a")
		e.Seq = w.events[id]
		events = append(events, e)
	}
	return planner.DriverEvents{To: 1, Batch: api.Events{V: api.Version, AppID: id, Submission: submission, Events: events}}
}

// A driver names one executor of the greatest number, or brings that along, or climbs to it: the planner keeps as many
// records as it was told of executors, and some more.
func TestAttackTheGreatestNumberOfAnExecutor(t *testing.T) {
	attach := attachedTo("etl", 1e6)
	wish := registration("etl", 1e6)
	wish.Executors, wish.AppID = api.MostExecutorID, api.NewAppID(time.Unix(0, int64(epoch)), 7, "other", wish.Submission)
	wished := attach
	wished.Executors, wished.AppID = wish.Executors, api.NewAppID(time.Unix(0, int64(epoch)), 7, "other", attach.Submission)
	for name, r := range map[string]api.RegisterRequest{"an attached one": attach, "one brought along": wish, "an attached one brought along": wished} {
		t.Run(name, func(t *testing.T) {
			w := attachedWorld(t)
			w.standby = nil
			register := planner.Register{To: 1, By: mallory, Request: r}
			bytes := w.stepped(register)
			var id api.AppID
			for _, a := range w.e.View().Apps() {
				id = a.ID
			}
			a := w.e.View().App(id)
			if a == nil || r.AppID != "" && a.ID != r.AppID {
				t.Fatalf("application %+v", a)
			}
			said := len(a.Notices)
			for range 3 {
				bytes = max(bytes, w.stepped(w.numbered(id, r.Submission, api.MostExecutorID)))
			}
			if n := len(a.Tenant.Executors); n >= 1000 || bytes > 64<<10 || len(a.Notices) != said+1 || !strings.Contains(a.Notices[said], "executor 16384 is not taken") {
				t.Errorf("%d records, %d bytes in a step, notices %q", n, bytes, a.Notices)
			}
			for n := 500; n <= api.MostExecutorID; n += 500 {
				w.stepped(w.numbered(id, r.Submission, n))
			}
			if n := len(a.Tenant.Executors); n > 3*api.MostUntold {
				t.Errorf("%d records of one that climbs", n)
			}
			if fault := w.e.Inconsistent(); fault != "" {
				t.Error(fault)
			}
		})
	}
}

// Executors of any number that come one after the other are taken, and so are those behind a gap.
func TestExecutorsOfGreatNumbersAreTaken(t *testing.T) {
	w := attachedWorld(t)
	w.standby = nil
	r := attachedTo("chain", 100)
	id := w.register(r).AppID
	last := 0
	for n := 400; n < 4000; n += 100 {
		var numbers []int
		for i := range 60 {
			numbers = append(numbers, n+i)
		}
		last = numbers[len(numbers)-1]
		w.stepped(w.numbered(id, r.Submission, numbers...))
	}
	a := w.e.View().App(id)
	if x := a.Executor(api.ExecutorID(fmt.Sprint(last))); x == nil || x.Gone || len(a.Alive()) != 36*60 {
		t.Errorf("executor %d: %+v, %d live", last, x, len(a.Alive()))
	}
}
