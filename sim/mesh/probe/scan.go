package probe

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// Due is when Step wants a Tick, if it does.
func (s *Scheduler) Due() (at units.Instant, wanted bool) {
	at = s.due(s.scan)
	return at, at < never
}

// tick asks workers again, looks for lost tasks and counts anew.
func (s *Scheduler) tick(now units.Instant) {
	for _, a := range s.again(now) {
		s.vain(now, a)
	}
	if now < s.scan {
		return
	}
	s.scan = now.Add(s.config.Scan)
	s.order = slices.DeleteFunc(s.order, func(j *job) bool { return j.left == 0 })
	s.own = Count{}
	for _, j := range s.order {
		for i := range j.tasks {
			if j.tasks[i].state != done {
				s.own = s.own.plus(Count{1, j.theta(int32(i))})
			}
		}
	}
	s.seq++
	s.tell(s.seq, Total(s.own))
	s.ring(now)
	for _, j := range s.order {
		s.search(now, j)
	}
}

// search asks the workers of tasks that run for too long, and sends probes again of those that wait for too long.
func (s *Scheduler) search(now units.Instant, j *job) {
	var lost []int32
	for i := range j.tasks {
		switch t := &j.tasks[i]; {
		case t.state == done || now <= t.due:
		case t.state == started:
			s.ask(now, j, int32(i))
		default:
			lost = append(lost, int32(i))
		}
	}
	if len(lost) > 0 {
		// A sum, for a wait that doubled would have no mean where more than half of the probes get lost.
		j.wait += max(s.shared(now).Load, s.config.Scan)
		s.resubmit(now, j, lost)
	}
}

// ask asks the worker of a task whether it still runs.
func (s *Scheduler) ask(now units.Instant, j *job, i int32) {
	if t := &j.tasks[i]; !t.asked {
		t.asked = true
		s.insist(now, t.worker, Ask{j.Job, i, t.attempt})
	}
}

// bury asks a worker that is said to be dead for all that it runs, and sends it no probe meanwhile.
func (s *Scheduler) bury(now units.Instant, worker Node) {
	s.forget(worker)
	for _, j := range s.order {
		for i := range j.tasks {
			if t := &j.tasks[i]; t.state == started && t.worker == worker {
				s.ask(now, j, int32(i))
			}
		}
	}
}

// vain takes what a worker was sent that is dead: a task that it was asked for starts again, and the probes of a job go
// to others, if there are any, as they were.
func (s *Scheduler) vain(now units.Instant, a Action) {
	s.bury(now, a.To)
	switch body := a.Message.Body.(type) {
	case Ask:
		s.answered(a.To, a.Message.Seq)
		s.heardOf(now, body, false)
	case Enqueue:
		j, again := s.jobs[body.Probes[0].Job], []int32(nil)
		for _, p := range body.Probes {
			if j != nil && j.tasks[p.Task].state == waiting {
				again = append(again, p.Task)
			}
		}
		if len(again) > 0 && len(s.live) > 0 {
			s.spread(now, j, again, body.Probes[0].Wait)
		}
	}
}

// heardOf takes what a worker says of an attempt: one that does not run starts again.
func (s *Scheduler) heardOf(now units.Instant, ask Ask, runs bool) {
	j := s.jobs[ask.Job]
	if j == nil || j.tasks[ask.Task].state != started || j.tasks[ask.Task].attempt != ask.No {
		return
	}
	t := &j.tasks[ask.Task]
	if t.asked, t.due = false, now.Add(j.theta(ask.Task)+s.config.margin()); !runs {
		t.state = waiting
		s.resubmit(now, j, []int32{ask.Task})
	}
}

// resubmit sends probes again that are overdue at once, so that nobody younger overtakes them.
func (s *Scheduler) resubmit(now units.Instant, j *job, tasks []int32) {
	for _, i := range tasks {
		j.tasks[i].due = now.Add(j.wait + j.theta(i) + s.config.margin())
		if s.config.Rules[resubmitted] != 0 {
			s.count(1, j.theta(i))
		}
	}
	s.spread(now, j, tasks, time.Duration(now-j.arrival))
}

// forget has a worker count as dead.
func (s *Scheduler) forget(w Node) {
	if i := s.place[w]; i >= 0 {
		last := s.live[len(s.live)-1]
		s.live[i], s.place[last] = last, i
		s.live, s.place[w] = s.live[:len(s.live)-1], -1
	}
}

// ring asks a worker whether it is there, the next one each time: probes that are sent to dead workers again and again
// would wait longer each time. All that count as dead are asked, too: one that is idle has no other occasion to speak,
// and who asks this scheduler who comes next would pass it by.
func (s *Scheduler) ring(now units.Instant) {
	for w, at := range s.place {
		if at < 0 {
			s.send(Node(w), 0, Ask{})
		}
	}
	if s.rung = (s.rung + 1) % Node(s.config.Workers); s.place[s.rung] >= 0 {
		s.insist(now, s.rung, Ask{})
	}
}

// revive has a worker count as alive. The one before it, and itself, learn who comes after them now.
func (s *Scheduler) revive(w Node) {
	s.place[w], s.live = int32(len(s.live)), append(s.live, w)
	before := w
	for range s.config.Workers {
		if before = (before + Node(s.config.Workers) - 1) % Node(s.config.Workers); s.place[before] >= 0 {
			break
		}
	}
	if before != w {
		s.send(before, 0, s.after(before))
		s.send(w, 0, s.after(w))
	}
}

// after are the live workers that follow one, by number.
func (s *Scheduler) after(w Node) (next Successors) {
	for i := 1; i < s.config.Workers && len(next) < s.config.Successors; i++ {
		if n := Node((int(w) + i) % s.config.Workers); s.place[n] >= 0 {
			next = append(next, n)
		}
	}
	return next
}
