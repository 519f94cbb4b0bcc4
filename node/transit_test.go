package node

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// A Plan that was held up for 6 s has 6 s less left than it says: the deadlines are
// where the planner wants them. One that comes a little late is no exception, and a
// repeated target keeps its anchor.
func TestAPlanThatWasHeldUpMovesNoDeadline(t *testing.T) {
	w := newWorld(t, testConfig(4))
	far := units.Instant(1_800_000_000_000_000_000)
	send := func(epoch uint64, on time.Duration, targets ...api.StageTarget) (sent units.Instant) {
		sent = w.now
		p := of("planner", 1, epoch, planApp(appA, 4, ids("1"), targets...))
		p.Sent = far + sent
		w.ticks(int(on / w.e.roster.cfg.Interval))
		w.apply(p)
		return sent
	}
	send(1, 0)
	w.ticks(4)
	for i, on := range []time.Duration{0, 6 * time.Second, 500 * time.Millisecond, 0} {
		epoch := uint64(i + 2)
		next := target(1, "1", 100, 100, time.Minute, 1)
		next.Rev = epoch
		sent := send(epoch, on, next)
		c := w.e.roster.apps[0].controls[0]
		if c.deadline != sent.Add(time.Minute) || c.start != w.now || w.e.roster.apps[0].deadline != sent.Add(100*time.Second) {
			t.Errorf("held up for %v: the stage is due %v after the sending, the application %v", on, c.deadline.Sub(sent), w.e.roster.apps[0].deadline.Sub(sent))
		}
	}
	due := w.e.roster.apps[0].controls[0].deadline
	again := target(1, "1", 100, 100, time.Minute, 1)
	again.Rev = 5
	send(9, 3*time.Second, again)
	if got := w.e.roster.apps[0].controls[0].deadline; got != due {
		t.Errorf("a repeated target is due %v later", got.Sub(due))
	}
}

// Whatever the clocks show, not more than a minute is taken off, and never of a Plan
// that says neither when it was sent nor by whom.
func TestClocksThatLeapTakeLittleOff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tr transit
		anything := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, 1e12))
		for range rapid.IntRange(1, 30).Draw(t, "plans") {
			p := api.Plan{Sent: units.Instant(anything.Draw(t, "sent")), Term: rapid.Uint64Range(0, 2).Draw(t, "term"),
				Planner: rapid.SampledFrom([]string{"", "p", "q"}).Draw(t, "planner")}
			held := tr.heldUp(units.Instant(max(0, anything.Draw(t, "now"))), &p)
			if held < 0 || held > mostHeldUp || held > 0 && (p.Sent <= 0 || p.Planner == "") {
				t.Fatalf("%+v was held up for %v", p, held)
			}
		}
	})
}

// Clocks that agree on what a second is, however far apart: what is taken off is what
// the Plan took longer than the quickest one lately, so never more than it took. After
// a clock has stood still for a while that is so again within two windows.
func TestWhatIsTakenOffIsWhatAPlanTookLonger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tr transit
		apart := rapid.Int64Range(-1e15, 1e18).Draw(t, "between the clocks")
		quickest, leapt := 100*time.Microsecond, units.Instant(-1)
		now := units.Instant(1e15)
		for i := range 60 {
			now = now.Add(time.Duration(rapid.Int64Range(1e9, 40e9).Draw(t, "pause")))
			if i > 0 && rapid.IntRange(0, 30).Draw(t, "leap") == 0 {
				apart, leapt = apart+rapid.Int64Range(-50e9, 50e9).Draw(t, "by"), now
			}
			on := quickest
			if i%4 > 0 {
				on += time.Duration(rapid.Int64Range(0, 20e9).Draw(t, "held up"))
			}
			held := tr.heldUp(now.Add(on), &api.Plan{Planner: "p", Term: 1, Sent: max(1, now+units.Instant(apart))})
			if steady := leapt < 0 || now.Sub(leapt) > 3*transitWindow; steady && now+units.Instant(apart) > 1 && held != on-quickest {
				t.Fatalf("Plan %d took %v, %v are taken off", i, on, held)
			}
			now = now.Add(on)
		}
	})
}
