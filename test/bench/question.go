package main

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/units"
)

// questioned is how many registrations are timed beside the question.
const questioned = 400

// question times registrations while another user asks again and again what a deadline would mean
// for a profile of 2,000 stages, of which all can run at once: nothing takes a planner longer.
func question(t testing.TB, add adder) {
	r, address := startPlanner(t, 4, peers{})
	conn := func(p api.Principal) *bus.Conn {
		own := bus.NewCredential(p.Login())
		ask(t, r.conn, api.VerbIssue, api.ControlRequest{Issue: &api.Issue{Principal: p, Key: own.Key()}})
		return r.as.dial(t, address, own)
	}
	n := &nodeSpeaker{t: t, conn: conn(api.Principal{Kind: api.PrincipalNode, Name: "n1"}),
		status: api.NodeStatus{V: api.Version, Node: "n1",
			Host: "127.0.0.1", Offered: 4, Total: 4, Memory: 8 * units.GiB, Division: api.Division{Strategy: "edf-pure"}}}
	n.speak()
	defer n.hush()
	began := time.Now()
	var answered []float64
	ctx, quit := context.WithCancel(context.Background())
	var asker sync.WaitGroup
	viewer, body := conn(api.Principal{Kind: api.PrincipalUser, Name: "viewer", Role: api.RoleView}), wide(2000)
	asker.Go(func() {
		for ctx.Err() == nil {
			asked := time.Now()
			_, err := viewer.PlanQuery(ctx, api.PlanRequest{Body: &body, Deadline: 2 * body.Duration})
			switch {
			case err == nil:
				answered = append(answered, time.Since(asked).Seconds())
			case api.KindOf(err) == api.KindTransient: // Its allowance is used up for a moment.
			case ctx.Err() == nil:
				t.Errorf("plan: %v", err)
				return
			}
		}
	})
	took := make([]float64, 0, questioned)
	for i := range questioned {
		asked := time.Now()
		reply, err := r.conn.Register(ctx, api.RegisterRequest{V: api.Version, Submission: fmt.Sprint("question-", i),
			Name: fmt.Sprint("question-", i%8),
			Launch: api.Launch{DriverURL: "spark://CoarseGrainedScheduler@127.0.0.1:1", Heap: 3 * units.GiB,
				SparkVersion: "4.3.0"}})
		if err != nil {
			t.Fatal(err)
		}
		took = append(took, 1000*time.Since(asked).Seconds())
		if i > 0 { // The first one runs, those behind it wait and are out of the queue at once.
			ask(t, r.conn, api.VerbKill, api.ControlRequest{App: reply.AppID})
		}
		time.Sleep(10 * time.Millisecond) // At all phases of the answer.
	}
	quit()
	asker.Wait()
	t.Logf("%d questions were answered in %v", len(answered), time.Since(began).Round(time.Second))
	add("question.register_ms.p50", benchline.Median(took), "ms")
	add("question.register_ms.p99", benchline.Quantile(took, 0.99), "ms")
	add("question.answer_s.p50", benchline.Median(answered), "s")
}

// wide is a profile of n stages that wait for nothing.
func wide(n int) api.Profile {
	p := chain(1)
	one := p.Stages[0]
	p.Name, p.Stages = "wide", nil
	for i := range n {
		s := one
		s.ID, s.Signature, s.Name, s.Parents = i, fmt.Sprintf("%016x", i), fmt.Sprint("stage ", i), []int{}
		p.Stages = append(p.Stages, s)
	}
	p.Duration = units.Seconds(n)*one.Duration + 10
	return p
}
