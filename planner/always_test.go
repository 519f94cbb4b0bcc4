package planner_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// drawnWorld is a world to which the same things happen for the same seed, whatever its engine says.
type drawnWorld struct {
	*world
	draw    *rand.Rand
	apps    []api.RegisterRequest
	ids     []api.AppID
	bounded bool // Applications have deadlines.
}

// newDrawnWorld has an oracle of its own for each engine: its actions are compared, and not summed.
func newDrawnWorld(t *testing.T, seed uint64, rule string, bounded bool) *drawnWorld {
	cfg := planner.Default()
	cfg.Queue.Rule = rule
	d := &drawnWorld{world: newWorldOf(t, cfg, "a", "b", "c"), draw: rand.New(rand.NewPCG(seed, 1)), bounded: bounded}
	d.done = new(uint64)
	d.put(chain("chain"))
	return d
}

// happen has one thing happen, and says what.
func (d *drawnWorld) happen() (what string) {
	node := []string{"a", "b", "c"}[d.draw.IntN(3)]
	i := d.draw.IntN(max(1, len(d.apps)))
	switch kind := d.draw.IntN(10); {
	case kind == 0 || len(d.apps) == 0:
		r := registration("new", 0)
		if d.bounded {
			r.Name = "chain"
			r.Deadline = []units.Seconds{0, 100, 1000}[d.draw.IntN(3)]
		}
		r.Submission, r.Launch.Heap = fmt.Sprint("drawn ", len(d.apps)), units.Bytes(1+9*d.draw.IntN(2))*units.GiB
		if reply := d.register(r); reply.Error == nil {
			d.apps, d.ids = append(d.apps, r), append(d.ids, reply.AppID)
		}
		return "an application comes"
	case kind < 3:
		d.resend(d.ids[i], d.apps[i].Submission)
		return "a heartbeat of " + string(d.ids[i])
	case kind == 3:
		d.send(d.ids[i], d.apps[i].Submission, end(5))
		return "the end of " + string(d.ids[i])
	case kind == 4:
		d.send(d.ids[i], d.apps[i].Submission, gone(2, "1"))
		return "an executor is lost of " + string(d.ids[i])
	case kind == 5:
		d.memory[node] = []units.Bytes{8, 16, 24}[d.draw.IntN(3)] * units.GiB
		d.step(planner.Status{Status: new(d.status(node))})
		return "node " + node + " has other memory"
	case kind == 6:
		d.control([]api.Verb{api.VerbDrain, api.VerbUndrain}[d.draw.IntN(2)], api.ControlRequest{Node: node})
		return "node " + node + " is drained, or not any more"
	case kind == 7 && d.bounded:
		d.control(api.VerbDeadline, api.ControlRequest{App: d.ids[i], Deadline: 500})
		return "another deadline of " + string(d.ids[i])
	case kind == 8:
		for _, n := range []string{"a", "b"} {
			d.step(planner.Status{Status: new(d.status(n))})
		}
		return "nodes a and b speak"
	}
	d.pass(time.Duration(1+d.draw.IntN(8)) * time.Second)
	return "time passes"
}

// seats is who runs, waits or has ended, with which executors.
func (d *drawnWorld) seats() string {
	var all strings.Builder
	for _, a := range d.e.View().Apps() {
		fmt.Fprintln(&all, a.ID, a.Outcome.State, a.Tenant.Pending)
		if w := waiting.Of(a); w.Waits() {
			fmt.Fprintln(&all, "place", w.Place, w.Of)
		}
		for _, x := range a.Tenant.Executors {
			fmt.Fprintln(&all, x.ID, x.Node, x.Gone, x.Leaving)
		}
		fmt.Fprintln(&all, waiting.Gifts(a))
	}
	return all.String()
}

// Whatever happens, an engine that asks rows when what they read has changed does what an engine does that asks them on
// each of their occasions. Where nothing has a deadline or a profile, time says when an application is expected to start,
// and not whether it does. Then the second engine asks always what is asked after some time as well, and both have
// the same executors. So they have by a rule that bounds growth: then an application that may have less than before, and
// has no more, counts as crowded once it is looked at.
func TestAskingByNeedIsAskingAlways(t *testing.T) {
	for _, rule := range []string{assign.Backfill, assign.Flexible} {
		for seed := range uint64(8) {
			for _, bounded := range []bool{true, false} {
				need, always := newDrawnWorld(t, seed, rule, bounded), newDrawnWorld(t, seed, rule, bounded)
				always.e.Always(!bounded)
				exact := bounded && need.cfg.Queue.Rule == assign.Backfill
				for n := range 60 {
					what := need.happen()
					always.happen()
					if a, b := need.seats(), always.seats(); a != b || exact && *need.done != *always.done {
						t.Fatalf("rule %s, seed %d, deadlines %v, step %d: %s: by need\n%s, always\n%s", rule, seed, bounded, n, what, a, b)
					}
				}
				if asked, more := need.e.RowsAsked(), always.e.RowsAsked(); more["silent nodes"] <= asked["silent nodes"] {
					t.Errorf("silent nodes were asked %d and %d times", asked["silent nodes"], more["silent nodes"])
				}
			}
		}
	}
}
