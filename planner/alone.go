package planner

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// aloneShare is the part of its cores' time that other applications may have used
// beside one that counts as alone: an executor that starts or ends is no company.
const aloneShare = 0.05

// noteBeside takes in, before a status is folded, what it says that the applications
// on n have used since the one before: to each of them it is what the others used.
func (e *Engine) noteBeside(n *node, s *api.NodeStatus) {
	here := e.tenants[n.Node]
	if len(here) < 2 {
		return
	}
	var all units.Work
	for _, t := range here {
		t.used = 0
	}
	for _, x := range s.Executors {
		a := e.apps[x.App]
		if a == nil {
			continue
		}
		known := a.executor(x.ID)
		if known == nil || known.Node != n.Node || x.CPU <= known.CPU {
			continue
		}
		used := x.CPU - known.CPU
		all += used
		if t := e.tenant(a, n.Node); t != nil {
			t.used += used
		}
	}
	for _, t := range here {
		if beside := all - t.used; beside > 0 && t.app.running() && t.app.Launched {
			t.app.Beside += beside
			t.app.aged = true
		}
	}
}

// contended reports whether others have used so much of a's cores that its times are
// not those of a run alone.
func (a *app) contended() bool {
	had := units.Work(float64(a.Cores) * float64(a.marks.LastTask-a.First))
	return a.Beside > aloneShare*max(0, had)
}

// executorStart is the mean CPU time of a's executors until the first task, 0 where
// none is known.
func (a *app) executorStart() units.Work {
	var sum units.Work
	count := 0
	for _, x := range a.Executors {
		if x.Based && x.Base > 0 {
			sum += x.Base
			count++
		}
	}
	if count == 0 {
		return 0
	}
	return sum / units.Work(count)
}

// noteCold tells r which stages ran on executors that had run nothing while another
// one of their node had: the first on a node is cold in every run.
func (a *app) noteCold(r *profiles.Recorder) {
	ran, nodes := make(map[*executor]bool), make(map[string]bool)
	for _, s := range a.order {
		cold := 0
		var worked []*executor
		for i := range s.figures {
			if i >= len(a.Executors) || s.figures[i].CPU <= 0 {
				continue
			}
			x := a.Executors[i]
			if worked = append(worked, x); !ran[x] && nodes[x.Node] {
				cold++
			}
		}
		for _, x := range worked {
			ran[x], nodes[x.Node] = true, true
		}
		if cold > 0 {
			r.Cold(s.key(), cold)
		}
	}
}
