package sim

import (
	"math"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/plant"
)

// An application ends when its driver's process has exited, some time after its
// context's stop; the profile learns how long, and the deadline is kept at the exit.
func TestADeadlineIsKeptAtTheExit(t *testing.T) {
	app := plant.App{Name: "a", Head: 3, Tail: 0.2, Exit: 3, Driver: 1, Stages: []plant.Stage{{Name: "s", Tasks: 200, Work: 400, Records: 1e6, Gap: 0.1}}}
	c := Default()
	c.Nodes = c.Nodes[:1]
	p, full, err := Record(c, app)
	if err != nil {
		t.Fatal(err)
	}
	if p.Exit < 1.5 || p.Exit > 6 {
		t.Errorf("the profile says %.2f s for an exit that takes about 3", float64(p.Exit))
	}
	c.Seed++
	app.Deadline = full.Duration * 1.4
	o, err := Pace(c, app, p, 0)
	if err != nil {
		t.Fatal(err)
	}
	if between := (o.StopError - o.Error) / 100 * float64(o.Deadline); between < 1.5 || between > 6 {
		t.Errorf("%.2f s between stop and exit, want about 3", between)
	}
	if o.Error < 0 || o.Error > 5 {
		t.Errorf("the error at the exit is %+.2f %%", o.Error)
	}
	app.Exit = 0
	if _, full, err = Record(c, app); err != nil || math.Abs(full.StopError-full.Error) > 1e-9 {
		t.Errorf("without a time to exit the errors differ: %+v, %v", full, err)
	}
}

// lastWordWorld is a world whose application stops its context and exits seconds later, at
// the moment when the planner has taken its end and the driver has not heard so.
func lastWordWorld(t *testing.T) (*World, *Driver) {
	t.Helper()
	c := Default()
	c.Nodes = c.Nodes[:1]
	w := must(t, c)
	d, err := w.Submit(w.Now(), plant.App{Name: "a", Deadline: 100, Tail: 1, Exit: 10, Stages: []plant.Stage{{Name: "s", Tasks: 160, Work: 320}}})
	if err != nil {
		t.Fatal(err)
	}
	for len(w.Apps()) == 0 || w.Apps()[0].State != api.AppEnding {
		if w.turn(des.Never); w.err != nil || w.Now() > 1000 {
			t.Fatalf("at %.1f s: %v", float64(w.Now()), w.err)
		}
	}
	d.link.Cut = true
	return w, d
}

// A driver that has not heard that its end was taken registers again with a planner that
// was started anew, is told so, and its last word counts.
func TestALastWordAfterALostAcknowledgementCounts(t *testing.T) {
	w, d := lastWordWorld(t)
	w.control.down()
	if err := w.Pass(time.Second); err != nil {
		t.Fatal(err)
	}
	d.link.Cut = false
	w.control.restart()
	if err := w.Run(); err != nil {
		t.Fatal(err)
	}
	if r := d.Result(); r.EndedBy != api.EndedByLastWord || r.Duration < d.spark.Duration+5 {
		t.Errorf("ended by %q after %.1f s, its context stopped after %.1f s", r.EndedBy, float64(r.Duration), float64(d.spark.Duration))
	}
}

// A driver that has not heard that its end was taken until it is history ends its
// conversation, and its context has stopped when it did.
func TestADriverThatIsHistoryFallsSilent(t *testing.T) {
	w, d := lastWordWorld(t)
	stopped := d.spark.Duration
	if err := w.Pass(time.Minute); err != nil {
		t.Fatal(err)
	}
	w.control.down()
	d.link.Cut = false
	w.control.restart()
	if err := w.Run(); err != nil {
		t.Fatal(err)
	}
	if r := d.Result(); !d.talk.Closed() || r.EndedBy != api.EndedByStop || d.spark.Duration != stopped {
		t.Errorf("ended by %q, its context stopped after %.1f s, then %.1f s", r.EndedBy, float64(stopped), float64(d.spark.Duration))
	}
}
