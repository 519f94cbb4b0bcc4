package bus_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
)

// An answer that comes in parts is one for who has asked.
func TestPartsOfAnAnswerAreJoined(t *testing.T) { both(t, testPartsOfAnAnswerAreJoined) }

func testPartsOfAnAnswerAreJoined(t *testing.T, run starter) {
	w := planner(t, run, bus.ServerConfig{})
	cli := w.as(t, asUser("ann", api.RoleView))
	reply, err := cli.Control(within(t), api.VerbApps, api.ControlRequest{App: "parts"})
	if got := fmt.Sprint(len(reply.Apps), len(reply.Nodes), len(reply.Profiles), len(reply.App.Stages), reply.App.Reason); err != nil || got != "3 3 3 3first" {
		t.Errorf("%s: %v", got, err)
	}
	if _, err := cli.Control(within(t), api.VerbApps, api.ControlRequest{App: "endless"}); api.KindOf(err) != api.KindInvalid {
		t.Errorf("an answer without an end: %v", err)
	}
}

// part is a part of an answer of three.
func part(after string) api.ControlReply {
	r := api.ControlReply{V: api.Version, Apps: make([]api.AppSummary, 1), Nodes: make([]api.NodeSummary, 1), Profiles: make([]api.Profile, 1),
		App: &api.AppDetail{Stages: make([]api.AppStage, 1)}}
	switch after {
	case "":
		r.More, r.App.Reason = "1", "first"
	case "1":
		r.More = "2"
	}
	return r
}

// Who asks without end is refused before anything is read, and others are not.
func TestAFloodIsRefused(t *testing.T) { both(t, testAFloodIsRefused) }

func testAFloodIsRefused(t *testing.T, run starter) {
	w := planner(t, run, bus.ServerConfig{})
	cli := w.as(t, asUser("ann", api.RoleView))
	var refused atomic.Int64
	var askers sync.WaitGroup
	for range 16 {
		askers.Go(func() {
			for i := 0; i < 1000 && refused.Load() == 0; i++ {
				if _, err := cli.Control(within(t), api.VerbPing, api.ControlRequest{App: "x"}); api.KindOf(err) == api.KindTransient {
					refused.Add(1)
				}
			}
		})
	}
	askers.Wait()
	if refused.Load() == 0 {
		t.Error("16,000 requests are answered")
	}
	if _, err := w.as(t, asUser("bob", api.RoleView)).Control(within(t), api.VerbPing, api.ControlRequest{App: "x"}); err != nil {
		t.Errorf("another one: %v", err)
	}
}
