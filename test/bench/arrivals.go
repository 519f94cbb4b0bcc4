package main

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/test/benchline"
)

// arrivalSeconds is for how long applications come and go beside those that run, arrivalRate
// how many in a second.
const (
	arrivalSeconds = 10
	arrivalRate    = 20
)

// arrivals measures registrations beside the applications that run, under a rule of the queue: each is
// on the disk and its Plans are encoded when it ends. What has come leaves at once, so that the next one
// finds as many as the one before. The figures' names begin with name.
func (c *cluster) arrivals(name, rule string) []figure {
	c.t.Helper()
	c.serveBy(rule)
	var took, cpus []float64
	for s := range arrivalSeconds {
		for i := range arrivalRate {
			a := &scaleApp{submission: fmt.Sprintf("%s-%d-%d", rule, s, i)}
			c.cpus = c.cpus[:0] // The first of an arrival is that of its registration.
			if took = append(took, ms(c.submit(a))); len(c.cpus) > 0 {
				cpus = append(cpus, c.cpus[0])
			}
			c.tell(a, api.Event{Type: api.EventEnd, At: c.at(), Failed: true, Reason: "it only came"},
				api.Event{Type: api.EventExit, At: c.at(), Failed: true, Reason: "it only came"})
		}
		c.second()
	}
	if n := c.running(); n != scaleApps {
		c.t.Fatalf("%d applications run after the registrations, want %d", n, scaleApps)
	}
	out := []figure{
		{name + "_ms.p50", benchline.Median(took), "ms"},
		{name + "_ms.p99", benchline.Quantile(took, 0.99), "ms"},
	}
	if len(cpus) > 0 {
		out = append(out, figure{name + "_cpu_ms.p99", benchline.Quantile(cpus, 0.99), "ms"})
	}
	return out
}

// serveBy has the queue served by a rule.
func (c *cluster) serveBy(rule string) {
	c.t.Helper()
	reply, _, _ := c.step(planner.Control{To: 1, Verb: api.VerbPolicySet, Request: api.ControlRequest{V: api.Version,
		Policy: &api.QueuePolicy{Rule: rule}}})
	if r, ok := reply.(api.ControlReply); !ok || r.Error != nil {
		c.t.Fatalf("policy set %s: %+v", rule, reply)
	}
}

// running is how many applications run.
func (c *cluster) running() (n int) {
	c.t.Helper()
	reply, _, _ := c.step(planner.Control{To: 1, Verb: api.VerbApps, Request: api.ControlRequest{V: api.Version}})
	r, ok := reply.(api.ControlReply)
	if !ok || r.Error != nil {
		c.t.Fatalf("apps: %+v", reply)
	}
	for _, a := range r.Apps {
		if a.State == api.AppRunning {
			n++
		}
	}
	return n
}
