package probe

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// Whatever comes in which order: the sum is the sum, no probe is lost, and none of a younger job stands before one that
// was overdue when it came.
func TestNoOverdueProbeIsOvertaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Default(rapid.IntRange(2, 20).Draw(t, "workers"), 1)
		q, now, all := queue{config: &c}, units.Instant(0), 0
		var out []Probe
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now += units.Instant(rapid.IntRange(0, 9).Draw(t, "later")) * second
			running := time.Duration(rapid.IntRange(0, 20).Draw(t, "running")) * time.Second
			p := of(rapid.IntRange(0, int(now/second)).Draw(t, "arrival"), rapid.IntRange(1, 9).Draw(t, "estimate"), rapid.IntRange(0, 30).Draw(t, "wait"))
			p.Hops, p.Task = int32(rapid.IntRange(0, 2*c.Workers).Draw(t, "hops")), int32(all)
			all++
			before := slices.Clone(q.waiting)
			q.enqueue(now, running, p)
			at := slices.IndexFunc(q.waiting, func(o Probe) bool { return o.Task == p.Task })
			for i, o := range before {
				late := o.Arrival.Add(o.Wait) <= now
				if at >= 0 && at <= i && late && o.Arrival <= p.Arrival {
					t.Fatalf("%+v stands before %+v, which is overdue", p, o)
				}
			}
			q.cut(now, running, Shared{Probes: float64(rapid.IntRange(0, 6).Draw(t, "phi")),
				Load: time.Duration(rapid.IntRange(0, 40).Draw(t, "omega")) * time.Second})
			if rapid.IntRange(0, 3).Draw(t, "next") == 0 {
				if p, found := q.next(now); found {
					out = append(out, p)
				}
			}
			sum := time.Duration(0)
			for _, p := range q.waiting {
				sum += p.Estimate
			}
			if sum != q.load || len(q.waiting)+len(q.marked)+len(out) != all {
				t.Fatalf("load %v of %v, %d probes of %d", q.load, sum, len(q.waiting)+len(q.marked)+len(out), all)
			}
		}
	})
}

// ringOf has workers tell each other a newer state at the beginning and after a minute, crash at their instants, and
// mend the ring for two more minutes.
func ringOf(c *Config, crash map[Node]units.Instant) (workers []*Worker) {
	for i := range c.Workers {
		workers = append(workers, NewWorker(c, Node(i), 0))
	}
	s, inbox := NewScheduler(c, -1, func(int) int { return 0 }), []Action(nil)
	for now := units.Instant(0); now < 180*second; now += second / 4 {
		dead := func(n Node) bool { at, crashes := crash[n]; return crashes && at <= now }
		for _, w := range workers {
			if now%(60*second) == 0 && now < 120*second {
				inbox = append(inbox, Action{w.self, Message{From: -1, Body: Enqueue{State: Shared{At: now + 1}}}})
			}
		}
		for range 20 {
			this := inbox
			inbox = nil
			for _, a := range this {
				switch {
				case a.To == Shell || dead(a.To):
				case a.To < 0:
					inbox = s.Step(now, a.Message, inbox)
				default:
					inbox = workers[a.To].Step(now, a.Message, inbox)
				}
			}
		}
		for _, w := range workers {
			if at, wanted := w.Due(); wanted && at <= now && !dead(w.self) {
				inbox = w.Step(now, Message{Body: Tick{}}, inbox)
			}
		}
	}
	return workers
}

// After crashes, as many as there may be, in a row or not, at once or one after the other, the next worker of each that
// lives is the next one that lives: by what workers know where there are no more in a row than their successors, else by
// a scheduler's word.
func TestTheRingIsWholeAfterCrashes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Default(rapid.IntRange(1, 12).Draw(t, "workers"), 1)
		c.Tries = 5
		dead, from, row := map[Node]bool{}, rapid.IntRange(0, c.Workers-1).Draw(t, "from"), rapid.Bool().Draw(t, "in a row")
		crash, later := map[Node]units.Instant{}, rapid.SampledFrom([]int{0, 40}).Draw(t, "one after the other")
		for i := range rapid.IntRange(0, c.Workers-1).Draw(t, "crashes") {
			n := Node((from + i) % c.Workers)
			if !row && i > 0 {
				n = Node((from + rapid.IntRange(1, c.Workers-1).Draw(t, "worker")) % c.Workers)
			}
			dead[n] = true
			crash[n] = units.Instant(rapid.IntRange(0, later).Draw(t, "second")) * second
		}
		workers := ringOf(&c, crash)
		for i, w := range workers {
			next := Node((i + 1) % c.Workers)
			for dead[next] {
				next = (next + 1) % Node(c.Workers)
			}
			switch {
			case dead[Node(i)] || w.rotates:
				if !dead[Node(i)] {
					t.Fatalf("worker %d still waits for the next one", i)
				}
			case next == w.self:
				if len(w.ring) > 0 || !w.queue.still {
					t.Fatalf("worker %d is alone and has %v after it", i, w.ring)
				}
			case len(w.ring) == 0 || w.ring[0] != next:
				t.Fatalf("after worker %d comes %v, want %d", i, w.ring, next)
			}
		}
	})
}

// A probe that was sent again counts a second time only as the switch says, until it turns out that nobody needs it.
func TestTheSwitchResubmitted(t *testing.T) {
	for choice, probes := range map[string]int{"uncounted": 1, "counted": 2} {
		c := Default(2, 1)
		c.Tries, c.Rules = 5, rules(t, "resubmitted "+choice)
		s := NewScheduler(&c, -1, func(int) int { return 0 })
		s.Step(0, Message{Body: Submit{Job: 1, Tasks: 1, Estimate: time.Second}}, nil)
		said := s.Step(5*second, Message{Body: Tick{}}, nil)
		said = said[slices.IndexFunc(said, func(a Action) bool { _, is := a.Message.Body.(Enqueue); return is }):]
		if again, is := said[0].Message.Body.(Enqueue); !is || again.Probes[0].due() != 5*second || s.own.Probes != probes {
			t.Errorf("%s: %+v, P is %d", choice, said, s.own.Probes)
		}
		first := s.Step(6*second, Message{From: 0, Seq: 1, Body: GetTask{1, 0}}, nil)
		second1 := s.Step(6*second, Message{From: 1, Seq: 1, Body: GetTask{1, 0}}, nil)
		if first[0].Message.Body.(Task).No != 1 || second1[0].Message.Body.(Task).No != 0 || s.own.Probes != 1 {
			t.Errorf("%s: %+v %+v, P is %d", choice, first, second1, s.own.Probes)
		}
	}
}

// A worker that counts as dead is asked in turn whether it is there, and is one of the ring again when it speaks.
func TestAWorkerThatSpeaksIsAlive(t *testing.T) {
	c := Default(3, 1)
	c.Tries = 5
	s := NewScheduler(&c, -1, func(int) int { return 0 })
	s.Step(0, Message{From: 0, Body: Dead(1)}, nil)
	s.Step(0, Message{From: 0, Body: Submit{Job: 1, Tasks: 1, Estimate: time.Hour}}, nil)
	said := s.Step(5*second, Message{Body: Tick{}}, nil)
	if last := said[len(said)-1]; last.To != 1 || last.Message.Body != (Ask{}) {
		t.Fatalf("%+v", said)
	}
	one := NewWorker(&c, 1, 0).Step(6*second, said[len(said)-1].Message, nil)
	said = s.Step(6*second, one[0].Message, nil)
	before := NewWorker(&c, 0, 0)
	before.ring = []Node{2}
	if len(said) != 2 || said[0].To != 0 || said[1].To != 1 || len(s.live) != 3 {
		t.Fatalf("%+v, live %v", said, s.live)
	}
	if before.Step(6*second, said[0].Message, nil); !slices.Equal(before.ring, []Node{1, 2}) {
		t.Errorf("after worker 0 come %v", before.ring)
	}
	wrong := Message{From: -1, Body: Successors{2}} // Of a scheduler that takes worker 1 for dead.
	if before.Step(7*second, wrong, nil); !slices.Equal(before.ring, []Node{1, 2}) {
		t.Errorf("after worker 0 come %v", before.ring)
	}
}

// Where no worker is known to live, probes are sent all the same: to all.
func TestNobodyLives(t *testing.T) {
	c := Default(2, 1)
	s := NewScheduler(&c, -1, func(int) int { return 0 })
	s.Step(0, Message{From: 0, Body: Dead(1)}, nil)
	s.forget(0)
	said, probes := s.Step(0, Message{From: Shell, Body: Submit{Job: 1, Tasks: 2, Estimate: 1}}, nil), 0
	for _, a := range said {
		if _, is := a.Message.Body.(Enqueue); is {
			probes++
		}
	}
	if len(s.live) != 2 || probes != 2 {
		t.Errorf("%+v", said)
	}
}

// Probes of one task do not breed: where they meet, all but one are dropped.
func TestProbesOfOneTaskMeet(t *testing.T) {
	c := Default(2, 1)
	c.Tries = 5
	w := NewWorker(&c, 0, 0)
	for range 3 {
		w.Step(0, Message{From: -1, Body: Enqueue{Probes: []Probe{{Job: 1, Scheduler: -1, Estimate: 1}, {Job: 1, Task: 1, Scheduler: -1}}}}, nil)
	}
	if w.current.Task != 0 || len(w.queue.waiting)+len(w.queue.marked) != 1 {
		t.Errorf("%d and %d probes", len(w.queue.waiting), len(w.queue.marked))
	}
}

// A job of no task, and one whose estimate is not above 0, is refused.
func TestBadJobs(t *testing.T) {
	c := Default(2, 1)
	for _, m := range []Submit{{Job: 1, Estimate: 1}, {Job: 1, Tasks: 1}, {Job: 1, Tasks: 1, Estimate: -1},
		{Job: 1, Tasks: 2, Estimate: 1, Each: []time.Duration{1}}, {Job: 1, Tasks: 1, Estimate: 1, Each: []time.Duration{0}}} {
		said := NewScheduler(&c, -1, nil).Step(0, Message{Body: m}, nil)
		if _, is := said[0].Message.Body.(Refused); len(said) != 1 || !is {
			t.Errorf("%+v: %+v", m, said)
		}
	}
}
