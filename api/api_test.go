package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
)

func goodProfile() api.Profile {
	stage := func(id, job int, parents ...int) api.ProfileStage {
		return api.ProfileStage{ID: id, Job: job, Name: "s", Signature: "x", Parents: parents, Tasks: 4, Duration: 2,
			Records: 100, CoreSeconds: 4, NominalRate: 25}
	}
	return api.Profile{Schema: api.ProfileSchema, Name: "wordcount", Runs: 1, Duration: 9, Cores: 2, Head: 1,
		Stages: []api.ProfileStage{stage(0, 0), stage(1, 0, 0), stage(4, 1)}}
}

func TestProfileSurvivesEncodeAndDecode(t *testing.T) {
	want := goodProfile()
	body, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := api.DecodeProfile(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestProfileDecodingIsStrict(t *testing.T) {
	good, err := goodProfile().Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"unknown field": strings.Replace(string(good), `"runs"`, `"rnus"`, 1),
		"trailing data": string(good) + "{}",
		"not JSON":      "deadline: 5",
		"empty":         "",
	} {
		if _, err := api.DecodeProfile(strings.NewReader(body)); api.KindOf(err) != api.KindInvalid || err == nil {
			t.Errorf("%s: %v, want an invalid error", name, err)
		}
	}
}

func TestProfileValidateReportsEveryFaultAtOnce(t *testing.T) {
	p := goodProfile()
	p.Name = ""
	p.Head = -1
	p.Stages[0].Tasks = 0
	p.Stages[1].Parents = []int{4} // A cycle needs a parent that does not come before.
	p.Stages[2].NominalRate = -3
	err := p.Validate()
	if err == nil {
		t.Fatal("a profile with five faults was taken")
	}
	for _, want := range []string{"name is empty", "head_s", "tasks is 0", "parent 4", "cycles", "nominal_rate"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not mention %q", err, want)
		}
	}
}

func TestErrorKindSurvivesWrappingAndTheWire(t *testing.T) {
	err := fmt.Errorf("register: %w", api.Errorf(api.KindInfeasible, "too soon"))
	if got := api.KindOf(err); got != api.KindInfeasible {
		t.Errorf("kind %v", got)
	}
	body, marshalErr := json.Marshal(api.ToWire(err))
	if marshalErr != nil {
		t.Fatal(marshalErr)
	}
	var back api.Error
	if err := json.Unmarshal(body, &back); err != nil {
		t.Fatal(err)
	}
	if back.Kind != api.KindInfeasible || !strings.Contains(back.Message, "too soon") {
		t.Errorf("came back as %+v", back)
	}
	if api.KindOf(errors.New("plain")) != api.KindInternal {
		t.Error("a plain error is not internal")
	}
	if api.ToWire(nil) != nil {
		t.Error("no error became one")
	}
}

func TestKindNumbersAreFrozen(t *testing.T) {
	for want, kind := range []api.Kind{api.KindInternal, api.KindInvalid, api.KindNotFound, api.KindInfeasible,
		api.KindConflict, api.KindStale, api.KindTransient, api.KindVersion, api.KindDenied} {
		if int(kind) != want {
			t.Errorf("%v has number %d, want %d", kind, int(kind), want)
		}
	}
}

func TestEventsMustBeInOrderAndCarryTheirBody(t *testing.T) {
	good := api.Events{V: api.Version, AppID: "app-1", Events: []api.Event{
		{Seq: 3, Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: "1"}},
		{Seq: 4, Type: api.EventEnd},
	}}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	bad := api.Events{V: api.Version, Events: []api.Event{{Seq: 3, Type: api.EventStageReady}, {Seq: 5, Type: "what"}}}
	err := bad.Validate()
	for _, want := range []string{"without its body", "seq 5", `"what"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not mention %s", err, want)
		}
	}
}

func TestAnotherVersionIsRefusedWithBothNumbers(t *testing.T) {
	err := api.Events{V: 99}.Validate()
	if api.KindOf(err) != api.KindVersion || !strings.Contains(err.Error(), "99") || !strings.Contains(err.Error(), "1") {
		t.Errorf("got %v", err)
	}
}

func TestRegistrationReportsEveryFault(t *testing.T) {
	err := api.RegisterRequest{V: api.Version, Deadline: -1}.Validate()
	for _, want := range []string{"submission", "name", "driver_url", "heap_bytes", "deadline_s"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not mention %s", err, want)
		}
	}
}

func TestNodeNamesAreSubjectTokens(t *testing.T) {
	for name, want := range map[string]bool{"node-1": true, "a_b": true, "": false, "a.b": false, "a b": false, "*": false, strings.Repeat("x", 64): false} {
		if api.ValidNodeName(name) != want {
			t.Errorf("%q: want %v", name, want)
		}
	}
}
