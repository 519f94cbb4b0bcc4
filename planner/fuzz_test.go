package planner_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
)

// FuzzBodies: whatever drivers, nodes and people send, a planner answers, and what it knows
// stays consistent (world.step) and can be restored. Each line is a letter, or the verb of a
// request of people, and a body.
func FuzzBodies(f *testing.F) {
	line := func(letter string, body any) string {
		text, err := json.Marshal(body)
		if err != nil {
			f.Fatal(err)
		}
		return letter + string(text) + "\n"
	}
	status := api.NodeStatus{V: api.Version, Node: "a", Incarnation: "a-1", Seq: 100, Host: "h", Offered: 4, Total: 4, Memory: 16 << 30,
		Executors: []api.ExecutorStatus{{App: "app-1", ID: "1", State: api.ExecutorRunning, Quota: api.Unknown}}}
	p := api.Profile{Schema: api.ProfileSchema, Name: "p", Cores: 2, Stages: []api.ProfileStage{{Name: "s", Signature: "x", Tasks: 4, Duration: 2,
		Records: 100, CoreSeconds: 4, NominalRate: 25}}}
	id := newWorld(f, "a").mustRegister(registration("p", 40)).AppID
	batch := func(events ...api.Event) string {
		for i := range events {
			events[i].Seq = uint64(i + 1)
		}
		return line("E", api.Events{V: api.Version, AppID: id, Submission: registration("p", 40).Submission, Events: events})
	}
	put := line("profile-put ", api.ControlRequest{V: api.Version, Body: &p})
	run := batch(api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: "1"}}, ready(1, 0, "x", 100, "1"), done(3, 0, 1), end(4))
	register := line("R", registration("p", 40))
	f.Add(put + register + run)
	f.Add(register + run + line("H", status) + line("S", status))
	f.Add(put + line("P", api.PlanRequest{V: api.Version, Profile: "p", Deadline: 30}) + line("node-drain ", api.ControlRequest{V: api.Version, Node: "a"}))
	f.Add(put + register + line("cap ", api.ControlRequest{V: api.Version, App: id, Cap: 1}) + line("deadline ", api.ControlRequest{V: api.Version, App: id, Extend: 5}) +
		line("step ", api.ControlRequest{V: api.Version, App: id, Step: &api.Step{Stage: -1, Low: 0.5, High: 1, Each: 3}}))
	f.Fuzz(func(t *testing.T, text string) {
		w := newWorld(t, "a")
		w.standby = nil // It would take most of the time.
		for i, line := range strings.Split(text, "\n") {
			if i == 16 || len(line) == 0 {
				break
			}
			if event := eventOf([]byte(line)); event != nil {
				w.step(event)
			}
			w.pass(time.Second)
		}
		w.restart()
		w.pass(time.Second)
	})
}

// eventOf is what a loop makes of a body, nil where the bus lets none through.
func eventOf(line []byte) planner.Event {
	read := func(into any) bool { return json.Unmarshal(line[1:], into) == nil }
	switch line[0] {
	case 'R':
		if e := (planner.Register{To: 1}); read(&e.Request) {
			return e
		}
	case 'E':
		if e := (planner.DriverEvents{To: 1}); read(&e.Batch) {
			return e
		}
	case 'H':
		if e := (planner.Hello{To: 1}); read(&e.Status) {
			return e
		}
	case 'S':
		if s := new(api.NodeStatus); read(s) {
			return planner.Status{Status: s}
		}
	case 'P':
		if e := (planner.PlanQuery{To: 1}); read(&e.Request) {
			return e
		}
	default:
		verb, body, _ := bytes.Cut(line, []byte(" "))
		if e := (planner.Control{To: 1, Verb: api.Verb(verb)}); json.Unmarshal(body, &e.Request) == nil {
			return e
		}
	}
	return nil
}
