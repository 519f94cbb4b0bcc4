package api_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
)

// FuzzProfile: whatever the text, it is no profile and the error is for the user, or it is
// one that reads the same when it is written again.
func FuzzProfile(f *testing.F) {
	good, err := goodProfile().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"schema":1,"name":"p","stages":[{"id":0,"parents":[0]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := api.DecodeProfile(bytes.NewReader(body))
		if err != nil {
			if api.KindOf(err) != api.KindInvalid || len(err.Error()) > 64<<10 {
				t.Errorf("%v of %d bytes, want an invalid one", api.KindOf(err), len(err.Error()))
			}
			return
		}
		again, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		q, err := api.DecodeProfile(bytes.NewReader(again))
		if d := cmp.Diff(p, q); err != nil || d != "" {
			t.Errorf("written again it reads otherwise: %v %s", err, d)
		}
	})
}

// message is what is checked before it is used.
type message interface{ Validate() error }

// FuzzMessages: a body that decodes into a message is one with faults that are for the
// user, or one that is still without any when it has been sent on.
func FuzzMessages(f *testing.F) {
	kinds := []func() message{
		func() message { return new(api.RegisterRequest) }, func() message { return new(api.Events) }, func() message { return new(api.NodeStatus) },
		func() message { return new(api.ControlRequest) }, func() message { return new(api.PlanRequest) }, func() message { return new(api.LogRequest) },
		func() message { return new(api.Plan) },
	}
	for i, m := range []any{goodRegistration(), goodEvents(), goodStatus(), api.ControlRequest{V: api.Version, App: "app-1", Step: &api.Step{}},
		api.PlanRequest{V: api.Version, Profile: "p"}, api.LogRequest{V: api.Version, Stream: "stdout"},
		api.Plan{V: api.Version, Apps: []api.PlanApp{{ID: "app-1", Launch: new(goodRegistration().Launch), Stages: []api.StageTarget{{Executor: "1"}}}}}} {
		body, err := json.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), body)
	}
	for i, name := range []string{"register.json", "events.json"} {
		body, err := os.ReadFile(filepath.Join("..", "spark", "src", "test", "resources", "samples", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), body)
	}
	f.Fuzz(func(t *testing.T, kind uint8, body []byte) {
		m := kinds[int(kind)%len(kinds)]()
		if json.Unmarshal(body, m) != nil {
			return
		}
		if err := m.Validate(); err != nil {
			if k := api.KindOf(err); k != api.KindInvalid && k != api.KindVersion || len(err.Error()) > 64<<10 {
				t.Errorf("%v of %d bytes", k, len(err.Error()))
			}
			return
		}
		sent, err := json.Marshal(m)
		if err != nil {
			t.Fatalf("what has no fault cannot be sent: %v", err)
		}
		got := kinds[int(kind)%len(kinds)]()
		if err := json.Unmarshal(sent, got); err != nil {
			t.Fatal(err)
		}
		if err := got.Validate(); err != nil {
			t.Errorf("sent on it has faults: %v", err)
		}
	})
}
