package daemon_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
)

// visitor is a page of somebody.
type visitor struct {
	*testing.T
	client     *http.Client
	url, token string
}

// visit begins a session by a code of whom c is.
func (d *desk) visit(c *bus.Conn, client *http.Client) *visitor {
	d.Helper()
	reply, err := c.Control(d.Context(), api.VerbWeb, api.ControlRequest{})
	if err != nil {
		d.Fatal(err)
	}
	v := &visitor{T: d.T, client: client, url: reply.Web.URL}
	status, s := v.ask("POST", "session", `{"code": "`+reply.Web.Code+`"}`)
	if status != http.StatusOK {
		d.Fatalf("no session begins: %v", s)
	}
	v.token = s["token"].(string)
	return v
}

func (v *visitor) ask(method, path, body string) (int, map[string]any) {
	v.Helper()
	r, err := http.NewRequest(method, v.url+"/api/v1/"+path, strings.NewReader(body))
	if err != nil {
		v.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+v.token)
	r.Header.Set("Content-Type", "application/json")
	a, err := v.client.Do(r)
	if err != nil {
		v.Fatal(err)
	}
	defer a.Body.Close()
	var said map[string]any
	if err := json.NewDecoder(a.Body).Decode(&said); err != nil {
		v.Fatalf("%s %s: %d %v", method, path, a.StatusCode, err)
	}
	return a.StatusCode, said
}

// watch reads the snapshot of a stream.
func (v *visitor) watch() map[string]any {
	v.Helper()
	r, _ := http.NewRequestWithContext(v.Context(), http.MethodGet, v.url+"/api/v1/watch", nil)
	r.Header.Set("Authorization", "Bearer "+v.token)
	a, err := v.client.Do(r)
	if err != nil {
		v.Fatal(err)
	}
	defer a.Body.Close()
	lines := bufio.NewScanner(a.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var state map[string]any
			if err := json.Unmarshal([]byte(data), &state); err != nil {
				v.Fatal(err)
			}
			return state
		}
	}
	v.Fatalf("the stream ends: %d %v", a.StatusCode, lines.Err())
	return nil
}

// Somebody does on the page what they may do at the terminal, and it is noted as that. A session ends with the planner,
// and with its user's credentials.
func TestThePageIsForWhoMayAsk(t *testing.T) {
	cfg := plannerConfig(t)
	text := &logs{}
	cfg.Logger = text.logger()
	d := &desk{T: t, cfg: cfg}
	stop := d.start()
	d.cfg.HTTP = strings.TrimPrefix(httpOf(text.String(), "planner"), "http://")
	hers := d.issue(api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: api.RoleSubmit})
	ann := d.dial(hers)
	viv := d.dial(d.issue(api.Principal{Kind: api.PrincipalUser, Name: "viv", Role: api.RoleView}))
	of := map[string]*visitor{"ann": d.visit(ann, http.DefaultClient), "viv": d.visit(viv, http.DefaultClient), "owner": d.visit(d.owner, http.DefaultClient)}
	scrape := tokenOf(t, d.owner, api.TokenRequest{Scrape: true})
	of["a scraper"] = &visitor{T: t, client: http.DefaultClient, url: of["ann"].url, token: scrape}
	p := chain(3)
	file, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	nightly := string(file)
	if _, err := ann.Control(t.Context(), api.VerbProfilePut, api.ControlRequest{Profile: p.Name, Body: p}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		who, method, path, body string
		want                    int
	}{
		{"viv", "GET", "applications", "", 200}, {"viv", "GET", "nodes", "", 200}, {"a scraper", "GET", "nodes", "", 200}, {"a scraper", "POST", "applications/app-1/kill", "", 403},
		{"viv", "POST", "applications/app-1/kill", "", 403}, {"ann", "POST", "applications/app-1/kill", "", 404}, {"owner", "POST", "applications/app-1/kill", "", 404},
		{"ann", "GET", "profiles/" + p.Name, "", 200}, {"viv", "GET", "profiles/" + p.Name, "", 404}, {"owner", "GET", "profiles/" + p.Name + "?owner=ann", "", 200},
		{"viv", "PUT", "profiles/nightly", nightly, 403}, {"ann", "PUT", "profiles/nightly?shared=true", nightly, 403}, {"ann", "PUT", "profiles/nightly", nightly, 200},
		{"ann", "GET", "profiles/nightly/versions", "", 200}, {"ann", "PUT", "profiles/nightly/pin?version=1", "", 200}, {"ann", "GET", "profiles?limit=1", "", 200},
		{"ann", "DELETE", "profiles/nightly?owner=owner", "", 403}, {"ann", "DELETE", "profiles/nightly", "", 200}, {"ann", "DELETE", "profiles/nightly", "", 404},
		{"ann", "POST", "nodes/n1/drain", "", 403}, {"owner", "POST", "nodes/n1/drain", "", 404}, {"viv", "GET", "nodes/consolidate", "", 200}, {"viv", "POST", "nodes/consolidate", "", 403},
		{"ann", "PUT", "policy", `{"rule": "flexible"}`, 403}, {"owner", "PUT", "policy", `{"rule": "flexible"}`, 200}, {"owner", "PUT", "policy", `{"rule": "frob"}`, 400},
		{"viv", "GET", "policy", "", 200}, {"owner", "DELETE", "policy", "", 200}, {"ann", "PUT", "supervisor", `{"strategy": "edf-pure"}`, 403},
		{"owner", "PUT", "supervisor", `{"strategy": "edf-pure"}`, 200}, {"owner", "PUT", "supervisor", `{"strategy": "frob"}`, 400}, {"owner", "DELETE", "supervisor?node=n1", "", 404},
		{"ann", "POST", "applications/app-1/cap", `{"cap_cores": 1}`, 403}, {"owner", "POST", "applications/app-1/cap", `{"cap_cores": 1}`, 404}, {"viv", "GET", "applications/app-1/logs/1", "", 404},
		{"ann", "POST", "plan", `{"profile": "` + p.Name + `", "deadlines_s": [60, 600], "cores": 4}`, 200}, {"viv", "POST", "plan", `{"profile": "` + p.Name + `", "deadlines_s": [60]}`, 404},
	} {
		if status, said := of[c.who].ask(c.method, c.path, c.body); status != c.want {
			t.Errorf("%s: %s %s: %d %v, want %d", c.who, c.method, c.path, status, said, c.want)
		}
	}
	if state := of["viv"].watch(); state["release"] == nil || state["applications"] == nil {
		t.Errorf("who looks sees %v", state)
	}
	if status, body := get(t, of["ann"].url+"/readyz", ""); status != 200 || body != "ok\n" {
		t.Errorf("ready: %d %s", status, body)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	stop = d.start()
	for who, v := range of {
		if status, said := v.ask("GET", "session", ""); status != 401 {
			t.Errorf("%s after a restart of the planner: %d %v", who, status, said)
		}
	}
	ann = d.dial(hers)
	of["ann"] = d.visit(ann, http.DefaultClient)
	if status, said := of["ann"].ask("GET", "session", ""); status != 200 || said["user"] != "ann" || said["planner"] != d.address {
		t.Errorf("on %s: %d %v", d.address, status, said)
	}
	if _, err := d.owner.Control(t.Context(), api.VerbRevoke, api.ControlRequest{Login: "user-ann"}); err != nil {
		t.Fatal(err)
	}
	d.issue(api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: api.RoleSubmit})
	if status, said := of["ann"].ask("GET", "session", ""); status != 401 {
		t.Errorf("after her credentials were revoked: %d %v", status, said)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	noted, err := os.ReadFile(filepath.Join(d.cfg.State, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"who":"user-ann","from":"127.0.0.1:`, `"verb":"session","result":"ok"`, `"who":"user-viv","verb":"kill","what":"app-1","result":"`,
		`"who":"user-ann","verb":"profile-put","what":"nightly","result":"ok"`, `"who":"user-ann","verb":"node-drain","what":"n1","result":"`, `"verb":"policy-set"`} {
		if !strings.Contains(string(noted), want) {
			t.Errorf("the audit log does not say %s:\n%s", want, noted)
		}
	}
}
