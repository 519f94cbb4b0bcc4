package probe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/units"
)

const second = units.Instant(time.Second)

// of is a probe (lambda, theta, mu) in seconds.
func of(lambda, theta, mu int) Probe {
	return Probe{Arrival: units.Instant(lambda) * second, Estimate: time.Duration(theta) * time.Second,
		Wait: time.Duration(mu) * time.Second}
}

func text(probes []Probe) string {
	var all []string
	for _, p := range probes {
		all = append(all, fmt.Sprintf("(%d,%d,%d)", p.Arrival/second, p.Estimate/time.Second, p.Wait/time.Second))
	}
	return strings.Join(all, " ")
}

// rules are the defaults but for some choices.
func rules(t *testing.T, choices ...string) (r Rules) {
	t.Helper()
	for _, c := range choices {
		var err error
		if r, err = r.With(c); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func queueOf(t *testing.T, choices ...string) *queue {
	c := Default(1000, 1)
	c.Rules = rules(t, choices...)
	q := &queue{config: &c}
	for _, p := range []Probe{of(1, 3, 40), of(3, 4, 41), of(5, 6, 20), of(4, 7, 60), of(6, 8, 42)} {
		q.waiting = append(q.waiting, p)
		q.load += p.Estimate
	}
	return q
}

// Section 3.3.2.1, the worked example of Algorithm 1.
func TestSection3321TheWorkedExample(t *testing.T) {
	q := queueOf(t)
	for _, step := range []struct {
		at             int
		p              Probe
		phi, omega     int
		queue, rotated string
		load           int
	}{
		{8, of(7, 5, 42), 6, 30, "(1,3,40) (3,4,41) (7,5,42) (5,6,20) (4,7,60)", "(6,8,42)", 25},
		{9, of(9, 5, 42), 6, 30, "(1,3,40) (3,4,41) (7,5,42) (5,6,20) (9,5,42) (4,7,60)", "", 30},
		{10, of(2, 6, 40), 6, 30, "(1,3,40) (3,4,41) (7,5,42) (5,6,20) (9,5,42) (2,6,40)", "(4,7,60)", 29},
		{11, of(10, 4, 20), 6, 31, "(1,3,40) (3,4,41) (7,5,42) (5,6,20) (10,4,20) (9,5,42)", "(2,6,40)", 27},
	} {
		now, s := units.Instant(step.at)*second, Shared{Probes: float64(step.phi), Load: time.Duration(step.omega) * time.Second}
		q.marked = nil
		q.enqueue(now, 0, step.p)
		q.cut(now, 0, s)
		if text(q.waiting) != step.queue || text(q.marked) != step.rotated || q.load != time.Duration(step.load)*time.Second {
			t.Errorf("at %d: %s, rotated %q, load %v", step.at, text(q.waiting), text(q.marked), q.load)
		}
	}
}

// The printed line 5 fails the example: the first arrival is rotated at once.
func TestTheSwitchOvertake(t *testing.T) {
	q := queueOf(t, "overtake printed")
	q.enqueue(8*second, 0, of(7, 5, 42))
	q.cut(8*second, 0, Shared{Probes: 6, Load: 30 * time.Second})
	if text(q.marked) != "(7,5,42)" || q.load != 28*time.Second {
		t.Errorf("rotated %s, load %v", text(q.marked), q.load)
	}
	q.waiting, q.load = []Probe{of(0, 6, 1)}, 6*time.Second
	if q.enqueue(8*second, 0, of(1, 5, 42)); text(q.waiting) != "(1,5,42) (0,6,1)" {
		t.Errorf("%s: as printed, who is long overdue is overtaken", text(q.waiting))
	}
}

// Section 3.3.1.3: the shared state of 1000 workers.
func TestSection3313TheSharedState(t *testing.T) {
	c := Default(1000, 2)
	s := NewScheduler(&c, -1, func(int) int { return 0 })
	s.own = Count{1500, 25000 * time.Second}
	s.jobs[9] = &job{Submit: Submit{Job: 9, Tasks: 2, Estimate: 20 * time.Second}, left: 2, tasks: make([]task, 2)}
	said := s.Step(0, Message{From: 3, Body: Finished{9, 0, 1}}, nil)
	if s.own != (Count{1499, 24980 * time.Second}) || said[0].To != -2 || said[0].Message.Body != (Delta{-1, -20 * time.Second}) {
		t.Errorf("%+v, %+v", s.own, said)
	}
	s.own = Count{1500, 25000 * time.Second}
	said = s.Step(0, Message{Body: Submit{Job: 1, Tasks: 10, Estimate: 15 * time.Second}}, nil)
	if s.own != (Count{1510, 25150 * time.Second}) || said[0].Message.Body != (Delta{10, 150 * time.Second}) || s.jobs[1].wait != 25150*time.Millisecond {
		t.Errorf("%+v, %+v, mu %v", s.own, said[0], s.jobs[1].wait)
	}
	if len(said) != 1+10 {
		t.Errorf("%d messages for 10 tasks", len(said)-1)
	}
	peer := NewScheduler(&c, -2, nil)
	peer.Step(0, Message{From: -1, Body: said[0].Message.Body}, nil)
	if peer.Count() != (Count{10, 150 * time.Second}) {
		t.Errorf("the peer counts %+v", peer.Count())
	}
	c.Rules = rules(t, "threshold without")
	s.own = Count{1500, 25000 * time.Second}
	s.Step(0, Message{Body: Submit{Job: 2, Tasks: 10, Estimate: 15 * time.Second}}, nil)
	if s.jobs[2].wait != 25*time.Second {
		t.Errorf("mu without its own is %v", s.jobs[2].wait)
	}
	for choice, phi := range map[string]float64{"all": 1.5, "waiting-rounded": 1, "waiting-floor": 0} {
		if got := (Count{1500, 0}).Shared(1000, rules(t, "average "+choice)).Probes; got != phi {
			t.Errorf("phi of %s is %v, want %v", choice, got, phi)
		}
	}
}

// Section 3.3.2: the deadline of a job that comes at 1 s, omega being 10 s, is 11 s for all its probes.
func TestSection332TheThreshold(t *testing.T) {
	c := Default(10, 1)
	s := NewScheduler(&c, -1, func(int) int { return 0 })
	s.own = Count{10, 70 * time.Second}
	n := 0
	for _, a := range s.Step(second, Message{Body: Submit{Job: 1, Tasks: 30, Estimate: time.Second}}, nil) {
		for _, p := range a.Message.Body.(Enqueue).Probes {
			n++
			if p.due() != 11*second {
				t.Errorf("due at %v", p.due())
			}
		}
	}
	if n != 30 {
		t.Errorf("%d probes of 30 tasks", n)
	}
}

// More tasks than workers go cyclic over one shuffle.
func TestMoreTasksThanWorkers(t *testing.T) {
	c := Default(3, 1)
	got := map[Node]int{}
	for _, a := range NewScheduler(&c, -1, func(n int) int { return n - 1 }).Step(0, Message{Body: Submit{Job: 1, Tasks: 8, Estimate: 1}}, nil) {
		got[a.To] += len(a.Message.Body.(Enqueue).Probes)
	}
	if n := []int{got[0], got[1], got[2]}; slices.Max(n) != 3 || slices.Min(n) != 2 {
		t.Errorf("%v", got)
	}
}

// What a queue is cut to, by switch.
func TestTheSwitchesOfACut(t *testing.T) {
	at := 9 * second
	for _, c := range []struct {
		choice  string
		phi     float64
		omega   int
		running int
		left    int
	}{
		{"bound above", 5, 28, 10, 5}, {"bound reached", 5, 28, 10, 4}, {"load with-running", 5, 28, 10, 3},
		{"bound above", 1, 100, 0, 1}, {"load queued", 5, 20, 10, 4},
	} {
		q := queueOf(t, c.choice)
		q.cut(at, time.Duration(c.running)*time.Second, Shared{Probes: c.phi, Load: time.Duration(c.omega) * time.Second})
		if len(q.waiting) != c.left {
			t.Errorf("%s %v %v %v: %d left", c.choice, c.phi, c.omega, c.running, len(q.waiting))
		}
	}
	for choice, left := range map[string]string{"overdue stays": "(1,3,40) (5,6,20)", "overdue evicted": ""} {
		q := queueOf(t, choice)
		q.waiting[0].Wait = 0
		if q.cut(25*second, 0, Shared{}); left == "" && len(q.waiting) > 0 || left != "" && len(q.waiting) != 2 {
			t.Errorf("%s: %s", choice, text(q.waiting))
		}
	}
	q := queueOf(t)
	q.waiting[4].Hops = 1000
	if q.cut(at, 0, Shared{}); len(q.waiting) != 1 || q.waiting[0].Hops != 1000 {
		t.Errorf("after a whole turn a probe stays: %s", text(q.waiting))
	}
	if q.enqueue(at, 0, of(8, 5, 42)); text(q.waiting) != "(8,5,42) (6,8,42)" {
		t.Errorf("a shorter one overtakes it: %s", text(q.waiting))
	}
	if q.cut(at, 0, Shared{Probes: 1, Load: 5 * time.Second}); len(q.waiting) != 2 {
		t.Errorf("it counts for nothing in a cut: %s", text(q.waiting))
	}
	q = queueOf(t, "guard none")
	q.waiting[4].Hops = 1000
	if q.cut(at, 0, Shared{}); len(q.waiting) != 0 {
		t.Errorf("without a guard it goes: %s", text(q.waiting))
	}
}

// FIFO has a probe behind all, LIFO before all, and both cut the end.
func TestTheSwitchQueue(t *testing.T) {
	for order, at := range map[string]int{"fifo": 5, "lifo": 0} {
		q := queueOf(t, "queue "+order)
		if q.enqueue(9*second, 0, of(9, 1, 100)); q.waiting[at] != of(9, 1, 100) {
			t.Errorf("%s: %s", order, text(q.waiting))
		}
	}
}

// What a worker with nothing to do takes back of what is marked.
func TestTheSwitchIdle(t *testing.T) {
	for choice, want := range map[string]string{"reclaims": "(0,9,1)", "leaves": ""} {
		q := queueOf(t, "idle "+choice)
		q.waiting, q.marked = nil, []Probe{of(0, 5, 50), of(1, 3, 50), of(0, 9, 1)}
		p, found := q.next(9 * second)
		if found != (want != "") || found && text([]Probe{p}) != want {
			t.Errorf("%s: %v %v", choice, p, found)
		}
	}
}

// An unknown switch, or reading, names those that there are.
func TestUnknownSwitches(t *testing.T) {
	for choice, want := range map[string]string{"overtakes printed": "bounds refresh|arrival", "overtake maybe": "corrected|printed", "": "guard turn|none"} {
		if _, err := (Rules{}).With(choice); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", choice, err)
		}
	}
	if err := (Config{}).Validate(); err == nil {
		t.Error("no workers, no error")
	}
	if err := Default(1, 1).Validate(); err != nil {
		t.Error(err)
	}
}

// Section 3.5, where who sends to a crashed worker hears of it: its probes go to others at once, as they were; what it
// runs starts again once it refuses to be asked; the worker before it hands on to the one behind it.
func TestTheSwitchCrash(t *testing.T) {
	if (Rules{}).Refused() == rules(t, "crash silent").Refused() {
		t.Error("silent is refused")
	}
	c := Default(4, 1)
	c.Tries = 5
	s := NewScheduler(&c, -1, func(int) int { return 0 })
	back := func(a Action) []Action {
		return s.Step(2*second, Message{From: Shell, Body: Undelivered(a)}, nil)
	}
	said := s.Step(0, Message{From: Shell, Body: Submit{Job: 1, Tasks: 8, Estimate: 4 * time.Second}}, nil)
	dead, sent := said[0].To, said[0].Message.Body.(Enqueue).Probes
	s.Step(second, Message{From: dead, Seq: 1, Body: GetTask{1, sent[0].Task}}, nil)
	again := back(said[0])
	if ask := again[0]; ask.To != dead || ask.Message.Body != (Ask{1, sent[0].Task, 1}) {
		t.Fatalf("the dead worker is asked %+v", ask)
	}
	if p := again[1].Message.Body.(Enqueue).Probes; len(again) != 2 || again[1].To == dead || len(p) != 1 || p[0] != sent[1] {
		t.Errorf("%+v, want %+v for another worker than %d", again, sent[1], dead)
	}
	if back(Action{dead, Message{-1, again[0].Message.Seq, Task{}}}); len(s.open) != 1 {
		t.Errorf("a task of the worker's number is taken for the scheduler's question of that number: %+v", s.open)
	}
	restarted := back(again[0])
	if p := restarted[0].Message.Body.(Enqueue).Probes; len(restarted) != 1 || p[0].Task != sent[0].Task || p[0].due() != 2*second {
		t.Errorf("%+v, want a probe of task %d that is overdue", restarted, sent[0].Task)
	}
	if len(back(again[0])) != 0 || len(s.open) != 0 || slices.Contains(s.live, dead) {
		t.Errorf("after the second answer %v are asked, %v live", s.open, s.live)
	}
	for _, w := range slices.Clone(s.live) {
		again = back(Action{w, Message{Body: Enqueue{Probes: sent[1:]}}})
	}
	if len(again) != 0 {
		t.Errorf("nobody is left, and is sent %+v", again)
	}

	w := NewWorker(&c, 0, 0)
	w.queue.marked = []Probe{of(1, 3, 40)}
	to := w.Step(second, Message{Body: Tick{}}, nil)
	mended := w.Step(second, Message{From: Shell, Body: Undelivered(to[0])}, nil)
	if len(mended) != 2 || mended[0].Message.Body != Dead(1) || mended[1].To != 2 || mended[1].Message.Body.(Rotate).Probes[0].Hops != 1 {
		t.Errorf("%+v, want all that it has marked for worker 2", mended)
	}
	if more := w.Step(second, Message{From: Shell, Body: Undelivered(to[0])}, nil); len(more) != 0 {
		t.Errorf("a second answer has it say %+v", more)
	}
	ask := w.Step(second, Message{From: -1, Body: Enqueue{Probes: []Probe{{Job: 2, Scheduler: -1, Estimate: 1}}}}, nil)
	open := len(w.open)
	w.Step(second, Message{From: Shell, Body: Undelivered(ask[0])}, nil)
	if said := s.Step(second, Message{From: Shell, Body: Undelivered{To: -2}}, nil); len(said) != 0 || len(w.open) != open {
		t.Errorf("a scheduler that is not there is asked again later: %+v, %+v", said, w.open)
	}
}
