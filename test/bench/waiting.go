package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/units"
)

// A hundred applications wait, each with a profile of so many stages.
const (
	waitingApps   = 100
	waitingStages = 2000
	waitingAsks   = 200
)

// asks times asks of the queue, one a second, while one application runs and the others wait for its memory.
func asks(t testing.TB, add adder) {
	c, body := ledgertest.New(t, "a", "b"), wide(waitingStages)
	c.Know(ledger.ProfileSaved{Body: body})
	deadline := 1000 * body.Duration
	c.App("app-run", body.Name, deadline, "a", "b")
	for i := range waitingApps {
		id := api.AppID(fmt.Sprintf("app-%04d", i))
		c.Know(ledger.Registered{ID: id, Name: body.Name, Serial: c.View().Serial() + 1, Matched: true,
			Tenant: ledger.Tenant{Submission: "of " + string(id),
				Launch: api.Launch{DriverURL: "spark://driver@h:1", Heap: 16000 * units.MiB, OffHeapFixed: true}},
			Promise: ledger.Promise{Profile: body.Name, Start: c.Now, Deadline: deadline, Mode: ledger.Paced},
			Queued:  true})
	}
	policy := queue.Policy{Findings: new(queue.Findings)}
	plans := estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesAuto, MaxPool: 4}
	policy.Decide(plans.Outlook(c.View()), nil)
	took := make([]float64, 0, waitingAsks)
	for range waitingAsks {
		c.Pass(time.Second)
		began := time.Now()
		policy.Decide(plans.Outlook(c.View()), nil)
		took = append(took, ms(time.Since(began)))
	}
	add(fmt.Sprintf("question.queue_ms.%dx%d", waitingApps, waitingStages), benchline.Quantile(took, 0.99), "ms")
}
