package planner_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// peer is a planner's process on a bus: it may be stopped, and cut off.
type peer struct {
	*planner.Peers
	name string
	here bool // Its process runs and is not stopped.
	cut  bool
}

// meet has all peers ask once, as a NATS server would carry it.
func meet(now units.Instant, peers []*peer) {
	for _, asks := range peers {
		if !asks.here {
			continue
		}
		if asks.cut {
			asks.Cut()
			continue
		}
		asks.Asked(now)
		subscribed := false
		var answers []api.Presence
		for _, p := range peers {
			if p.cut || !p.Serving() {
				continue
			}
			subscribed = true // That of a process which is stopped stays.
			if a, ok := p.Answer(now); ok && p.here {
				answers = append(answers, a)
			}
		}
		if !subscribed {
			asks.Nobody(now)
		}
		for _, a := range answers {
			asks.Heard(now, a)
		}
	}
}

func serving(peers []*peer) (names []string) {
	for _, p := range peers {
		if p.here && !p.cut && p.Serving() {
			names = append(names, p.name)
		}
	}
	return names
}

// Whatever is stopped and cut off, some seconds after the last of it exactly one planner
// serves of those that can, and it is one that has served before if any such can.
func TestOnePlannerServes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := epoch
		var peers []*peer
		for i := range rapid.IntRange(1, 4).Draw(t, "planners") {
			name := fmt.Sprint("p", i)
			peers = append(peers, &peer{Peers: planner.NewPeers(now, api.Presence{Process: name}, false), name: name, here: true})
		}
		pass := func(seconds int) {
			for range seconds {
				now = now.Add(time.Second)
				meet(now, peers)
			}
		}
		pass(2)
		if got := serving(peers); len(got) != 1 {
			t.Fatalf("at the start %v serve", got)
		}
		for range rapid.IntRange(0, 6).Draw(t, "faults") {
			p := rapid.SampledFrom(peers).Draw(t, "who")
			if rapid.Bool().Draw(t, "cut") {
				p.cut = !p.cut
			} else {
				p.here = !p.here
			}
			pass(rapid.IntRange(0, 8).Draw(t, "for"))
		}
		pass(12)
		able := 0
		for _, p := range peers {
			if p.here && !p.cut {
				able++
			}
		}
		if got := serving(peers); len(got) != min(able, 1) {
			t.Fatalf("%v serve of %d that can", got, able)
		}
		first := serving(peers)
		pass(20)
		if again := serving(peers); fmt.Sprint(again) != fmt.Sprint(first) {
			t.Fatalf("%v serve after %v though nothing happened", again, first)
		}
	})
}

// Two that serve have both had a break: one was cut off, the other one took over and was stopped
// then. One of them goes on.
func TestOneOfTwoServesAfterBothHadABreak(t *testing.T) {
	now := epoch
	one := &peer{Peers: planner.NewPeers(now, api.Presence{Process: "one"}, true), name: "one", here: true}
	two := &peer{Peers: planner.NewPeers(now, api.Presence{Process: "two"}, false), name: "two", here: true}
	pass := func(seconds int) {
		for range seconds {
			now = now.Add(time.Second)
			meet(now, []*peer{one, two})
		}
	}
	pass(2)
	one.cut = true
	pass(1)
	two.here = false
	pass(4)
	one.cut, two.here = false, true
	if !one.Serving() || !two.Serving() {
		t.Fatalf("one serves: %v, two: %v", one.Serving(), two.Serving())
	}
	pass(2)
	if got := serving([]*peer{one, two}); len(got) != 1 {
		t.Errorf("%v serve", got)
	}
}

// One that comes while another serves stands by, and takes over when that is gone: at once
// where the server knows, else after it has owed its answer for a while.
func TestASecondPlannerStandsBy(t *testing.T) {
	for _, c := range []struct {
		name   string
		frozen bool
		within int
	}{{"the server knows that it is gone", false, 1}, {"it is stopped", true, 5}} {
		t.Run(c.name, func(t *testing.T) {
			now := epoch
			one := &peer{Peers: planner.NewPeers(now, api.Presence{Process: "one", Host: "h"}, true), name: "one", here: true}
			two := &peer{Peers: planner.NewPeers(now, api.Presence{Process: "two"}, false), name: "two", here: true}
			both := []*peer{one, two}
			for range 30 {
				now = now.Add(time.Second)
				meet(now, both)
				if one.Deaf(now) || two.Serving() || !two.Deaf(now) {
					t.Fatalf("one is deaf: %v, two serves: %v", one.Deaf(now), two.Serving())
				}
			}
			if other, ok := two.Other(); !ok || other.Process != "one" || other.Host != "h" {
				t.Errorf("it stands by for %+v", other)
			}
			one.here, one.cut = false, !c.frozen
			for range c.within {
				now = now.Add(time.Second)
				meet(now, both)
			}
			if !two.Serving() || two.Deaf(now) {
				t.Fatal("it does not take over")
			}
			// The first one comes back, believing that it serves: it finds the other.
			for range 3 {
				now = now.Add(time.Second)
				meet(now, both)
			}
			one.here, one.cut = true, false
			for range 2 {
				now = now.Add(time.Second)
				meet(now, both)
			}
			if one.Serving() || !two.Serving() {
				t.Errorf("one serves: %v, two: %v", one.Serving(), two.Serving())
			}
		})
	}
}

// A planner that does not hear itself knows that nobody reaches it.
func TestAPlannerThatDoesNotHearItselfIsDeaf(t *testing.T) {
	p := planner.NewPeers(epoch, api.Presence{Process: "one"}, true)
	for s, want := range []bool{false, false, false, true, true, true} {
		if got := p.Deaf(epoch.Add(time.Duration(s) * time.Second)); got != want {
			t.Errorf("after %d s: %v", s, got)
		}
	}
	now := epoch.Add(time.Minute)
	if a, ok := p.Answer(now); !ok || a.Serving != 0 {
		t.Errorf("it claims to have served for %v", a.Serving)
	}
	p.Heard(now, api.Presence{Process: "one"})
	if a, ok := p.Answer(now); !ok || a.Serving != 0 || p.Deaf(now) {
		t.Errorf("when it hears itself again it has served %v", a.Serving)
	}
}

// Of two planners on one store the one of the greater term serves, however long the other one
// has: that has lost the store, and does not know it yet.
func TestTheGreaterTermServes(t *testing.T) {
	presence := func(term uint64, process string) api.Presence {
		return api.Presence{Planner: "store", Term: term, Process: process}
	}
	now := epoch.Add(2 * time.Second)
	old, next := planner.NewPeers(epoch, presence(1, "old"), true), planner.NewPeers(now, presence(2, "next"), true)
	claims, ok := old.Answer(now)
	if !ok || claims.Serving == 0 {
		t.Fatalf("%+v, %v", claims, ok)
	}
	next.Heard(now, claims)
	if !next.Serving() {
		t.Error("the greater term stands by")
	}
	// Nor when it does not know whether it was cut off itself.
	late := now.Add(time.Minute)
	next.Heard(late, claims)
	if !next.Serving() {
		t.Error("the greater term stands by when it was cut off")
	}
	answer, _ := planner.NewPeers(now, presence(2, "next"), true).Answer(now)
	old.Heard(now, answer)
	if old.Serving() {
		t.Error("both serve")
	}
}
