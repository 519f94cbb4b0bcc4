package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/web"
)

func TestEveryRouteIsDescribedAndThereIsNoOther(t *testing.T) {
	w := newWorld(t)
	var routes []string
	for _, route := range web.Routes() {
		routes = append(routes, route.Pattern)
	}
	slices.Sort(routes)
	if described := w.desc.Operations(); !slices.Equal(routes, described) {
		t.Errorf("routes:\n%s\nopenapi.yaml:\n%s", strings.Join(routes, "\n"), strings.Join(described, "\n"))
	}
	for _, name := range w.desc.Schemas() {
		if err := w.desc.Is(name, []byte(`"?"`)); err == nil || strings.Contains(err.Error(), "compil") {
			t.Errorf("schema %s: %v", name, err)
		}
	}
}

// Whatever a planner says, the answer is one that is described: of what all is known, of what nothing is, and an error of
// each kind.
func TestEveryAnswerIsAsDescribed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		token := w.tokenOf(ops)
		answers := 0
		all := full()
		profile := filled[api.Profile]()
		profile.Schema = 1
		rich := api.ControlReply{V: 1, App: &all, Apps: []api.AppSummary{all.AppSummary}, Nodes: []api.NodeSummary{filled[api.NodeSummary]()},
			Profiles: []api.Profile{profile}, Message: "done", Why: ptr(filled[api.Why]()), Report: ptr(filled[api.Report]()), Cores: ptr(filled[api.CoresHistory]())}
		rich.Log, rich.Policy, rich.History, rich.Knee = &api.LogReply{Data: []byte("line\n"), EOF: true}, ptr(filled[api.QueueDetail]()), ptr(filled[api.ProfileHistory]()), ptr(filled[api.Knee]())
		rich.Nodes[0].State, rich.Why.Risk, rich.Report.By, rich.Cores.Step = "ready", api.RiskLate, api.ByDay, 60
		poor := api.ControlReply{V: 1, App: &api.AppDetail{Notices: []string{}, Executors: []api.AppExecutor{},
			Stages: []api.AppStage{{State: "coming"}}}, Apps: []api.AppSummary{{State: api.AppQueued, Pacing: "off"}},
			Nodes: []api.NodeSummary{{State: "lost"}}, Profiles: []api.Profile{{Schema: 1, Stages: []api.ProfileStage{}}},
			Why: &api.Why{}, Report: &api.Report{By: api.ByUser}, Cores: &api.CoresHistory{Step: 1}}
		poor.App.Executors = []api.AppExecutor{{ID: "text"}}
		poor.Log, poor.Policy, poor.History, poor.Knee = &api.LogReply{EOF: true}, &api.QueueDetail{QueuePolicy: api.QueuePolicy{Rule: "backfill", Order: "edf", Size: "runtime", Admission: "open", Late: "share"}}, &api.ProfileHistory{V: 1, Versions: []api.ProfileVersion{}}, &api.Knee{V: 1}
		poor.App.State, poor.App.Pacing = api.AppUnknown, "off"
		w.planner.plan = filled[api.PlanReply]()
		w.planner.plan.Error, w.planner.plan.Verdict = nil, api.VerdictFeasible
		ask := func(want int) {
			for _, operation := range w.desc.Operations() {
				method, path := pathOf(operation)
				if path == "/api/v1/watch" || path == "/api/v1/session" {
					continue
				}
				if answers++; w.desc.Of(method, path) == "" {
					t.Fatal(operation)
				}
				if status, said := w.do(method, path, token, bodies[operation]); status != want {
					t.Errorf("%s: %d %v, want %d", operation, status, said, want)
				}
			}
		}
		for _, reply := range []api.ControlReply{rich, poor} {
			w.planner.reply = reply
			ask(200)
			w.planner.plan = api.PlanReply{Verdict: api.VerdictUnknown}
		}
		for kind, want := range map[api.Kind]int{api.KindInternal: 500, api.KindInvalid: 400, api.KindNotFound: 404, api.KindInfeasible: 422,
			api.KindConflict: 409, api.KindStale: 409, api.KindTransient: 503, api.KindVersion: 400, api.KindDenied: 403} {
			fault := api.Errorf(kind, "it is so")
			w.planner.reply, w.planner.plan = api.ControlReply{Error: fault}, api.PlanReply{Error: fault}
			ask(want)
		}
		t.Logf("figure api.documented_pct %g %d", 100*float64(answers-w.undescribed)/float64(answers), answers) // For the row web.
	})
}

// What is not known is null, and never 0; what is known to be 0 is that.
func TestWhatIsNotKnownIsNull(t *testing.T) {
	w := newWorld(t)
	w.planner.reply = api.ControlReply{App: &api.AppDetail{AppSummary: api.AppSummary{State: api.AppRunning, Pacing: "paced"},
		Notices: []string{}, Executors: []api.AppExecutor{},
		Stages:    []api.AppStage{{State: "running", Samples: []api.AppSample{{At: 1, Executor: "1", Grant: api.Unknown}}}},
		Shortages: []api.AppShortage{{Node: "a", Begin: 3}}}}
	_, a := w.do("GET", "/api/v1/applications/app-1", w.mine(), "")
	for _, key := range []string{"deadline_s", "predicted_finish_s", "first_launch_s", "earliest_s", "error_pct"} {
		if v, there := a[key]; v != nil || !there {
			t.Errorf("%s is %v", key, v)
		}
	}
	if a["core_seconds"] != 0.0 {
		t.Errorf("core_seconds is %v", a["core_seconds"])
	}
	stage := a["stages"].([]any)[0].(map[string]any)
	if _, there := stage["samples"]; there || stage["deadline_s"] != nil {
		t.Errorf("stage: %v", stage)
	}
	if short := a["shortages"].([]any)[0].(map[string]any); short["end_s"] != nil {
		t.Errorf("shortage: %v", short)
	}
	_, s := w.do("GET", "/api/v1/applications/app-1/samples", w.mine(), "")
	if got := s["stages"].([]any)[0].(map[string]any)["grant_cores"]; !sameJSON(got, []any{nil}) {
		t.Errorf("grants: %v", got)
	}
}

func TestAListIsFilteredAndCutTheNewestFirst(t *testing.T) {
	w := newWorld(t)
	for i := range 9 {
		a := api.AppSummary{ID: api.AppID(fmt.Sprintf("app-%d", i)), User: "ann", State: api.AppFinished, Pacing: "paced", Profile: "etl"}
		if i%3 == 0 {
			a.User, a.State = "bob", api.AppRunning
		}
		w.planner.reply.Apps = append(w.planner.reply.Apps, a)
	}
	for query, want := range map[string]string{
		"": "876543210", "?limit=2": "87+", "?limit=2&before=app-7": "65+", "?user=bob": "630", "?state=queued,running": "630",
		"?profile=other": "", "?user=ann&limit=3&before=app-5": "421",
	} {
		apps := slices.Clone(w.planner.reply.Apps)
		_, list := w.do("GET", "/api/v1/applications"+query, w.mine(), "")
		w.planner.reply.Apps = apps // The answer's own.
		got := ""
		for _, a := range list["applications"].([]any) {
			got += strings.TrimPrefix(a.(map[string]any)["id"].(string), "app-")
		}
		if list["more"] == true {
			got += "+"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
	if status, said := w.do("GET", "/api/v1/applications?limit=0", w.mine(), ""); status != 400 {
		t.Errorf("limit 0: %d %v", status, said)
	}
}

// Who asks is the one whom the planner hears of, with what is asked.
func TestVerbsAreAskedInTheNameOfWhoAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		token := w.begin()
		w.do("POST", "/api/v1/applications/app-7/kill", token, "")
		w.do("POST", "/api/v1/applications/app-7/release", token, "")
		w.do("POST", "/api/v1/applications/app-7/deadline", token, `{"extend_s": 60}`)
		w.do("POST", "/api/v1/applications/app-7/deadline", token, `{"deadline_s": 90}`)
		want := []string{"kill app-7 0s 0s ann", "release app-7 0s 0s ann", "deadline app-7 60s 0s ann", "deadline app-7 0s 90s ann"}
		for i, r := range w.planner.asked {
			if got := fmt.Sprint(w.planner.verbs[i], " ", r.App, " ", float64(r.Extend), "s ", float64(r.Deadline), "s ", w.planner.by[i].Name); got != want[i] {
				t.Errorf("%s, want %s", got, want[i])
			}
		}
	})
}

func TestBadRequestsGetOneCalmLine(t *testing.T) {
	w := newWorld(t)
	w.planner.reply = api.ControlReply{Error: api.Errorf(api.KindNotFound, "application %q is not known: `pacer apps` lists them", "app-x")}
	many := "[1" + strings.Repeat(", 1", 64) + "]"
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "/api/v1/applications/app-x", "", 404, "is not known"},
		{"GET", "/api/v1/applications?stat=running", "", 400, "parameter \"stat\" is not known, want one of [limit before state user profile]"},
		{"GET", "/api/v1/applications?state=runing", "", 400, "state is \"runing\", want one of"},
		{"GET", "/api/v1/applications?state=running,queued&state=failed", "", 400, "stands there 2 times"},
		{"GET", "/api/v1/policy?limit=3", "", 400, "parameter \"limit\" is not known: there are none"},
		{"GET", "/api/v1/report?By=user", "", 400, "parameter \"By\" is not known"},
		{"POST", "/api/v1/plan", `{"profile": "p", "deadlines_s": []}`, 400, "want 1 to 64"},
		{"POST", "/api/v1/plan", `{"profile": "p", "deadlines_s": ` + many + `}`, 400, "want 1 to 64"},
		{"POST", "/api/v1/plan", `{"profile": "p", "deadlines_s": [-1]}`, 400, "a deadline is -1"},
		{"POST", "/api/v1/plan", `{"profile": "p", "deadline": 1}`, 400, "unknown field"},
		{"POST", "/api/v1/plan", `{"profile": "p"} x`, 400, "cannot be read"},
		{"POST", "/api/v1/plan", `{"profile": "` + strings.Repeat("p", 70<<10) + `"}`, 413, "too large"},
		{"POST", "/api/v1/applications/app-x/deadline", "", 400, "Content-Type"},
	} {
		status, said := w.do(c.method, c.path, w.mine(), c.body)
		if detail := fmt.Sprint(said["detail"]); status != c.status || !strings.Contains(detail, c.says) || strings.Contains(detail, "\n") {
			t.Errorf("%s %s %.40s: %d %v", c.method, c.path, c.body, status, said)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// Each request is counted with whoever asks, and each question of one that has many; what is refused asks nothing.
func TestAttackRequestsWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, asked := 5, 0
		s := web.New(web.Config{Serves: func() (web.Planner, error) { return counting{&asked}, nil },
			Who: func(string) (api.Principal, error) { return ann, nil },
			Admit: func(_ *http.Request, by api.Principal, _ int) error {
				if left--; left < 0 || by.Login() != ann.Login() {
					return api.Errorf(api.KindTransient, "too much")
				}
				return nil
			}})
		defer s.Close()
		token, _ := s.Sessions.Token(ann, api.TokenRequest{For: api.MostTokenFor})
		do := func(method, path, body string) int {
			r := httptest.NewRequest(method, "http://localhost/api/v1/"+path, strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			return w.Code
		}
		if status := do("GET", "nodes", ""); status != http.StatusOK {
			t.Fatal(status)
		}
		deadlines := strings.TrimSuffix(strings.Repeat("60,", 64), ",")
		if status := do("POST", "plan", `{"profile":"p","deadlines_s":[`+deadlines+`]}`); status != http.StatusServiceUnavailable {
			t.Errorf("64 questions at once: %d", status)
		}
		for range 100 {
			if status := do("POST", "applications/app-1/kill", ""); status != http.StatusServiceUnavailable {
				t.Fatalf("one more request: %d", status)
			}
		}
		if asked != 5 {
			t.Errorf("the planner is asked %d times, want 5", asked)
		}
	})
}

// counting is a planner that counts what it is asked.
type counting struct{ asked *int }

func (c counting) Control(_ api.Principal, _ api.Verb, _ api.ControlRequest, reply func(api.ControlReply)) {
	*c.asked++
	reply(api.ControlReply{})
}

func (c counting) Plan(_ api.Principal, _ api.PlanRequest, reply func(api.PlanReply)) {
	*c.asked++
	reply(api.PlanReply{})
}

func (c counting) Look(uint64, func(api.Changes)) {}
