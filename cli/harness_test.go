package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/test/realenv"
)

// fakePlanner answers control requests over a real bus from what a test put in.
type fakePlanner struct {
	address string
	// operator is the credential of who runs commands, keyring who else is known.
	operator bus.Credential
	keyring  *bus.Keyring

	mu       sync.Mutex
	apps     []api.AppDetail
	why      map[api.AppID]*api.Why
	profiles []api.Profile
	history  *api.ProfileHistory
	knee     *api.Knee
	nodes    []api.NodeSummary
	plan     api.PlanReply
	policy   *api.QueueDetail
	report   *api.Report
	web      api.WebCode
	// known are the profiles that plans may name, nil for all.
	known   []string
	step    *api.Step
	asked   []api.ControlRequest
	verbs   []api.Verb
	planned []api.PlanRequest
	// away is how many pings find no planner.
	away int
}

// startPlanner serves f on a free port until the test ends.
func startPlanner(t *testing.T, f *fakePlanner) *fakePlanner {
	t.Helper()
	keyring := bus.NewKeyring()
	server, err := bus.StartServer(bus.ServerConfig{Listen: "127.0.0.1:0", Keyring: keyring})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	conn, err := server.Connect(bus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	_, err = bus.ServePlanner(conn, keyring, bus.Handlers{
		Register: func(_ api.Principal, _ api.RegisterRequest, reply func(api.RegisterReply)) {
			reply(api.RegisterReply{})
		},
		Events: func(_ api.Events, reply func(api.EventsReply)) { reply(api.EventsReply{}) },
		Hello:  func(_ api.NodeStatus, reply func(api.HelloReply)) { reply(api.HelloReply{}) },
		Status: func(api.NodeStatus) {},
		Control: func(_ api.Principal, v api.Verb, r api.ControlRequest, reply func(api.ControlReply)) {
			reply(f.control(v, r))
		},
		PlanQuery: func(_ api.Principal, r api.PlanRequest, reply func(api.PlanReply)) { reply(f.planQuery(r)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(t.Context()); err != nil {
		t.Fatal(err) // Subscriptions count from when the server has them.
	}
	f.address = server.Address()
	f.operator = keyring.Lend(api.Principal{Kind: api.PrincipalUser, Name: "tester", Role: api.RoleOperate})
	f.keyring = keyring
	path := bus.CredentialPath(credentials, f.address)
	if err := os.WriteFile(path, f.operator.Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(path) })
	return f
}

func (f *fakePlanner) control(v api.Verb, r api.ControlRequest) api.ControlReply {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.verbs, f.asked = append(f.verbs, v), append(f.asked, r)
	reply := api.ControlReply{V: api.Version, Message: "done: " + string(v)}
	switch v {
	case api.VerbPing:
		if f.away > 0 {
			f.away--
			reply.Error = api.Errorf(api.KindTransient, "nobody serves")
		}
	case api.VerbApps:
		for _, a := range f.apps {
			reply.Apps = append(reply.Apps, a.AppSummary)
		}
	case api.VerbExit:
		for i := range f.apps {
			if a := &f.apps[i]; a.Submission == r.Submission {
				a.ExitCode = r.ExitCode
				reply.Apps, reply.Message = append(reply.Apps, a.AppSummary), a.Headline
			}
		}
		if len(reply.Apps) == 0 {
			reply.Error = api.Errorf(api.KindNotFound, "no application of submission %s is known", r.Submission)
		}
	case api.VerbApp:
		for _, a := range f.apps {
			if a.ID == r.App {
				reply.App = &a
			}
		}
		if reply.App == nil {
			reply.Error = api.Errorf(api.KindNotFound, "application %s is not known", r.App)
		}
	case api.VerbWhy:
		if reply.Why = f.why[r.App]; reply.Why == nil {
			reply.Error = api.Errorf(api.KindNotFound, "application %s is not known", r.App)
		}
	case api.VerbWeb:
		reply.Web = &f.web
	case api.VerbToken:
		reply.Token = &api.HTTPToken{Token: "TOKEN", Until: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC), URL: "http://127.0.0.1:4281"}
	case api.VerbKill:
		reply.Message, reply.Error = f.kill(r.App)
	case api.VerbProfiles:
		for i := range f.profiles {
			reply.Listed = append(reply.Listed, f.profiles[i].Summary())
		}
	case api.VerbKnee:
		reply.Knee = f.knee
	case api.VerbVersions:
		reply.History = f.history
	case api.VerbProfile:
		for _, p := range f.profiles {
			if p.Name == r.Profile {
				reply.Profiles = append(reply.Profiles, p)
			}
		}
		if len(reply.Profiles) == 0 {
			reply.Error = api.Errorf(api.KindNotFound, "profile %s is not known", r.Profile)
		}
	case api.VerbNodes:
		reply.Nodes = f.nodes
	case api.VerbPolicy:
		reply.Policy = f.policy
		for _, a := range f.apps {
			if a.Queue != nil {
				reply.Apps = append(reply.Apps, a.AppSummary)
			}
		}
	case api.VerbReport:
		reply.Report = f.report
	case api.VerbStep:
		reply.Step = f.step
	case api.VerbLogs:
		text := r.Log.Stream + " of " + string(r.Log.Executor) + "\n"
		reply.Log = &api.LogReply{V: api.Version, Data: []byte(text[r.Log.Offset:]), Next: int64(len(text)), EOF: true}
	}
	return reply
}

// kill ends an application as a planner does: what waits is out of the queue at once, what runs
// is told to end.
func (f *fakePlanner) kill(id api.AppID) (string, *api.Error) {
	at := slices.IndexFunc(f.apps, func(a api.AppDetail) bool { return a.ID == id })
	if at < 0 {
		return "", api.Errorf(api.KindNotFound, "application %s is not known", id)
	}
	a := &f.apps[at]
	switch {
	case a.State == api.AppFailed:
		return "", api.Errorf(api.KindConflict, "application %s has ended", id)
	case a.Queue == nil:
		return fmt.Sprintf("%s was told to end; its executors are stopped in 10s if it does not", id), nil
	}
	for i := range f.apps {
		if q := f.apps[i].Queue; q != nil {
			q.Of--
			if q.Place > a.Queue.Place {
				q.Place--
			}
		}
	}
	a.State, a.Queue, a.EndedBy = api.AppFailed, nil, api.EndedByKill
	return fmt.Sprintf("%s is out of the queue", id), nil
}

func (f *fakePlanner) planQuery(r api.PlanRequest) api.PlanReply {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.planned = append(f.planned, r)
	if f.known != nil && r.Body == nil && !slices.Contains(f.known, r.Profile) {
		return api.PlanReply{V: api.Version, Error: api.Errorf(api.KindNotFound, "profile %q is not known", r.Profile)}
	}
	return f.plan
}

// willPlan sets the next answers to plan queries, firstPlan is the first query.
func (f *fakePlanner) willPlan(r api.PlanReply) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plan = r
}

func (f *fakePlanner) firstPlan() api.PlanRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.planned[0]
}

func (f *fakePlanner) lastPlan() api.PlanRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.planned[len(f.planned)-1]
}

// last returns the newest request that is not a ping.
func (f *fakePlanner) last(t *testing.T, want api.Verb) api.ControlRequest {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.asked); n > 0 && f.verbs[n-1] == want {
		return f.asked[n-1]
	}
	t.Fatalf("the planner was asked %v, want %s last", f.verbs, want)
	return api.ControlRequest{}
}

// requested is the newest request of a verb.
func (f *fakePlanner) requested(t *testing.T, verb api.Verb) api.ControlRequest {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, v := range slices.Backward(f.verbs) {
		if v == verb {
			return f.asked[i]
		}
	}
	t.Fatalf("the planner was asked %v, want %s", f.verbs, verb)
	return api.ControlRequest{}
}

// await returns when the newest request is of that verb.
func (f *fakePlanner) await(t *testing.T, want api.Verb) {
	t.Helper()
	realenv.Await(t, "a request "+string(want), func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		n := len(f.verbs)
		return n > 0 && f.verbs[n-1] == want
	})
}

// outcome is what a command left.
type outcome struct {
	code     int
	out, err string
}

// world is the environment that a test's commands see.
type world struct {
	env map[string]string
	now time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home := t.TempDir()
	return &world{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), env: map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, "config"), "XDG_CACHE_HOME": filepath.Join(home, "cache"), "PATH": "/usr/bin:/bin",
		"PACER_CREDENTIALS_DIR": credentials,
	}}
}

// run runs pacer as a shell would.
func (w *world) run(t *testing.T, args ...string) outcome {
	t.Helper()
	return w.runWith(t, context.Background(), "", args...)
}

func (w *world) runWith(t *testing.T, ctx context.Context, stdin string, args ...string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	sh := &shell{Shell: &command.Shell{Name: "pacer", Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs}, clock: clock{now: w.now, began: sinceBoot(), started: time.Now()},
		getenv: func(k string) string { return w.env[k] }}
	for k, v := range w.env {
		sh.Environ = append(sh.Environ, k+"="+v)
	}
	code := sh.run(ctx, args)
	return outcome{code: code, out: out.String(), err: errs.String()}
}

// wantLine checks for an exit code and one line on standard error.
func (o outcome) wantLine(t *testing.T, code int, text string) {
	t.Helper()
	if o.code != code || !strings.Contains(o.err, text) || strings.Count(o.err, "\n") != 1 {
		t.Errorf("exit code %d, want %d; want one line with %q, got %q", o.code, code, text, o.err)
	}
}

// fakeSpark is a Spark distribution whose spark-submit prints its arguments, one
// a line, and then does what script says.
func (w *world) fakeSpark(t *testing.T, script string) string {
	t.Helper()
	home := t.TempDir()
	for _, dir := range []string{"bin", "jars", "conf"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	body := "#!/bin/sh\nfor a in \"$@\"; do echo \"arg $a\"; done\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(home, "bin", "spark-submit"), []byte(body), 0o755); err != nil {
		t.Fatal(err)
	}
	w.env["SPARK_HOME"] = home
	return home
}

// arguments are those that fakeSpark printed.
func (o outcome) arguments() []string {
	var args []string
	for _, line := range strings.Split(o.out, "\n") {
		if a, ok := strings.CutPrefix(line, "arg "); ok {
			args = append(args, a)
		}
	}
	return args
}
