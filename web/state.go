package web

import (
	"encoding/json"
	"math"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// advanced is the State of openapi.yaml after a change. What is in one never changes: another one shares it.
func advanced(before object, c *api.Changes) object {
	was, _ := before["applications"].(object)
	fresh := make(map[api.AppID]object, len(c.Apps))
	for _, a := range c.Apps {
		fresh[a.ID] = shown(a)
	}
	apps, nodes := make(object, len(c.IDs)), make(object, len(c.Nodes))
	for _, id := range c.IDs {
		if a := fresh[id]; a != nil {
			apps[string(id)] = a
		} else if a, ok := was[string(id)]; ok {
			apps[string(id)] = a
		}
	}
	for _, n := range c.Nodes {
		if has := n.NodeCores; has != nil {
			n.NodeCores = &api.NodeCores{Used: rounded(has.Used, 10), Granted: rounded(has.Granted, 10),
				Others: rounded(has.Others, 10)}
		}
		nodes[n.Node] = nodeOf(n)
	}
	next := object{"v": json.Number("1"), "at": c.At.Format(time.RFC3339Nano), "release": c.Release, "applications": apps,
		"nodes": nodes}
	if c.Cores != nil {
		next["cores"] = values(c.Cores)
	}
	return next
}

// shown is a as somebody sees it who looks on: a change of its figures that nobody would notice is none, and who looks
// can tell for how long it has run.
func shown(a api.AppSummary) object {
	a.CoreSeconds, a.Predicted = rounded(a.CoreSeconds, 10), rounded(a.Predicted, 10)
	a.MeanCores = rounded(a.MeanCores, 100)
	o := applicationOf(a)
	if a.State == api.AppRunning || a.State == api.AppQueued || a.State == api.AppEnding {
		delete(o, "duration_s")
	}
	return o
}

func rounded[T ~float64](v T, parts float64) T { return T(math.Round(float64(v)*parts) / parts) }
