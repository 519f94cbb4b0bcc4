package planner

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/memory"
	"github.com/sparkpacer/pacer/units"
)

// planQuery answers what a deadline would mean for a profile.
func (e *Engine) planQuery(ev PlanQuery) {
	r, err := e.whatIf(ev.Request)
	if err != nil {
		r = api.PlanReply{Error: api.ToWire(err)}
	}
	r.V = api.Version
	e.reply(ev.To, func() any { return r })
}

func (e *Engine) whatIf(q api.PlanRequest) (api.PlanReply, error) {
	if err := api.CheckVersion("the client", q.V); err != nil {
		return api.PlanReply{}, err
	}
	for _, err := range []error{units.Finite("deadline_s", q.Deadline), units.Finite("cores", q.Cores)} {
		if err != nil {
			return api.PlanReply{}, api.Errorf(api.KindInvalid, "%v", err)
		}
	}
	p := e.profiles[q.Profile]
	if q.Body != nil {
		var err error
		if p, err = annotate(*q.Body); err != nil {
			return api.PlanReply{}, err
		}
	}
	if p == nil {
		return api.PlanReply{}, noProfile(q.Profile)
	}
	cores, slots, nodes := q.Cores, int(q.Cores.CeilTo(1)), 1
	if cores == 0 {
		var seats []seat
		for _, n := range e.liveNodes() {
			seats = append(seats, seat{node: n, executors: 1})
		}
		least := newApp(appRecord{Launch: api.Launch{Overhead: memory.Overhead(0)}}) // Nobody has said its heap.
		nodes = 0
		for _, s := range e.place(least, seats, 0) {
			nodes++
			cores += s.node.Offered
			slots += slotsOn(s.node, api.Launch{})
		}
	}
	if cores == 0 {
		return api.PlanReply{}, api.Errorf(api.KindTransient, "no node is connected to the planner: say how many cores to plan with")
	}
	params := e.cfg.params()
	if q.Deadline > 0 {
		params = e.shape(p.graph, nodes, q.Deadline, cores, slots, 0)
	}
	f := p.graph.Forecast(params, q.Deadline, cores, slots, 0)
	r := api.PlanReply{Verdict: f.Verdict, Reason: sayVerdict(f, q.Deadline), Earliest: f.Earliest, Cores: cores, Stages: []api.PlanReplyLine{}}
	for _, s := range f.Stages {
		stage, _ := p.graph.Stage(s.ID)
		r.Stages = append(r.Stages, api.PlanReplyLine{ID: s.ID, Name: stage.Name, Start: s.Start, Deadline: s.Deadline, Cores: s.Cores})
	}
	return r, nil
}
