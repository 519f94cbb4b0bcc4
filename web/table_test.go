package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner/access"
	"github.com/sparkpacer/pacer/web"
)

// bodies are right bodies of the routes that take one.
var bodies = map[string]string{
	"POST /plan":                       `{"profile": "etl", "deadlines_s": [60, 90]}`,
	"POST /applications/{id}/deadline": `{"extend_s": 60}`,
	"POST /applications/{id}/cap":      `{"cap_cores": 2}`,
	"POST /applications/{id}/step":     `{"low": 0.5, "high": 1, "each_s": 20}`,
	"PUT /supervisor":                  `{"strategy": "edf-pure"}`,
	"PUT /policy":                      `{"rule": "flexible"}`,
	"POST /session":                    `{"code": "x"}`,
	"PUT /profiles/{name}":             profileBody(""),
}

// profileBody is a profile as a file has it, with a text of that form in the place of its name.
func profileBody(name string) string {
	p := api.Profile{Schema: api.ProfileSchema, Name: "etl", Runs: 1, Cores: 2, Duration: 12, Head: 1, Stages: []api.ProfileStage{{Name: "read" + name,
		Signature: "s", Parents: []int{}, Tasks: 20, Duration: 4, Records: 1000, CoreSeconds: 6, NominalRate: 1000.0 / 6}}}
	body, err := p.Encode()
	if err != nil {
		panic(err)
	}
	return string(body)
}

// pathOf is the path of a request to a route.
func pathOf(pattern string) (method, path string) {
	method, path, _ = strings.Cut(pattern, " ")
	return method, "/api/v1" + strings.NewReplacer("{id}", "app-1", "{name}", "a%2Fb", "{node}", "a", "{executor}", "text").Replace(path)
}

// sent asks without a network.
func (w *world) sent(method, path, token, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	a := httptest.NewRecorder()
	w.ServeHTTP(a, r)
	return a
}

// refused fails unless an answer is that problem, explained at its address.
func (w *world) refused(what string, a *httptest.ResponseRecorder, status int, problem string) {
	w.Helper()
	var said map[string]any
	err := json.Unmarshal(a.Body.Bytes(), &said)
	if err != nil || a.Code != status || said["type"] != "/api/v1/problems/"+problem || a.Header().Get("Content-Type") != "application/problem+json" {
		w.Errorf("%s: %d %s, want %d %s", what, a.Code, a.Body, status, problem)
		return
	}
	if told := w.sent("GET", said["type"].(string), "", ""); told.Code != http.StatusOK || told.Body.Len() < 40 {
		w.Errorf("%s is explained by %d %q", problem, told.Code, told.Body)
	}
}

// Every route takes what is right, and refuses another method, another parameter, another body, one that is too large,
// whoever does not say who asks and whoever may not do that. What is refused is not asked of the planner.
func TestEveryRouteRefusesWhatIsWrong(t *testing.T) {
	w := newWorld(t)
	all := full()
	all.Executors = []api.AppExecutor{{ID: "text", Node: "a"}}
	w.planner.reply = api.ControlReply{App: &all, Profiles: []api.Profile{{}}, Policy: &api.QueueDetail{}, Log: &api.LogReply{EOF: true}}
	operator, viewer := w.tokenOf(ops), w.tokenOf(viv)
	for _, route := range web.Routes() {
		method, path := pathOf(route.Pattern)
		if path == "/api/v1/watch" || route.Pattern == "DELETE /session" {
			continue // One does not end, after the other its token is none.
		}
		body := bodies[route.Pattern]
		if a := w.sent(method, path, operator, body); a.Code != http.StatusOK && !route.Open && route.Verb != api.VerbLogs {
			t.Errorf("%s: %d %s", route.Pattern, a.Code, a.Body)
		}
		asked := len(w.planner.verbs)
		refused := func(what string, a *httptest.ResponseRecorder, status int, problem string) {
			t.Helper()
			if w.refused(route.Pattern+": "+what, a, status, problem); len(w.planner.verbs) != asked {
				t.Errorf("%s: %s: the planner is asked", route.Pattern, what)
			}
		}
		other := w.sent("PATCH", path, operator, body)
		if refused("another method", other, 405, "method"); !slices.Contains(strings.Split(other.Header().Get("Allow"), ", "), method) {
			t.Errorf("%s: Allow: %s", route.Pattern, other.Header().Get("Allow"))
		}
		refused("another parameter", w.sent(method, path+"?frob=1", operator, body), 400, "invalid")
		refused("a body that is too large", w.sent(method, path, operator, strings.Repeat(" ", route.Most+1)), 413, "too-large")
		if body != "" {
			for _, wrong := range []string{"{", "[]", "{}", "null", `{"frob": 1}`, body + "x", strings.Replace(body, ":", ": null, \"frob\":", 1)} {
				refused("the body "+wrong, w.sent(method, path, operator, wrong), 400, "invalid")
			}
		}
		if route.Open {
			continue
		}
		refused("nobody", w.sent(method, path, "", body), 401, "anonymous")
		if access.Verb(viv, route.Verb) != nil && route.Verb != "" {
			w.refused(route.Pattern+": a viewer", w.sent(method, path, viewer, body), 403, "denied")
		}
	}
	w.refused("no route", w.sent("GET", "/api/v1/frob", operator, ""), 404, "not-found")
	w.refused("no problem", w.sent("GET", "/api/v1/problems/frob", "", ""), 404, "not-found")
	w.refused("another version", w.sent("GET", "/api/v2/nodes", operator, ""), 400, "version")
}

// apart are the verbs that have no route, with the reason for each.
func apart() map[api.Verb]string {
	const credentials = "a token ends within hours, and gives nobody what lasts longer"
	const submits = "pacer submit asks it, which starts the driver"
	return map[api.Verb]string{
		api.VerbIssue: credentials, api.VerbPrincipals: credentials, api.VerbRevoke: credentials, api.VerbToken: credentials,
		api.VerbTicket: credentials, api.VerbWeb: credentials, api.VerbProve: "daemons ask it of each other",
		api.VerbBackup: "a backup has what all users have, and the planner's keys",
		api.VerbExit:   submits, api.VerbUpload: submits, api.VerbSubmit: submits,
	}
}

// What the command line asks is asked by HTTP too, or there is a reason.
func TestEveryVerbHasARouteOrAReason(t *testing.T) {
	has := map[api.Verb]bool{}
	for _, route := range web.Routes() {
		has[route.Verb] = true
	}
	for _, verb := range api.Verbs() {
		if reason := apart()[verb]; has[verb] == (reason != "") {
			t.Errorf("%s: has a route: %v, the reason for none: %q", verb, has[verb], reason)
		}
	}
}

// parameter is one of a query in openapi.yaml.
type parameter struct {
	Ref      string `yaml:"$ref"`
	Name, In string
	Schema   struct {
		Type string
		Enum []string
	}
}

// queries are the parameters of each route in openapi.yaml, and which routes take a body.
func queries(t *testing.T) (of map[string][]parameter, takes map[string]bool) {
	var doc struct {
		Paths      map[string]map[string]yaml.Node
		Components struct{ Parameters map[string]parameter }
	}
	if err := yaml.Unmarshal(web.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	of, takes = map[string][]parameter{}, map[string]bool{}
	for path, item := range doc.Paths {
		var common []parameter
		if node, ok := item["parameters"]; ok {
			if err := node.Decode(&common); err != nil {
				t.Fatal(err)
			}
		}
		for method, node := range item {
			if method == "parameters" {
				continue
			}
			var operation struct {
				Parameters  []parameter
				RequestBody any `yaml:"requestBody"`
			}
			if err := node.Decode(&operation); err != nil {
				t.Fatal(err)
			}
			pattern := strings.ToUpper(method) + " " + path
			takes[pattern] = operation.RequestBody != nil
			for _, p := range append(slices.Clone(common), operation.Parameters...) {
				if p.Ref != "" {
					p = doc.Components.Parameters[p.Ref[strings.LastIndex(p.Ref, "/")+1:]]
				}
				if p.In == "query" {
					of[pattern] = append(of[pattern], p)
				}
			}
		}
	}
	return of, takes
}

// openapi.yaml has each parameter of a route, and whether it takes a body; a value that it does not allow is refused.
func TestParametersAreDescribed(t *testing.T) {
	w := newWorld(t)
	all := full()
	all.Executors = []api.AppExecutor{{ID: "text", Node: "a"}}
	w.planner.reply = api.ControlReply{App: &all, Profiles: []api.Profile{{}}, Policy: &api.QueueDetail{}, Log: &api.LogReply{EOF: true}}
	described, takes := queries(t)
	for _, route := range web.Routes() {
		var names []string
		method, path := pathOf(route.Pattern)
		for _, p := range described[route.Pattern] {
			names = append(names, p.Name)
			for kind, wrong := range map[string]string{"integer": "x", "boolean": "perhaps", "string": "frob"} {
				if p.Schema.Type != kind || kind == "string" && p.Schema.Enum == nil {
					continue
				}
				asked := len(w.planner.verbs)
				if w.refused(route.Pattern+" with another "+p.Name, w.sent(method, path+"?"+p.Name+"="+wrong, w.tokenOf(ops), bodies[route.Pattern]), 400, "invalid"); len(w.planner.verbs) != asked {
					t.Errorf("%s with another %s is asked of the planner", route.Pattern, p.Name)
				}
			}
		}
		known := strings.Fields(route.Query)
		slices.Sort(names)
		slices.Sort(known)
		if !slices.Equal(names, known) {
			t.Errorf("%s knows %v, openapi.yaml says %v", route.Pattern, known, names)
		}
		if takes[route.Pattern] != (bodies[route.Pattern] != "") {
			t.Errorf("%s takes a body: openapi.yaml says %v", route.Pattern, takes[route.Pattern])
		}
	}
}

// What a request says comes to the planner as the command line says it.
func TestRequestsSayWhatTheCommandLineSays(t *testing.T) {
	w := newWorld(t)
	w.planner.reply.Profiles = []api.Profile{{}}
	zero := api.ControlRequest{V: api.Version}
	of := func(change func(*api.ControlRequest)) api.ControlRequest {
		q := zero
		change(&q)
		return q
	}
	for _, c := range []struct {
		request, body string
		verb          api.Verb
		want          api.ControlRequest
	}{
		{"POST applications/app-7/cap", `{"cap_cores": 0}`, api.VerbCap, of(func(q *api.ControlRequest) { q.App = "app-7" })},
		{"POST applications/app-7/cap", `{"cap_cores": 1.5}`, api.VerbCap, of(func(q *api.ControlRequest) { q.App, q.Cap = "app-7", 1.5 })},
		{"POST applications/app-7/step", `{"low": 0.5, "high": 1, "each_s": 9}`, api.VerbStep, of(func(q *api.ControlRequest) {
			q.App, q.Step = "app-7", &api.Step{Stage: -1, Low: 0.5, High: 1, Each: 9}
		})},
		{"POST nodes/worker-3/drain", "", api.VerbDrain, of(func(q *api.ControlRequest) { q.Node = "worker-3" })},
		{"POST nodes/worker-3/undrain", "", api.VerbUndrain, of(func(q *api.ControlRequest) { q.Node = "worker-3" })},
		{"GET nodes/consolidate", "", api.VerbSpare, zero}, {"POST nodes/consolidate", "", api.VerbEmpty, zero},
		{"PUT supervisor?node=a", `{"strategy": "eq21", "gamma": 0.5}`, api.VerbDivide, of(func(q *api.ControlRequest) {
			q.Node, q.Division = "a", &api.Division{Strategy: "eq21", Gamma: 0.5}
		})},
		{"DELETE supervisor", "", api.VerbDivide, zero},
		{"PUT policy", `{"late": "refuse"}`, api.VerbPolicySet, of(func(q *api.ControlRequest) { q.Policy = &api.QueuePolicy{Late: "refuse"} })},
		{"DELETE policy", "", api.VerbPolicySet, zero},
		{"GET profiles/etl?version=3", "", api.VerbProfile, of(func(q *api.ControlRequest) { q.Profile, q.Query = "etl", &api.Query{To: 3} })},
		{"DELETE profiles/a%2Fb?owner=bob", "", api.VerbProfileRm, of(func(q *api.ControlRequest) { q.Profile, q.Owner = "a/b", "bob" })},
		{"GET profiles/etl/diff?from=2", "", api.VerbVersions, of(func(q *api.ControlRequest) { q.Profile, q.Query = "etl", &api.Query{From: 2} })},
		{"GET profiles/etl/versions?shared=true", "", api.VerbVersions, of(func(q *api.ControlRequest) { q.Profile, q.Shared = "etl", true })},
		{"PUT profiles/etl/pin?version=2", "", api.VerbPin, of(func(q *api.ControlRequest) { q.Profile, q.Query = "etl", &api.Query{To: 2} })},
		{"DELETE profiles/etl/pin", "", api.VerbUnpin, of(func(q *api.ControlRequest) { q.Profile = "etl" })},
		{"GET nodes?limit=7", "", api.VerbNodes, of(func(q *api.ControlRequest) { q.Page = &api.Page{Most: 7} })},
		{"GET report?by=user&since=2d", "", api.VerbReport, of(func(q *api.ControlRequest) { q.Query = &api.Query{By: api.ByUser, Since: 2 * 86400} })},
	} {
		method, path, _ := strings.Cut(c.request, " ")
		a := w.sent(method, "/api/v1/"+path, w.tokenOf(ops), c.body)
		n := len(w.planner.asked) - 1
		if a.Code != http.StatusOK || n < 0 || w.planner.verbs[n] != c.verb || !sameJSON(w.planner.asked[n], c.want) {
			got, _ := json.Marshal(w.planner.asked)
			t.Errorf("%s: %d %s, asked: %s", c.request, a.Code, a.Body, got)
		}
		w.planner.asked, w.planner.verbs = nil, nil
	}
}

// A profile is put as the command line puts its file, of this product or of the source's launcher, under the name of the
// path; what is none is refused by the line and the field.
func TestAProfileIsPut(t *testing.T) {
	w := newWorld(t)
	put := func(query, body string) *httptest.ResponseRecorder {
		w.planner.asked = nil
		return w.sent("PUT", "/api/v1/profiles/nightly"+query, w.tokenOf(ops), body)
	}
	authors := `{"0": {"name": "count", "genstage": false, "duration": 4000, "numtask": 4, "parentsIds": [], "skipped": false, "recordsread": 1000}, "totalduration": 9000}`
	for query, shared := range map[string]bool{"": false, "?shared=true": true, "?shared=true&taught=true": true} {
		if a := put(query, profileBody("")); a.Code != 200 || len(w.planner.asked) != 1 || w.planner.asked[0].Profile != "nightly" || w.planner.asked[0].Shared != shared ||
			w.planner.asked[0].Body.Stages[0].Name != "read" || w.planner.asked[0].Body.Taught != strings.Contains(query, "taught") {
			t.Errorf("%s: %d %s %+v", query, a.Code, a.Body, w.planner.asked)
		}
	}
	if a := put("", authors); a.Code != 200 || w.planner.asked[0].Body.Name != "nightly" {
		t.Errorf("a profile of the source's launcher: %d %s", a.Code, a.Body)
	}
	for body, says := range map[string]string{`{"schema": 1, "name": "x", "stages": [{"id": "y"}]}`: "stages[0].id is of type string",
		"{\"schema\": 1,\n \"name\": ,}": "line 2", "[" + strings.Repeat("[],", 200_000) + "[]]": "elements in lists",
		`{"schema": 1, ` + strings.Repeat(`"a": 0, `, 300_000) + `"b": 0}`: "members of objects"} {
		if a := put("", body); a.Code != 400 || !strings.Contains(a.Body.String(), says) || len(w.planner.asked) > 0 {
			t.Errorf("%.40s: %d %.200s, want %q", body, a.Code, a.Body, says)
		}
	}
	if a := put("?taught=true", profileBody("")); a.Code != 400 || len(w.planner.asked) > 0 {
		t.Errorf("taught by all and not shared: %d %s", a.Code, a.Body)
	}
}

// slow is a body that comes when it is told to.
type slow struct {
	io.Reader
	begun, goOn chan struct{}
}

func (s slow) Read(p []byte) (int, error) {
	s.begun <- struct{}{}
	<-s.goOn
	return 0, io.ErrUnexpectedEOF
}

// A user brings one profile at a time, and all together few, however slowly they come.
func TestAttackManySlowProfiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		begun, goOn, codes := make(chan struct{}, 9), make(chan struct{}), make(chan int, 9)
		put := func(user string) {
			by := api.Principal{Kind: api.PrincipalUser, Name: user, Role: api.RoleSubmit}
			w.known[by.Login()] = by
			r := httptest.NewRequest("PUT", "http://localhost/api/v1/profiles/p", slow{nil, begun, goOn})
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+w.tokenOf(by))
			a := httptest.NewRecorder()
			w.ServeHTTP(a, r)
			codes <- a.Code
		}
		for i := range 4 {
			go put(fmt.Sprint("user", i))
			synctest.Wait()
		}
		if put("user0"); <-codes != 503 {
			t.Error("a second profile of a user is read")
		}
		if put("user9"); <-codes != 503 {
			t.Error("a fifth profile is read")
		}
		close(goOn)
		for range 4 {
			if code := <-codes; code != 400 {
				t.Errorf("a body that breaks off: %d", code)
			}
		}
		if put("user9"); <-codes != 400 {
			t.Error("a place stays taken")
		}
	})
}

// A list comes in parts, of which each says where the next one begins, whatever bytes a key has.
func TestAListComesInParts(t *testing.T) {
	w := newWorld(t)
	for path, reply := range map[string]api.ControlReply{"nodes": {Nodes: []api.NodeSummary{{Node: "a", State: "ready"}}}, "profiles": {Listed: []api.ProfileSummary{{Name: "etl"}}}} {
		w.planner.reply, w.planner.asked = reply, nil
		w.planner.reply.More = "etl\x00bob"
		_, first := w.do("GET", "/api/v1/"+path+"?limit=1", w.mine(), "")
		w.planner.reply.More = ""
		_, last := w.do("GET", "/api/v1/"+path+"?limit=1&after="+first["next"].(string), w.mine(), "")
		if _, more := last["next"]; more || len(first[path].([]any)) != 1 {
			t.Errorf("%s: %v, then %v", path, first, last)
		}
		if got := w.planner.asked; got[0].Page.After != "" || got[1].Page.After != "etl\x00bob" || got[1].Page.Most != 1 {
			t.Errorf("%s: asked for %+v, then %+v", path, got[0].Page, got[1].Page)
		}
		if a := w.sent("GET", "/api/v1/"+path+"?after=%25", w.mine(), ""); a.Code != 400 {
			t.Errorf("%s after what is no place: %d", path, a.Code)
		}
	}
}

// scroll is a planner with an executor's log that grows.
type scroll struct {
	*fake
	log    func(offset int64) api.ControlReply
	pieces int
}

func (s *scroll) Control(by api.Principal, verb api.Verb, r api.ControlRequest, reply func(api.ControlReply)) {
	if verb != api.VerbLogs {
		s.fake.Control(by, verb, r, reply)
		return
	}
	s.pieces++
	reply(s.log(r.Log.Offset))
}

// A log is sent piece by piece and followed until it may not be read any more; where it breaks off it does not look
// whole. A token for scrapes reads none.
func TestLogsAreStreamed(t *testing.T) {
	const text = "one\ntwo\nthree\n"
	piece := func(from int64, size int) api.ControlReply {
		to := min(from+int64(size), int64(len(text)))
		return api.ControlReply{Log: &api.LogReply{Data: []byte(text[from:to]), Next: to, EOF: to == int64(len(text))}}
	}
	begin := func(t *testing.T, log func(int64) api.ControlReply) (*world, *scroll) {
		w := newWorld(t)
		all := full()
		all.Executors = []api.AppExecutor{{ID: "3", Node: "a"}}
		w.planner.reply = api.ControlReply{App: &all}
		s := &scroll{fake: w.planner, log: log}
		w.serving = s
		return w, s
	}
	read := func(w *world, query string) (int, string, error) {
		r, _ := http.NewRequestWithContext(w.Context(), http.MethodGet, "http://planner-1/api/v1/applications/app-1/logs/"+query, nil)
		r.Header.Set("Authorization", "Bearer "+w.mine())
		a, err := w.client.Do(r)
		if err != nil {
			return 0, "", err
		}
		defer a.Body.Close()
		said, err := io.ReadAll(a.Body)
		return a.StatusCode, string(said), err
	}
	synctest.Test(t, func(t *testing.T) {
		w, s := begin(t, func(from int64) api.ControlReply { return piece(from, 5) })
		if status, said, err := read(w, "3"); status != 200 || said != text || err != nil || s.pieces != 3 {
			t.Errorf("%d %q %v in %d pieces", status, said, err, s.pieces)
		}
		if _, said, _ := read(w, "3?offset=8&stream=stdout"); said != text[8:] {
			t.Errorf("from byte 8: %q", said)
		}
		if status, said, _ := read(w, "4"); status != 404 || !strings.Contains(said, "has no executor 4") {
			t.Errorf("another executor: %d %s", status, said)
		}
		scrape, _ := w.Sessions.Token(ann, api.TokenRequest{Scrape: true})
		w.refused("a token for scrapes", w.sent("GET", "/api/v1/applications/app-1/logs/3", scrape, ""), 403, "denied")
	})
	synctest.Test(t, func(t *testing.T) { // Five seconds of a log, until its reader may not look any more.
		began := time.Now()
		w, s := begin(t, func(from int64) api.ControlReply { return piece(from, 99) })
		time.AfterFunc(5*time.Second+1, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			delete(w.known, ann.Login())
		})
		if _, said, err := read(w, "3?follow=true"); said != text || err == nil || s.pieces != 11 || time.Since(began) > 6*time.Second {
			t.Errorf("%q %v after %v, %d pieces", said, err, time.Since(began), s.pieces)
		}
	})
	synctest.Test(t, func(t *testing.T) { // Its node is lost meanwhile.
		w, _ := begin(t, func(from int64) api.ControlReply {
			if from > 0 {
				return api.ControlReply{Error: api.Errorf(api.KindTransient, "node a does not answer")}
			}
			return piece(from, 5)
		})
		if _, said, err := read(w, "3"); said != text[:5] || err == nil {
			t.Errorf("a log that breaks off looks whole: %q %v", said, err)
		}
	})
	synctest.Test(t, func(t *testing.T) { // No more than eight of one user.
		w, _ := begin(t, func(from int64) api.ControlReply { return piece(from, 99) })
		for range 8 {
			go read(w, "3?follow=true") //nolint:errcheck // They end with the test.
		}
		synctest.Wait()
		if status, said, _ := read(w, "3"); status != 503 || !strings.Contains(said, "close one of them") {
			t.Errorf("a ninth log: %d %s", status, said)
		}
		w.Server.Close()
		time.Sleep(time.Second)
	})
}

// Every kind of error has a problem of its own, and each is in openapi.yaml.
func TestEveryProblemIsExplained(t *testing.T) {
	w := newWorld(t)
	var doc struct {
		Components struct {
			Schemas struct {
				Problem struct {
					Properties struct{ Type struct{ Enum []string } }
				} `yaml:"Problem"`
			}
		}
	}
	if err := yaml.Unmarshal(web.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	described := doc.Components.Schemas.Problem.Properties.Type.Enum
	known := slices.Sorted(maps.Keys(web.Problems()))
	for i, name := range known {
		known[i] = "/api/v1/problems/" + name
	}
	slices.Sort(described)
	if !slices.Equal(known, described) {
		t.Errorf("problems: %v, openapi.yaml: %v", known, described)
	}
	for kind := api.KindInternal; !strings.HasPrefix(kind.String(), "kind "); kind++ {
		name := strings.ReplaceAll(kind.String(), " ", "-")
		w.planner.reply = api.ControlReply{Error: api.Errorf(kind, "it is so")}
		w.refused(kind.String(), w.sent("GET", "/api/v1/nodes", w.mine(), ""), web.Problems()[name], name)
	}
}
