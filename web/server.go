package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// Planner is what the API asks: one that serves. It replies once, from any goroutine.
type Planner interface {
	Control(by api.Principal, verb api.Verb, r api.ControlRequest, reply func(api.ControlReply))
	Plan(by api.Principal, r api.PlanRequest, reply func(api.PlanReply))
	Look(since uint64, reply func(api.Changes))
}

// Config says what a Server serves, and whom.
type Config struct {
	// Serves returns the planner, or why there is none for now.
	Serves func() (Planner, error)
	// Who is the principal of a login, Prove that of a login which has still to be proven.
	Who   func(login string) (api.Principal, error)
	Prove func(login, secret, from string) (api.Principal, error)
	// Hosts are the names under which the planner is reached, beside addresses and localhost.
	Hosts []string
	// Began hears of each session that begins, and of each code that is refused.
	Began func(login, from string, err error)
	// Release is the planner's version.
	Release string
	// Planner is where drivers, nodes and commands reach it, "" for nowhere.
	Planner func() string
}

// Server serves the API and the page. It is safe for concurrent use.
type Server struct {
	Sessions *Sessions

	cfg   Config
	mux   *http.ServeMux
	watch *watch
}

// apiPath is what the API is below.
const apiPath = "/api/v1"

// mostBody is how large a request may be, askFor how long an answer may take.
const (
	mostBody = 64 << 10
	askFor   = 15 * time.Second
)

// call is a request of somebody who may ask.
type call struct {
	*http.Request
	server  *Server
	by      api.Principal
	planner Planner
	token   string // Of the session, "" without one.
	until   time.Time
}

// route is what the API answers to.
type route struct {
	pattern string
	// answer makes the body of the answer; one that returns streamed has answered itself.
	answer func(http.ResponseWriter, *call) (any, error)
}

// streamed is the answer of who has written it already.
var streamed = new(struct{})

// routes are all of them but the one that begins a session.
var routes = []route{
	{"GET /applications", listApplications},
	{"GET /applications/{id}", showApplication},
	{"GET /applications/{id}/why", showWhy},
	{"GET /applications/{id}/samples", showSamples},
	{"POST /applications/{id}/kill", order(api.VerbKill)},
	{"POST /applications/{id}/release", order(api.VerbRelease)},
	{"POST /applications/{id}/deadline", changeDeadline},
	{"GET /nodes", listNodes},
	{"GET /profiles", listProfiles},
	{"GET /profiles/{name}", showProfile},
	{"POST /plan", planDeadlines},
	{"GET /cores", showCores},
	{"GET /report", showReport},
	{"GET /watch", stream},
	{"GET /session", showSession},
	{"DELETE /session", endSession},
}

// New returns a server.
func New(cfg Config) *Server {
	s := &Server{Sessions: &Sessions{}, cfg: cfg, mux: http.NewServeMux(), watch: newWatch(cfg.Serves)}
	handle := func(pattern string, h http.HandlerFunc) {
		method, path, _ := strings.Cut(pattern, " ")
		s.mux.HandleFunc(method+" "+apiPath+path, h)
	}
	for _, route := range routes {
		handle(route.pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, route) })
	}
	handle("POST /session", s.beginSession)
	handle("GET /openapi.yaml", func(w http.ResponseWriter, r *http.Request) {
		send(w, r, http.StatusOK, "application/yaml", openAPI)
	})
	s.mux.HandleFunc(apiPath+"/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, r, api.Errorf(api.KindNotFound, "there is no %s %s: %s/openapi.yaml has what there is", r.Method, r.URL.Path,
			apiPath))
	})
	s.mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, r, api.Errorf(api.KindVersion, "this planner has %s and no other version of the API", apiPath))
	})
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, r, api.Errorf(api.KindNotFound, "there is no %s", api.Clip(r.URL.Path, api.MostToken)))
	})
	servePage(s.mux)
	return s
}

// Close ends all streams.
func (s *Server) Close() { s.watch.close() }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	if !s.named(r.Host) {
		fail(w, r, api.Errorf(api.KindDenied, "this planner is not called %q: ask it by its address or its machine's name",
			api.Clip(r.Host, api.MostToken)))
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, mostBody)
	s.mux.ServeHTTP(w, r)
}

// named reports whether a request is for this planner: a page of another site, which had its own name point here, may
// not ask in the name of who looks at it. An address cannot be had to point elsewhere.
func (s *Server) named(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = hostPort
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	return host == "localhost" || net.ParseIP(host) != nil || slices.Contains(s.cfg.Hosts, host)
}

// serve answers a request of somebody who says who it is.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, route route) {
	c, err := s.call(r)
	var body any
	if err == nil {
		body, err = route.answer(w, c)
	}
	switch {
	case err != nil:
		fail(w, r, err)
	case body != streamed:
		sendJSON(w, r, body)
	}
}

func sendJSON(w http.ResponseWriter, r *http.Request, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		fail(w, r, fmt.Errorf("encode the answer: %w", err))
		return
	}
	send(w, r, http.StatusOK, "application/json", body)
}

// call finds out who asks.
func (s *Server) call(r *http.Request) (*call, error) {
	planner, err := s.cfg.Serves()
	if err != nil {
		return nil, err
	}
	c := &call{Request: r, server: s, planner: planner}
	token, bears := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	token = strings.TrimSpace(token)
	if !bears {
		return nil, anonymousError{"say who asks: `pacer web` begins a session"}
	}
	if login, secret, ok := strings.Cut(token, ":"); ok {
		c.by, err = s.cfg.Prove(login, secret, r.RemoteAddr)
	} else {
		c.token = token
		err = c.stillThere()
	}
	if err != nil {
		return nil, anonymousError{err.Error()}
	}
	return c, nil
}

// stillThere returns an error when the session of a call has ended.
func (c *call) stillThere() error {
	if c.token == "" {
		return nil
	}
	g, err := c.server.Sessions.of(c.token)
	if err == nil {
		c.until = g.Until
		c.by, err = c.server.cfg.Who(g.Login)
	}
	return err
}

// control asks the planner.
func (c *call) control(verb api.Verb, r api.ControlRequest) (api.ControlReply, error) {
	r.V = api.Version
	a, err := answered(c.Context(), func(reply func(api.ControlReply)) { c.planner.Control(c.by, verb, r, reply) })
	if err == nil && a.Error != nil {
		err = a.Error
	}
	return a, err
}

// answered is the answer to what ask asks.
func answered[T any](ctx context.Context, ask func(reply func(T))) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	answer := make(chan T, 1)
	ask(func(a T) { answer <- a })
	select {
	case a := <-answer:
		return a, nil
	case <-ctx.Done():
		var none T
		return none, api.Errorf(api.KindTransient, "the planner has not answered in time: try again in a moment")
	}
}

// read reads the body of a request.
func (c *call) read(v any) error { return read(c.Request, v) }

func read(r *http.Request, v any) error {
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != "application/json" {
		return api.Errorf(api.KindInvalid, "Content-Type is %q, want application/json", api.Clip(kind, api.MostToken))
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, end := d.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("there is more after the end of the value")
		}
	}
	if err != nil {
		return api.Errorf(api.KindInvalid, "the body cannot be read: %v", err)
	}
	return nil
}
