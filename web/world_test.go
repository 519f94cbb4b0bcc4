package web_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner/access"
	"github.com/sparkpacer/pacer/web"
	"github.com/sparkpacer/pacer/web/webtest"
)

var (
	ann = api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: api.RoleSubmit}
	ops = api.Principal{Kind: api.PrincipalUser, Name: "ops", Role: api.RoleOperate}
	viv = api.Principal{Kind: api.PrincipalUser, Name: "viv", Role: api.RoleView}
)

// world is a server before a planner that a test makes up, and clients in memory, in virtual time inside a bubble.
type world struct {
	*testing.T
	*web.Server
	planner *fake
	serving web.Planner // In the place of planner, if it is not nil.
	client  *http.Client
	desc    *webtest.Description

	mu    sync.Mutex
	known map[string]api.Principal
	away  error
	began []string
	// undescribed is how many answers were other than openapi.yaml says.
	undescribed int
}

func newWorld(t *testing.T) *world {
	desc, err := webtest.Load()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, planner: &fake{}, desc: desc,
		known: map[string]api.Principal{ann.Login(): ann, ops.Login(): ops, viv.Login(): viv}}
	w.Server = web.New(web.Config{Serves: w.serves, Who: w.who, Hosts: []string{"planner-1"}, Release: "1.2.3",
		Planner: func() string { return "planner-1:4222" },
		Began: func(login, from string, err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.began = append(w.began, login+": "+reason(err))
		}})
	server := &http.Server{Handler: w.Server, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second}
	network := webtest.NewNetwork()
	transport := &http.Transport{DialContext: network.Dial, DisableKeepAlives: true}
	w.client = &http.Client{Transport: transport}
	served := make(chan struct{})
	go func() {
		_ = server.Serve(network)
		close(served)
	}()
	t.Cleanup(func() {
		w.Server.Close()
		_ = server.Close()
		<-served
		transport.CloseIdleConnections()
	})
	return w
}

func reason(err error) string {
	if err == nil {
		return "ok"
	}
	return err.Error()
}

func (w *world) serves() (web.Planner, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away != nil {
		return nil, w.away
	}
	if w.serving != nil {
		return w.serving, nil
	}
	return w.planner, nil
}

func (w *world) who(login string) (api.Principal, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p, ok := w.known[login]; ok {
		return p, nil
	}
	return api.Principal{}, api.Errorf(api.KindDenied, "%q has no credentials here", login)
}

// mine is a token of ann's.
func (w *world) mine() string { return w.tokenOf(ann) }

// tokenOf is one of somebody.
func (w *world) tokenOf(by api.Principal) string {
	token, _ := w.Sessions.Token(by, api.TokenRequest{For: api.MostTokenFor})
	return token
}

// do asks, and fails unless the answer is as the description says.
func (w *world) do(method, path, token, body string) (int, map[string]any) {
	w.Helper()
	r, err := http.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	a, err := w.client.Do(r) //nolint:bodyclose // By who reads it.
	if err != nil {
		w.Fatal(err)
	}
	defer a.Body.Close()
	said, err := io.ReadAll(a.Body)
	if err != nil {
		w.Fatal(err)
	}
	if err := w.desc.Check(method, r.URL.EscapedPath(), a.StatusCode, a.Header.Get("Content-Type"), said); err != nil {
		w.undescribed++
		w.Errorf("%v\n%s", err, said)
	}
	var v map[string]any
	if strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") {
		return a.StatusCode, v
	}
	if err := json.Unmarshal(said, &v); err != nil {
		w.Errorf("%s %s: %v: %s", method, path, err, said)
	}
	return a.StatusCode, v
}

// begin is the token of a session of ann.
func (w *world) begin() string {
	w.Helper()
	status, s := w.do("POST", "/api/v1/session", "", `{"code": "`+w.Sessions.Code(ann)+`"}`)
	if status != http.StatusOK {
		w.Fatalf("no session begins: %v", s)
	}
	return s["token"].(string)
}

// subscriber reads a stream and keeps the state that it tells.
type subscriber struct {
	*world
	body   io.ReadCloser
	lines  *bufio.Scanner
	bytes  *counter
	state  map[string]any
	names  []string
	ids    []string
	ended  map[string]any
	cancel context.CancelFunc
}

type counter struct {
	inner io.Reader
	n     int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.inner.Read(p)
	c.n += n
	return n, err
}

func (w *world) subscribe(token string) (*subscriber, int) {
	w.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://planner-1/api/v1/watch", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	a, err := w.client.Do(r) //nolint:bodyclose // By who reads it.
	if err != nil {
		w.Fatal(err)
	}
	s := &subscriber{world: w, body: a.Body, bytes: &counter{inner: a.Body}, cancel: cancel}
	w.Cleanup(s.leave)
	if a.StatusCode != http.StatusOK {
		_ = json.NewDecoder(a.Body).Decode(&s.ended)
	}
	s.lines = bufio.NewScanner(s.bytes)
	s.lines.Buffer(nil, 16<<20)
	return s, a.StatusCode
}

func (s *subscriber) leave() {
	s.cancel()
	_ = s.body.Close()
}

// next reads an event, or a comment, and reports whether there was one.
func (s *subscriber) next() bool {
	s.Helper()
	var name string
	for s.lines.Scan() {
		key, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch key {
		case "":
			if s.names = append(s.names, "comment"); value == "here" {
				s.lines.Scan()
				return true
			}
		case "event":
			name = value
		case "id":
			s.ids = append(s.ids, value)
		case "data":
			s.take(name, value)
			s.lines.Scan() // The empty line.
			return true
		}
	}
	return false
}

func (s *subscriber) take(name, data string) {
	s.Helper()
	s.names = append(s.names, name)
	var v map[string]any
	if err := json.Unmarshal([]byte(data), &v); err != nil {
		s.Fatal(err)
	}
	switch name {
	case "snapshot":
		s.state = v
	case "change":
		s.state = merge(s.state, v).(map[string]any)
	case "end":
		s.ended = v
		return
	}
	whole, _ := json.Marshal(s.state)
	if err := s.desc.Is("State", whole); err != nil {
		s.Errorf("after %s: %v\n%s", name, err, whole)
	}
}

// merge is RFC 7396's MergePatch, as it stands there.
func merge(target, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	t, ok := target.(map[string]any)
	if !ok {
		t = map[string]any{}
	}
	for name, value := range p {
		if value == nil {
			delete(t, name)
		} else {
			t[name] = merge(t[name], value)
		}
	}
	return t
}

// fake is a planner that says what it is told to, and counts who looks.
type fake struct {
	mu    sync.Mutex
	reply api.ControlReply
	plan  api.PlanReply
	looks []time.Time
	since []uint64
	look  func(n int) (api.Changes, bool)
	asked []api.ControlRequest
	verbs []api.Verb
	by    []api.Principal
}

func (f *fake) Control(by api.Principal, verb api.Verb, r api.ControlRequest, reply func(api.ControlReply)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked, f.verbs, f.by = append(f.asked, r), append(f.verbs, verb), append(f.by, by)
	a := f.reply
	if err := access.Verb(by, verb); err != nil {
		a = api.ControlReply{Error: api.ToWire(err)}
	}
	for of, forget := range map[api.Verb]func(){api.VerbWhy: func() { a.Why = nil }, api.VerbReport: func() { a.Report = nil }, api.VerbCores: func() { a.Cores = nil },
		api.VerbVersions: func() { a.History = nil }, api.VerbKnee: func() { a.Knee = nil }} {
		if of != verb {
			forget()
		}
	}
	reply(a)
}

func (f *fake) Plan(_ api.Principal, _ api.PlanRequest, reply func(api.PlanReply)) { reply(f.plan) }

func (f *fake) Look(since uint64, reply func(api.Changes)) {
	f.mu.Lock()
	f.looks, f.since = append(f.looks, time.Now()), append(f.since, since)
	n := len(f.looks)
	f.mu.Unlock()
	c, answers := api.Changes{At: time.Now(), Version: uint64(n), Release: "1.2.3"}, true
	if f.look != nil {
		c, answers = f.look(n)
		c.At, c.Version = time.Now(), uint64(n)
	}
	if answers {
		reply(c)
	}
}

func (f *fake) asks() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.looks)
}

// fill gives each field of v a value that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 11, 28, 6, 0, 0, 0, time.UTC)))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type().Elem() != v.Type() && v.Type().String() != "[]api.Profile" {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0))
		}
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint64:
		v.SetUint(4)
	case reflect.Float64, reflect.Float32:
		v.SetFloat(1.5)
	}
}

func filled[T any]() (v T) {
	fill(reflect.ValueOf(&v).Elem())
	return v
}

// full is an application of which all is known.
func full() api.AppDetail {
	d := filled[api.AppDetail]()
	d.State, d.Pacing, d.Verdict, d.Risk, d.EndedBy = api.AppRunning, "paced", api.VerdictTight, api.RiskTight, api.EndedByExit
	d.Name = `<img src=x onerror="alert(1)">`
	d.Stages[0].State = "running"
	return d
}

func sameJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}
