package mesh

import (
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/mesh/probe"
	"github.com/sparkpacer/pacer/units"
)

// peacock runs the engines of package probe.
type peacock struct {
	*world
	config  probe.Config
	network *des.Network
	workers []node
	masters []node
	actions []probe.Action
	// told is, of each job, the number of the newest message that has handed on a probe of it.
	told     []uint64
	messages uint64
}

// engine is a worker or a scheduler.
type engine interface {
	Step(now units.Instant, m probe.Message, out []probe.Action) []probe.Action
	Due() (units.Instant, bool)
}

// node is an engine and its place in the world.
type node struct {
	engine
	in    *peacock
	self  probe.Node
	timer des.Timer
	link  des.Link
	dead  bool
}

// Ranks of what happens at one instant: messages come before the ends of rounds.
const (
	rankOfMessages des.Rank = iota
	rankOfTimers
)

func newPeacock(w *world) (system, error) {
	p := &peacock{world: w, config: probe.Default(w.Workers, w.Schedulers), told: make([]uint64, len(w.jobs))}
	p.config.Rules, p.config.Round = w.Rules, w.Round
	if w.Faults {
		p.config.Tries = 5
	}
	if err := p.config.Validate(); err != nil {
		return nil, err
	}
	p.network = des.NewNetwork(&w.clock, rankOfMessages, w.Seed, w.Network)
	p.workers, p.masters = make([]node, w.Workers), make([]node, w.Schedulers)
	phases := des.Random(w.Seed, "phases")
	for i := range p.workers {
		phase := w.Round
		if !w.Rules.Together() {
			phase = time.Duration(phases.Float64() * float64(w.Round))
		}
		p.enter(&p.workers[i], probe.Node(i), probe.NewWorker(&p.config, probe.Node(i), phase))
	}
	for i := range p.masters {
		self := probe.Node(-1 - i)
		draw := des.Random(w.Seed, fmt.Sprint("scheduler ", i)).IntN
		p.enter(&p.masters[i], self, probe.NewScheduler(&p.config, self, draw))
	}
	return p, nil
}

func (p *peacock) enter(n *node, self probe.Node, e engine) {
	*n = node{engine: e, in: p, self: self, link: p.network.Link()}
	n.timer = des.NewTimer(rankOfTimers, uint64(self+probe.Node(p.Schedulers)), n)
}

// Fire is what a node has asked for.
func (n *node) Fire(*des.Timer) { n.in.step(n, probe.Message{Body: probe.Tick{}}) }

// arrive submits a job to a scheduler at random.
func (p *peacock) arrive(job int) {
	j := &p.jobs[job]
	m := probe.Submit{Job: int32(job), Tasks: len(j.Durations), Estimate: j.Estimate, Each: j.Wrong}
	p.step(&p.masters[p.rand.IntN(len(p.masters))], probe.Message{From: probe.Shell, Body: m})
}

// crash ends workers at random. By the rules who sends to one hears of it after one more delay, or never.
func (p *peacock) crash(n int) {
	for _, i := range p.rand.Perm(len(p.workers))[:n] {
		p.workers[i].dead = true
		p.clock.Cancel(&p.workers[i].timer)
	}
}

// step tells a node something, and carries out what it wants.
func (p *peacock) step(n *node, m probe.Message) {
	if n.dead {
		return
	}
	p.actions = n.Step(p.clock.Now(), m, p.actions[:0])
	for _, a := range p.actions {
		p.act(n, a)
	}
	if at, wanted := n.Due(); wanted {
		p.clock.Set(&n.timer, max(at, p.clock.Now()))
	} else {
		p.clock.Cancel(&n.timer)
	}
}

func (p *peacock) act(n *node, a probe.Action) {
	switch body := a.Message.Body.(type) {
	case probe.Run:
		p.after(p.jobs[body.Job].Durations[body.Task], func() { p.step(n, probe.Message{Body: probe.Ended(body)}) })
		return
	case probe.Completed:
		p.completed(int(body))
		return
	case probe.Refused:
		p.fault = fmt.Errorf("job %d: %s", body.Job, body.Reason)
		return
	case probe.Rotate:
		p.messages++
		p.out.Hops += uint64(len(body.Probes))
		for _, one := range body.Probes {
			if p.told[one.Job] != p.messages {
				p.told[one.Job] = p.messages
				p.out.JobHops++
			}
		}
	case probe.Task:
		if body.No == 0 {
			p.out.Noops++
		}
	}
	to := p.at(a.To)
	n.link.Send(des.Up, func() {
		if to.dead && p.Rules.Refused() {
			to.link.Send(des.Up, func() { p.step(n, probe.Message{From: probe.Shell, Body: probe.Undelivered(a)}) })
			return
		}
		p.step(to, a.Message)
	})
}

// at is who has an address.
func (p *peacock) at(n probe.Node) *node {
	if n >= 0 {
		return &p.workers[n]
	}
	return &p.masters[-1-n]
}

// conclude tells what the schedulers count.
func (p *peacock) conclude(o *Outcome) { o.Counted = p.masters[0].engine.(*probe.Scheduler).Count() }
