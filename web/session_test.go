package web_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// A code is good once, for two minutes; a session for 12 hours, and no longer than its user's credentials.
func TestSessionsBeginByACodeAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		exchange := func(code string) int {
			status, _ := w.do("POST", "/api/v1/session", "", `{"code": "`+code+`"}`)
			return status
		}
		code, late := w.Sessions.Code(ann), w.Sessions.Code(ann)
		if exchange("wrong") != 401 || exchange("") != 401 || exchange(code) != 200 || exchange(code) != 401 {
			t.Error("a wrong code, none, a good one or a used one was not answered as such")
		}
		time.Sleep(2 * time.Minute)
		if exchange(late) != 401 {
			t.Error("a code of two minutes is taken")
		}
		token := w.begin()
		_, s := w.do("GET", "/api/v1/session", token, "")
		if s["user"] != "ann" || s["role"] != "submit" || s["release"] != "1.2.3" || s["planner"] != "planner-1:4222" || s["token"] != nil || s["expires_at"] == nil {
			t.Errorf("session: %v", s)
		}
		time.Sleep(12*time.Hour - time.Second)
		if status, _ := w.do("GET", "/api/v1/nodes", token, ""); status != 200 {
			t.Errorf("before 12 hours: %d", status)
		}
		time.Sleep(time.Second)
		if status, said := w.do("GET", "/api/v1/nodes", token, ""); status != 401 || !strings.Contains(said["detail"].(string), "`pacer web`") {
			t.Errorf("after 12 hours: %d %v", status, said)
		}
		token = w.begin()
		w.do("DELETE", "/api/v1/session", token, "")
		if status, _ := w.do("GET", "/api/v1/nodes", token, ""); status != 401 {
			t.Errorf("after its end: %d", status)
		}
		token = w.begin()
		w.Sessions.End(ann.Login()) // Her credentials are revoked, and she is issued others.
		if status, _ := w.do("GET", "/api/v1/nodes", token, ""); status != 401 {
			t.Errorf("revoked: %d", status)
		}
		if said := strings.Join(w.began, "\n"); strings.Count(said, "user-ann: ok") != 4 || strings.Count(said, "that code is not known") != 4 {
			t.Errorf("what is noted:\n%s", said)
		}
	})
}

// Whoever listens in the planner's place while that restarts hears tokens of a planner before: no other one takes them.
func TestAttackTokenOfAPlannerBefore(t *testing.T) {
	w, next := newWorld(t), newWorld(t)
	scrape, _ := w.Sessions.Token(ann, api.TokenRequest{Scrape: true})
	for kind, token := range map[string]string{"session": w.begin(), "token": w.mine(), "scrape": scrape} {
		if status, _ := w.do("GET", "/api/v1/nodes", token, ""); status != 200 {
			t.Errorf("%s of this planner: %d", kind, status)
		}
		if status, _ := next.do("GET", "/api/v1/nodes", token, ""); status != 401 {
			t.Errorf("%s of a planner before: %d", kind, status)
		}
	}
}

// A token ends with its time, with its user's credentials and with its user.
func TestAttackExpiredToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		nodes := func(token string) int {
			status, _ := w.do("GET", "/api/v1/nodes", token, "")
			return status
		}
		ends := map[time.Duration]string{}
		for _, c := range []struct {
			by   api.Principal
			r    api.TokenRequest
			lets time.Duration
		}{
			{ann, api.TokenRequest{}, time.Hour}, {ann, api.TokenRequest{For: 60}, time.Minute}, {ann, api.TokenRequest{Scrape: true}, 90 * 24 * time.Hour},
			{api.Principal{Kind: ann.Kind, Name: ann.Name, Role: ann.Role, Until: time.Now().Add(10 * time.Minute)}, api.TokenRequest{}, 10 * time.Minute},
		} {
			token, until := w.Sessions.Token(c.by, c.r)
			if left := time.Until(until); left != c.lets {
				t.Errorf("%+v is good for %v, want %v", c.r, left, c.lets)
			}
			ends[c.lets] = token
		}
		now := time.Duration(0)
		for _, at := range []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 90 * 24 * time.Hour} {
			time.Sleep(at - now - 1)
			if status := nodes(ends[at]); status != 200 {
				t.Errorf("just before %v: %d", at, status)
			}
			time.Sleep(1)
			if status := nodes(ends[at]); status != 401 {
				t.Errorf("after %v: %d", at, status)
			}
			now = at
		}
		scrape, _ := w.Sessions.Token(ann, api.TokenRequest{Scrape: true})
		gone := []string{w.mine(), scrape}
		w.Sessions.End(ann.Login()) // Revoked.
		for _, token := range gone {
			if status := nodes(token); status != 401 {
				t.Errorf("revoked: %d", status)
			}
		}
		token := w.mine()
		delete(w.known, ann.Login()) // Expired.
		if status := nodes(token); status != 401 {
			t.Errorf("of who has no credentials: %d", status)
		}
	})
}

// A token for scrapes looks and changes nothing, whoever has asked for it.
func TestAttackAScrapeTokenChangesSomething(t *testing.T) {
	w := newWorld(t)
	for _, by := range []api.Principal{{Kind: api.PrincipalUser, Name: "op", Role: api.RoleOperate}, ann, {}} {
		w.known[by.Login()] = by
		token, _ := w.Sessions.Token(by, api.TokenRequest{Scrape: true})
		who, _, err := w.Holder(token)
		if err != nil || who.Operates() || who.Role != api.RoleView || who.Kind != api.PrincipalUser {
			t.Errorf("%s: %+v, %v", by, who, err)
		}
		if _, s := w.do("GET", "/api/v1/session", token, ""); s["role"] != "view" {
			t.Errorf("%s: %v", by, s)
		}
		for _, operation := range w.desc.Operations() {
			method, path, _ := strings.Cut(operation, " ")
			if method == "GET" || path == "/session" || path == "/plan" {
				continue
			}
			path = strings.NewReplacer("{id}", "app-1", "{name}", "etl").Replace(path)
			w.do(method, "/api/v1"+path, token, `{"seconds": 1}`)
		}
	}
	for _, asked := range w.planner.by {
		if asked.Operates() || asked.Role != api.RoleView {
			t.Errorf("the planner is asked as %+v", asked)
		}
	}
}

// Somebody who begins sessions without end ends their own oldest ones, and nobody else's.
func TestSessionsOfOneUserAreBounded(t *testing.T) {
	w := newWorld(t)
	bob := api.Principal{Kind: api.PrincipalUser, Name: "bob", Role: api.RoleView}
	w.known[bob.Login()] = bob
	first := w.begin()
	for range 40 {
		_, s := w.do("POST", "/api/v1/session", "", `{"code": "`+w.Sessions.Code(bob)+`"}`)
		if s["token"] == nil {
			t.Fatal(s)
		}
	}
	for range 20 {
		w.Sessions.Code(bob)
	}
	for range 40 { // As by a timer that renews a scraper's.
		w.Sessions.Token(ann, api.TokenRequest{Scrape: true})
		w.mine()
	}
	if status, _ := w.do("GET", "/api/v1/nodes", first, ""); status != 200 {
		t.Errorf("her session beside others' and beside tokens: %d", status)
	}
}

func TestWhoDoesNotSayWhoItIsGetsNothing(t *testing.T) {
	w := newWorld(t)
	for _, token := range []string{"", "made-up", "user-ann:wrong", "user-bob:secret", ":"} {
		for _, operation := range w.desc.Operations() {
			method, path, _ := strings.Cut(operation, " ")
			if operation == "POST /session" {
				continue
			}
			path = strings.NewReplacer("{id}", "app-1", "{name}", "etl").Replace(path)
			if status, said := w.do(method, "/api/v1"+path, token, ""); status != 401 || said["kind"] != "denied" {
				t.Errorf("%s as %q: %d %v", operation, token, status, said)
			}
		}
	}
	if n := len(w.planner.asked) + w.planner.asks(); n > 0 {
		t.Errorf("the planner was asked %d times", n)
	}
}

// A credential's secret is no token, whoever sends it.
func TestAttackASecretByHTTP(t *testing.T) {
	w := newWorld(t)
	secret := strings.Repeat("0123456789abcdef", 4)
	for _, token := range []string{ann.Login() + ":" + secret, secret, ann.Login(), ann.Login() + ":"} {
		if status, said := w.do("GET", "/api/v1/nodes", token, ""); status != 401 || !strings.Contains(said["detail"].(string), "`pacer auth token`") {
			t.Errorf("%d %v", status, said)
		}
	}
}

// What is sent is read by nobody but the page: whatever it is called, from wherever it is asked.
func TestAnswersAreForThePageAlone(t *testing.T) {
	w := newWorld(t)
	get := func(host, path string, set ...string) *http.Response {
		r, _ := http.NewRequest(http.MethodGet, "http://"+host+path, nil)
		r.Header.Set("Origin", "http://evil.example")
		r.Header.Set("Authorization", "Bearer "+w.mine())
		if len(set) > 0 {
			r.Header.Set(set[0], set[1])
		}
		a, err := w.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = a.Body.Close() })
		return a
	}
	for host, want := range map[string]int{"127.0.0.1:4281": 200, "[::1]:4281": 200, "localhost": 200, "LOCALHOST.": 200, "planner-1:80": 200,
		"10.1.2.3": 200, "evil.example": 403, "planner-1.evil.example": 403, "localhost.evil.example": 403} {
		for _, path := range []string{"/", "/api/v1/nodes", "/api/v1/openapi.yaml"} {
			a := get(host, path) //nolint:bodyclose // By the test's end.
			if a.StatusCode != want {
				t.Errorf("%s%s: %d, want %d", host, path, a.StatusCode, want)
			}
			policy := a.Header.Get("Content-Security-Policy")
			for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'", "connect-src 'self'"} {
				if !strings.Contains(policy, part) {
					t.Errorf("%s%s: policy %q lacks %s", host, path, policy, part)
				}
			}
			if strings.Contains(policy, "unsafe") || a.Header.Get("Access-Control-Allow-Origin") != "" || a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s%s: %v", host, path, a.Header)
			}
		}
	}
	for path, want := range map[string]string{"/api/v2/nodes": "no other version", "/api/v1/else": "openapi.yaml", "/else": "there is no /else", "/../etc/passwd": "there is no"} {
		a := get("127.0.0.1", path) //nolint:bodyclose // By the test's end.
		if body, _ := io.ReadAll(a.Body); a.StatusCode < 400 || !strings.Contains(string(body), want) {
			t.Errorf("%s: %d %s", path, a.StatusCode, body)
		}
	}
	index := get("127.0.0.1", "/") //nolint:bodyclose // By the test's end.
	if kind := index.Header.Get("Content-Type"); kind != "text/html; charset=utf-8" || index.Header.Get("ETag") == "" {
		t.Errorf("the page: %v", index.Header)
	}
	again := get("127.0.0.1", "/", "If-None-Match", index.Header.Get("ETag")) //nolint:bodyclose // By the test's end.
	if again.StatusCode != http.StatusNotModified {
		t.Errorf("again: %d", again.StatusCode)
	}
}

// A standby says so, to whoever asks.
func TestAStandbySaysSo(t *testing.T) {
	w := newWorld(t)
	w.away = api.Errorf(api.KindTransient, "this planner stands by, another one serves")
	for _, path := range []string{"/api/v1/nodes", "/api/v1/watch", "/api/v1/session"} {
		if status, said := w.do("GET", path, w.mine(), ""); status != 503 || said["detail"] != w.away.Error() {
			t.Errorf("%s: %d %v", path, status, said)
		}
	}
	if status, _ := w.do("POST", "/api/v1/session", "", `{"code": "x"}`); status != 503 {
		t.Errorf("session: %d", status)
	}
}
