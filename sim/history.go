package sim

import (
	"io"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/replay"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// history writes what happens as package replay reads it; without a writer it does
// nothing.
type history struct {
	w      *World
	out    *replay.Writer
	opened bool
	early  []replay.Line // Events before the head was written.
}

func newHistory(w *World, out io.Writer) *history {
	h := &history{w: w}
	if out != nil {
		h.out = replay.NewWriter(out)
	}
	return h
}

func (h *history) open() {
	if h.out == nil || h.opened {
		return
	}
	h.opened = true
	h.check(h.out.Head(replay.Line{Title: h.w.cfg.Title, Seed: h.w.cfg.Seed}))
	for i := range h.early {
		h.check(h.out.Write(&h.early[i]))
	}
	h.early = nil
}

// close ends the history; more may follow when the world runs on.
func (h *history) close() {
	if h.out != nil {
		h.check(h.out.End(des.Seconds(0, h.w.clock.Now()), ""))
	}
}

func (h *history) check(err error) {
	if err != nil {
		h.w.fail("%v", err)
	}
}

func (h *history) add(l replay.Line) {
	l.At = des.Seconds(0, h.w.clock.Now())
	if !h.opened {
		h.early = append(h.early, l)
		return
	}
	h.check(h.out.Write(&l))
}

func (h *history) said(who, name, what string) {
	if h.out != nil {
		h.add(replay.Line{Who: who, Name: name, Said: what})
	}
}

// begin notes a new engine.
func (h *history) begin(a *agent, state []byte) {
	if h.out != nil {
		h.add(replay.New(a.m.Name, a.cfg, state))
	}
}

func (h *history) step(a *agent, now units.Instant, s *node.Sample, actions []node.Action) {
	if h.out != nil { // A Call is large, and most worlds have no history.
		h.call(a, node.Call{Kind: node.CallStep, Now: now, Sample: s, Actions: actions})
	}
}

func (h *history) observe(a *agent, now units.Instant, s *node.Sample, actions []node.Action) {
	h.call(a, node.Call{Kind: node.CallObserve, Now: now, Sample: s, Actions: actions})
}

func (h *history) apply(a *agent, now units.Instant, p *api.Plan, actions []node.Action) {
	h.call(a, node.Call{Kind: node.CallApply, Now: now, Plan: p, Actions: actions})
}

func (h *history) status(a *agent) { h.call(a, node.Call{Kind: node.CallStatus, Now: a.clock()}) }

func (h *history) call(a *agent, c node.Call) {
	if h.out != nil {
		h.add(replay.Asked(a.m.Name, &c))
	}
}
