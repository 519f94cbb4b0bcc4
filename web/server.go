package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/async"
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
	// The principal of a login.
	Who func(login string) (api.Principal, error)
	// Hosts are the names under which the planner is reached, beside addresses and localhost.
	Hosts []string
	// Admit counts a request of by's of size bytes, or refuses it; nil admits all.
	Admit func(r *http.Request, by api.Principal, size int) error
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
	// uploads and logs bound how many large bodies are read, and how many logs are sent, at a time.
	uploads, logs async.Lane[string]
}

// apiPath is what the API is below.
const apiPath = "/api/v1"

// mostBody is how large a request may be that brings no profile, askFor how long an answer may take.
const (
	mostBody = 64 << 10
	askFor   = 15 * time.Second
)

// call is a request, of somebody who may ask where the route is not open.
type call struct {
	*http.Request
	w       http.ResponseWriter
	server  *Server
	route   *Route
	query   url.Values
	fault   error // The fault of the query.
	planner Planner
	by      api.Principal
	token   string
	until   time.Time
}

// New returns a server.
func New(cfg Config) *Server {
	s := &Server{Sessions: &Sessions{}, cfg: cfg, mux: http.NewServeMux(), watch: newWatch(cfg.Serves),
		uploads: async.Lane[string]{Each: 1, All: mostUploads}, logs: async.Lane[string]{Each: mostOwn, All: mostClients}}
	methods := map[string][]string{}
	for _, route := range Routes() {
		method, path, _ := strings.Cut(route.Pattern, " ")
		methods[path] = append(methods[path], method)
		s.mux.HandleFunc(method+" "+apiPath+path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, &route) })
	}
	for path, taken := range methods {
		s.mux.HandleFunc(apiPath+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", strings.Join(taken, ", "))
			fail(w, r, refusal{"method", api.Errorf(api.KindInvalid, "the method is %s, want one of %v",
				api.Clip(r.Method, api.MostToken), taken)})
		})
	}
	s.mux.HandleFunc("GET "+problemPath+"{name}", explain)
	s.mux.HandleFunc("GET "+apiPath+"/openapi.yaml", func(w http.ResponseWriter, r *http.Request) {
		send(w, r, http.StatusOK, "application/yaml", openAPI)
	})
	for path, err := range map[string]error{
		apiPath + "/": api.Errorf(api.KindNotFound, "there is no such thing: %s/openapi.yaml has what there is", apiPath),
		"/api/":       api.Errorf(api.KindVersion, "this planner has %s and no other version of the API", apiPath),
	} {
		s.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { fail(w, r, err) })
	}
	s.mux.HandleFunc("/", servePage)
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

// serve answers a request: what a route answers is encoded here, but nil where it has answered itself.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, route *Route) {
	if r.ContentLength > int64(route.Most) {
		fail(w, r, tooLarge(route.Most)) // It counts for no login: its header is a claim.
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, int64(route.Most))
	c := &call{Request: r, w: w, server: s, route: route, query: r.URL.Query()}
	var err error
	if c.planner, err = s.cfg.Serves(); err == nil && !route.Open {
		err = c.identify()
		if err == nil {
			err = c.admitted(c.size())
		}
	}
	if err == nil {
		err = c.checkQuery()
	}
	how := route.answer
	if how == nil {
		how = asked
	}
	var answer any
	if err == nil {
		answer, err = how(c)
	}
	var body []byte
	if err == nil && answer != nil {
		body, err = json.Marshal(answer)
	}
	switch {
	case err != nil:
		fail(w, r, err)
	case answer != nil:
		send(w, r, http.StatusOK, "application/json", body)
	}
}

// size is what a request counts as: one that does not say its size may be as large as any of its route.
func (c *call) size() int {
	if c.ContentLength < 0 {
		return c.route.Most
	}
	return int(c.ContentLength)
}

// admitted counts a request of size bytes, or refuses it.
func (c *call) admitted(size int) error {
	if c.server.cfg.Admit == nil {
		return nil
	}
	return c.server.cfg.Admit(c.Request, c.by, size)
}

// identify finds out who asks.
func (c *call) identify() error {
	token, bears := strings.CutPrefix(c.Header.Get("Authorization"), "Bearer ")
	if c.token = strings.TrimSpace(token); !bears || c.token == "" {
		return anonymous(errors.New("say who asks: `pacer web` begins a session, `pacer auth token` prints a token"))
	}
	return c.stillThere()
}

// stillThere returns an error when the token of a call has ended, or whoever asks may not look any more: their
// credentials may have been revoked, or issued anew for less.
func (c *call) stillThere() (err error) {
	c.by, c.until, err = c.server.Holder(c.token)
	if err == nil && !c.by.Operates() && !slices.Contains(api.Roles(), c.by.Role) {
		err = api.Errorf(api.KindDenied, "%s may not look at this planner any more", c.by)
	}
	return anonymous(err)
}

// Holder is who asks by a token, and until when that is good.
func (s *Server) Holder(token string) (by api.Principal, until time.Time, err error) {
	return s.HolderOf(Hash(token))
}

// HolderOf is Holder for a token's Hash.
func (s *Server) HolderOf(hash string) (by api.Principal, until time.Time, err error) {
	g, err := s.Sessions.of(hash)
	if err == nil {
		by, err = s.cfg.Who(g.login)
	}
	if g.use == toScrape { // Whatever else who has that login may.
		by = api.Principal{Kind: api.PrincipalUser, Name: by.Name, Role: api.RoleView, Until: by.Until,
			Scrapes: true}
	}
	return by, g.until, err
}

// control asks the planner about what path and query name, unless a parameter is wrong.
func (c *call) control(verb api.Verb, r api.ControlRequest) (api.ControlReply, error) {
	r.V, r.App, r.Profile = api.Version, api.AppID(c.PathValue("id")), c.PathValue("name")
	r.Node = cmp.Or(r.Node, c.PathValue("node"), c.query.Get("node"))
	r.Owner, r.Shared = c.query.Get("owner"), c.flag("shared")
	if c.fault != nil {
		return api.ControlReply{}, c.fault
	}
	a, err := answered(c.Context(), func(reply func(api.ControlReply)) { c.planner.Control(c.by, verb, r, reply) })
	if err == nil && a.Error != nil {
		err = a.Error
	}
	return a, err
}

// answered is the answer to what ask asks.
func answered[T any](ctx context.Context, ask func(reply func(T))) (a T, err error) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	answer := make(chan T, 1)
	ask(func(a T) { answer <- a })
	select {
	case a = <-answer:
		return a, nil
	case <-ctx.Done():
		return a, api.Errorf(api.KindTransient, "the planner has not answered in time: try again in a moment")
	}
}
