package web

import (
	"math"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// advanced is the State of openapi.yaml after a change. An object of a State never changes: another one shares it.
func advanced(before object, c *api.Changes) object {
	apps, nodes := make(object, len(c.IDs)), make(object, len(c.Nodes))
	was, _ := before["applications"].(object)
	for _, id := range c.IDs {
		if a, ok := was[string(id)]; ok {
			apps[string(id)] = a
		}
	}
	for _, a := range c.Apps {
		apps[string(a.ID)] = shown(a)
	}
	for _, n := range c.Nodes {
		if has := n.NodeCores; has != nil {
			n.NodeCores = &api.NodeCores{Used: rounded(has.Used, 10), Granted: rounded(has.Granted, 10),
				Others: rounded(has.Others, 10)}
		}
		nodes[n.Node] = values(n)
	}
	next := answer(object{"at": c.At.Format(time.RFC3339Nano), "release": c.Release})
	next["applications"], next["nodes"] = apps, nodes
	if c.Cores != nil {
		next["cores"] = values(c.Cores)
	}
	return next
}

// shown is a as the page shows it: a change of its figures that nobody would notice is none, and the page itself knows
// for how long it has run.
func shown(a api.AppSummary) object {
	a.CoreSeconds, a.Predicted = rounded(a.CoreSeconds, 10), rounded(a.Predicted, 10)
	a.MeanCores = rounded(a.MeanCores, 100)
	o := values(a)
	if a.State == api.AppRunning || a.State == api.AppQueued || a.State == api.AppEnding {
		delete(o, "duration_s")
	}
	return o
}

func rounded[T ~float64](v T, parts float64) T { return T(math.Round(float64(v)*parts) / parts) }
