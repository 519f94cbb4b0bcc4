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

// arrivals measures registrations beside the applications that run: each is on the disk and
// its Plans are encoded when it ends. Whoever has come leaves at once, so that the next one
// finds as many as the one before.
func (c *cluster) arrivals() []figure {
	c.t.Helper()
	var took, cpus []float64
	for s := range arrivalSeconds {
		for i := range arrivalRate {
			a := &scaleApp{submission: fmt.Sprintf("arrival-%d-%d", s, i)}
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
		{"register.scale_ms.p50", benchline.Median(took), "ms"},
		{"register.scale_ms.p99", benchline.Quantile(took, 0.99), "ms"},
	}
	if len(cpus) > 0 {
		out = append(out, figure{"register.scale_cpu_ms.p99", benchline.Quantile(cpus, 0.99), "ms"})
	}
	return out
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
