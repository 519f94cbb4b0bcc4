package bus_test

import (
	"fmt"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/bus"
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
