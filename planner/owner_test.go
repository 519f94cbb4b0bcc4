package planner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
)

// ask sends a control request of a user.
func (w *world) ask(user string, role api.Role, verb api.Verb, q api.ControlRequest) api.ControlReply {
	w.Helper()
	q.V = api.Version
	by := api.Principal{Kind: api.PrincipalUser, Name: user, Role: role}
	return w.step(planner.Control{To: 1, By: by, Verb: verb, Request: q}).(api.ControlReply)
}

// profileOf is what a user is shown of a profile, nil for nothing.
func (w *world) profileOf(user, name string) *api.Profile {
	w.Helper()
	r := w.ask(user, api.RoleSubmit, api.VerbProfile, api.ControlRequest{Profile: name})
	if r.Error != nil {
		return nil
	}
	return &r.Profiles[0]
}

// ran has a user's run of an application end well, and its figures be taken in.
func (w *world) ran(user, name string, signatures ...string) {
	w.Helper()
	r := registration(name, 0)
	w.seq["runs"]++
	r.Submission, r.User = user+string(rune('0'+w.seq["runs"])), user
	w.run(r, signatures...)
	w.pass(3 * time.Second)
}

func signatures(p *api.Profile) (all []string) {
	if p == nil {
		return nil
	}
	for _, s := range p.Stages {
		all = append(all, s.Signature)
	}
	return all
}

// Users have profiles of the same name, and each goes by its own. An operator sees all.
func TestAProfileIsItsUsers(t *testing.T) {
	w := newWorld(t, "a")
	w.ran("ann", "etl", "s1", "s2")
	w.ran("bob", "etl", "x1")
	for user, want := range map[string][]string{"ann": {"s1", "s2"}, "bob": {"x1"}, "eve": nil} {
		p := w.profileOf(user, "etl")
		if got := signatures(p); !slices.Equal(got, want) || p != nil && (p.Owner != user || p.Shared) {
			t.Errorf("%s has stages %q of %+v, want %q", user, got, p, want)
		}
	}
	w.restart()
	w.hello("a")
	if got := signatures(w.profileOf("ann", "etl")); len(got) != 2 {
		t.Errorf("after a restart ann has %q", got)
	}
	body := chain("etl")
	body.Owner = "ann" // Whatever a file says.
	if r := w.ask("eve", api.RoleSubmit, api.VerbProfilePut, api.ControlRequest{Profile: "etl", Body: &body}); r.Error != nil {
		t.Fatal(r.Error)
	}
	listed := func(user string, role api.Role) (owners []string) {
		for _, p := range w.ask(user, role, api.VerbProfiles, api.ControlRequest{}).Listed {
			owners = append(owners, p.Owner)
		}
		return owners
	}
	if got := listed("eve", api.RoleSubmit); !slices.Equal(got, []string{"eve"}) {
		t.Errorf("eve sees those of %q", got)
	}
	if got := listed("ops", api.RoleOperate); !slices.Equal(got, []string{"ann", "bob", "eve"}) {
		t.Errorf("an operator sees those of %q", got)
	}
	for _, q := range []struct {
		verb api.Verb
		api.ControlRequest
	}{
		{api.VerbProfile, api.ControlRequest{Profile: "etl", Owner: "ann"}}, {api.VerbProfileRm, api.ControlRequest{Profile: "etl", Owner: "ann"}},
		{api.VerbProfilePut, api.ControlRequest{Profile: "etl", Owner: "ann", Body: &body}}, {api.VerbProfilePut, api.ControlRequest{Profile: "etl", Shared: true, Body: &body}},
	} {
		if r := w.ask("eve", api.RoleSubmit, q.verb, q.ControlRequest); r.Error == nil || r.Error.Kind != api.KindDenied {
			t.Errorf("eve asks for %s of %+v: %+v", q.verb, q.ControlRequest, r)
		}
	}
	if r := w.ask("eve", api.RoleSubmit, api.VerbProfileRm, api.ControlRequest{Profile: "etl"}); r.Error != nil || w.profileOf("eve", "etl") != nil || w.profileOf("ann", "etl") == nil {
		t.Errorf("eve removes hers: %+v", r)
	}
	if r := w.ask("ops", api.RoleOperate, api.VerbProfile, api.ControlRequest{Profile: "etl"}); r.Error == nil || r.Error.Kind != api.KindInvalid {
		t.Errorf("an operator asks for one of two: %+v", r)
	}
	if r := w.ask("ops", api.RoleOperate, api.VerbProfileRm, api.ControlRequest{Profile: "etl", Owner: "bob"}); r.Error != nil || w.profileOf("bob", "etl") != nil {
		t.Errorf("an operator removes bob's: %+v", r)
	}
	for user, known := range map[string]bool{"ann": true, "bob": false} {
		by := api.Principal{Kind: api.PrincipalUser, Name: user, Role: api.RoleSubmit}
		r := w.step(planner.PlanQuery{To: 1, By: by, Request: api.PlanRequest{V: api.Version, Profile: "etl", Deadline: 1000}}).(api.PlanReply)
		if (r.Error == nil) != known {
			t.Errorf("%s plans by it: %+v", user, r.Error)
		}
	}
}

// shares has an operator share a profile.
func (w *world) shares(taught bool) {
	w.Helper()
	body := chain("etl")
	body.Taught = taught
	if r := w.ask("ops", api.RoleOperate, api.VerbProfilePut, api.ControlRequest{Body: &body, Shared: true}); r.Error != nil {
		w.Fatalf("not shared: %v", r.Error)
	}
}

// One that an operator has shared counts for all who have none of their own; their runs teach it where the operator says so.
func TestASharedProfileIsTaughtByAllWhereThatIsSaid(t *testing.T) {
	w := newWorld(t, "a")
	w.ran("ann", "etl", "x1")
	w.shares(true)
	w.ran("ann", "etl", "x1")
	w.ran("bob", "etl", "y1")
	if p := w.profileOf("ann", "etl"); !slices.Equal(signatures(p), []string{"x1"}) || p.Runs != 2 {
		t.Errorf("ann has %+v", p)
	}
	w.restart()
	w.hello("a")
	for _, user := range []string{"bob", "eve"} {
		p := w.profileOf(user, "etl")
		if len(p.Variants) != 1 || !slices.Equal(signatures(&p.Variants[0]), []string{"y1"}) || p.Owner != "" || !p.Shared || !p.Taught {
			t.Errorf("%s has %+v", user, p)
		}
	}
	if r := w.ask("bob", api.RoleSubmit, api.VerbProfileRm, api.ControlRequest{Profile: "etl"}); r.Error == nil || r.Error.Kind != api.KindDenied {
		t.Errorf("bob removes the shared one: %+v", r)
	}
	if r := w.ask("ops", api.RoleOperate, api.VerbProfileRm, api.ControlRequest{Profile: "etl", Shared: true}); r.Error != nil || w.profileOf("bob", "etl") != nil {
		t.Errorf("an operator removes it: %+v", r)
	}
}

// Runs of who only goes by a shared profile change it for nobody else; nor does anybody but an operator have it taught.
func TestAttackAFalseRunTeachesOthers(t *testing.T) {
	w := newWorld(t, "a")
	w.shares(false)
	before := w.profileOf("eve", "etl")
	for range 3 {
		w.ran("mallory", "etl", "y1")
	}
	if p := w.profileOf("eve", "etl"); !p.Shared || p.Taught || p.Runs != before.Runs || len(p.Variants) != 0 || !slices.Equal(signatures(p), signatures(before)) {
		t.Errorf("eve has %+v", p)
	}
	if p := w.profileOf("mallory", "etl"); p.Owner != "mallory" || p.Shared || p.Taught || p.Runs < 3 {
		t.Errorf("mallory has %+v", p)
	}
	body := chain("etl")
	body.Shared, body.Taught = true, true // Whatever a file says.
	if r := w.ask("mallory", api.RoleSubmit, api.VerbProfilePut, api.ControlRequest{Body: &body, Shared: true}); api.KindOf(r.Error) != api.KindDenied {
		t.Errorf("mallory shares: %+v", r)
	}
	if r := w.ask("mallory", api.RoleSubmit, api.VerbProfilePut, api.ControlRequest{Body: &body}); r.Error != nil {
		t.Error(r.Error)
	}
	if p := w.profileOf("mallory", "etl"); p.Owner != "mallory" || p.Shared || p.Taught {
		t.Errorf("mallory has put %+v", p)
	}
}

// What was stored before profiles had owners counts for all, until a run makes its user's own of it.
func TestAProfileOfNobodyBecomesItsUsers(t *testing.T) {
	w := newWorld(t, "a")
	w.put(chain("etl"))
	before := w.profileOf("bob", "etl")
	if before == nil || before.Owner != "" || before.Shared {
		t.Fatalf("bob has %+v", before)
	}
	w.ran("ann", "etl", "s1")
	if p := w.profileOf("ann", "etl"); p.Owner != "ann" || len(p.Variants) != 1 || !slices.Equal(signatures(&p.Variants[0]), []string{"s1"}) {
		t.Errorf("ann has %+v", p)
	}
	if p := w.profileOf("bob", "etl"); !slices.Equal(signatures(p), signatures(before)) || p.Runs != before.Runs {
		t.Errorf("bob has %+v", p)
	}
}

// A plan may be asked for by today's name of what is recorded whatever it is called.
func TestAPlanForTodaysName(t *testing.T) {
	w := newWorld(t, "a")
	w.put(chain("sales *"))
	q := api.PlanRequest{V: api.Version, Profile: "sales 2026-11-27", Deadline: 120}
	if r := w.step(planner.PlanQuery{To: 1, Request: q}).(api.PlanReply); r.Error != nil || r.Verdict != api.VerdictFeasible {
		t.Errorf("%+v", r)
	}
	q.Profile = "sale *"
	if r := w.step(planner.PlanQuery{To: 1, Request: q}).(api.PlanReply); r.Error == nil || r.Error.Kind != api.KindNotFound || !strings.Contains(r.Error.Message, `the nearest is "sales *"`) {
		t.Errorf("a profile that is not there: %+v", r)
	}
}
