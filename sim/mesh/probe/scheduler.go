package probe

import (
	"time"

	"github.com/sparkpacer/pacer/units"
)

// Scheduler keeps jobs and sends their probes.
type Scheduler struct {
	post
	draw func(n int) int
	// live are the workers; place is where each is in it, -1 for one that counts as dead.
	live  []Node
	place []int32
	// own is what this scheduler's jobs count, peers what the others' do, heard the number of the newest Total of each.
	own   Count
	peers []Count
	heard []uint32

	jobs  map[int32]*job
	order []*job
	scan  units.Instant
	rung  Node // The worker that was asked last whether it is there.
}

// job is one that has not completed.
type job struct {
	Submit
	arrival units.Instant
	wait    time.Duration // Mu, more with each probe that is sent again.
	left    int
	tasks   []task
}

// task is what is known of a task.
type task struct {
	state   progress
	asked   bool // Its worker is asked whether it still runs.
	worker  Node
	fetch   uint32
	attempt int32
	due     units.Instant // When it counts as lost, or its worker is asked.
}

type progress uint8

const (
	waiting progress = iota
	started
	done
)

// theta is the estimate of a task.
func (j *job) theta(task int32) time.Duration {
	if j.Each != nil {
		return j.Each[task]
	}
	return j.Estimate
}

// NewScheduler returns a scheduler that knows all workers. draw returns a number below n, at random.
func NewScheduler(c *Config, self Node, draw func(n int) int) *Scheduler {
	s := &Scheduler{post: post{config: c, self: self}, draw: draw, jobs: map[int32]*job{},
		peers: make([]Count, c.Schedulers), heard: make([]uint32, c.Schedulers), scan: never}
	for i := range c.Workers {
		s.live, s.place = append(s.live, Node(i)), append(s.place, int32(i))
	}
	return s
}

// Step takes a message and appends what follows to out.
func (s *Scheduler) Step(now units.Instant, m Message, out []Action) []Action {
	s.out = out
	if m.From >= 0 && s.place[m.From] < 0 { // A worker that speaks is alive.
		s.revive(m.From)
	}
	switch body := m.Body.(type) {
	case Submit:
		s.submit(now, body)
	case GetTask:
		s.give(now, m, body)
	case Finished:
		s.finish(now, m, body)
	case Delta:
		s.peers[-1-m.From] = s.peers[-1-m.From].plus(Count(body))
	case Total:
		if from := -1 - m.From; m.Seq > s.heard[from] {
			s.peers[from], s.heard[from] = Count(body), m.Seq
		}
	case Dead:
		s.bury(now, Node(body))
	case Ack:
		if ask, is := s.answered(m.From, m.Seq).(Ask); is {
			s.heardOf(now, ask, body.Runs)
		}
	case Undelivered:
		if body.To >= 0 {
			s.vain(now, Action(body))
		}
	case AskRing:
		s.send(m.From, m.Seq, s.after(m.From))
	case Tick:
		s.tick(now)
	}
	if s.config.Rules[state] != 0 {
		*s.config.board = s.shared(now)
	}
	out, s.out = s.out, nil
	return out
}

// Count is what all schedulers' jobs count, as far as this one knows.
func (s *Scheduler) Count() Count {
	sum := s.own
	for _, p := range s.peers {
		sum = sum.plus(p)
	}
	return sum
}

// shared is the state that goes with each message to a worker.
func (s *Scheduler) shared(now units.Instant) Shared {
	state := s.Count().Shared(len(s.live), s.config.Rules)
	state.At = now
	return state
}

// count adds to what this scheduler's jobs count, and tells its peers.
func (s *Scheduler) count(probes int, work time.Duration) {
	c := Count{probes, work}
	s.own = s.own.plus(c)
	s.tell(0, Delta(c))
}

func (s *Scheduler) tell(seq uint32, body any) {
	for i := range s.config.Schedulers {
		if peer := Node(-1 - i); peer != s.self {
			s.send(peer, seq, body)
		}
	}
}

// submit sends a probe for each task of a new job.
func (s *Scheduler) submit(now units.Instant, m Submit) {
	j := &job{Submit: m, arrival: now, left: m.Tasks}
	refused, all, work := s.jobs[m.Job] != nil || m.Each != nil && len(m.Each) != m.Tasks, []int32(nil), time.Duration(0)
	for i := int32(0); int(i) < m.Tasks && !refused; i++ {
		refused, work, all = j.theta(i) <= 0, work+j.theta(i), append(all, i)
	}
	if refused || len(all) == 0 {
		s.send(Shell, 0, Refused{m.Job, "want a new job of at least one task, with estimates above 0"})
		return
	}
	j.wait = s.shared(now).Load
	s.count(m.Tasks, work)
	if s.config.Rules[threshold] == 0 {
		j.wait = s.shared(now).Load
	}
	s.jobs[m.Job], s.order, j.tasks = j, append(s.order, j), make([]task, m.Tasks)
	for i := range all {
		j.tasks[i].due = now.Add(j.wait + j.theta(all[i]) + s.config.margin())
	}
	if s.config.Tries > 0 && s.scan == never {
		s.scan = now.Add(s.config.Scan)
	}
	s.spread(now, j, all, j.wait)
}

// spread sends probes of tasks of a job to workers at random, cyclic over one shuffle.
func (s *Scheduler) spread(now units.Instant, j *job, tasks []int32, wait time.Duration) {
	if len(s.live) == 0 { // All are said to be dead, which the probes find out.
		for i := range s.config.Workers {
			s.revive(Node(i))
		}
	}
	n, state := min(len(tasks), len(s.live)), s.shared(now)
	for i := range n {
		k := i + s.draw(len(s.live)-i)
		s.live[i], s.live[k] = s.live[k], s.live[i]
		s.place[s.live[i]], s.place[s.live[k]] = int32(i), int32(k)
		var probes []Probe
		for t := i; t < len(tasks); t += n {
			probes = append(probes, Probe{Job: j.Job, Task: tasks[t], Scheduler: s.self, Arrival: j.arrival,
				Estimate: j.theta(tasks[t]), Wait: wait})
		}
		s.send(s.live[i], 0, Enqueue{probes, state})
	}
}

// give answers a worker that has a probe and nothing to do.
func (s *Scheduler) give(now units.Instant, m Message, body GetTask) {
	j, given := s.jobs[body.Job], Attempt{}
	if j != nil {
		t := &j.tasks[body.Task]
		if t.state == waiting {
			t.state, t.worker, t.fetch, t.attempt, t.asked = started, m.From, m.Seq, t.attempt+1, false
			t.due = now.Add(j.theta(body.Task) + s.config.margin())
		}
		if t.state == started && t.worker == m.From && t.fetch == m.Seq {
			given = Attempt{body.Job, body.Task, t.attempt}
		} else if s.config.Rules[resubmitted] != 0 {
			s.count(-1, -j.theta(body.Task))
		}
	}
	s.send(m.From, m.Seq, Task{given, s.shared(now)})
}

// finish counts a task, once.
func (s *Scheduler) finish(now units.Instant, m Message, body Finished) {
	if s.config.Tries > 0 {
		s.send(m.From, m.Seq, Ack{})
	}
	j := s.jobs[body.Job]
	if j == nil || j.tasks[body.Task].state == done {
		return
	}
	j.tasks[body.Task].state = done
	s.count(-1, -j.theta(body.Task))
	if j.left--; j.left == 0 {
		delete(s.jobs, body.Job)
		s.send(Shell, 0, Completed(body.Job))
	}
}
