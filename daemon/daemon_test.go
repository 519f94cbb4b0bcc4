package daemon_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/units"
)

// world is a machine with fake cgroups and a fake runtime.
type world struct {
	tree    *cgrouptest.Tree
	started chan executor.Handle
	runtime *executor.Fake
}

func newWorld(t *testing.T) *world {
	return &world{tree: cgrouptest.New(t, cgrouptest.V1Separate), started: make(chan executor.Handle, 8)}
}

// node is a node's configuration on the world, on free ports.
func (w *world) node(t *testing.T) daemon.NodeConfig {
	c := nodeConfig()
	c.Name, c.State, c.HTTP, c.CgroupRoot = "n1", t.TempDir(), "127.0.0.1:0", w.tree.Root
	c.TotalCores, c.Reserve, c.Memory = 2, 0.2, 4*units.GiB
	c.Deps = &daemon.Deps{
		Runtime: func(l executor.Layout, g *cgroup.Hierarchy) (executor.Runtime, error) {
			w.runtime = executor.NewFake(l, g)
			w.runtime.OnStart = func(_ executor.Spec, h executor.Handle) { w.started <- h }
			return w.runtime, nil
		},
		Command: func(node.Key, api.Launch, executor.Paths) (executor.CommandLine, error) {
			return executor.CommandLine{Args: []string{executor.FakeRuns}}, nil
		},
	}
	return c
}

// owners are who runs the daemons of a test, by the name of tester.
func owners(t *testing.T) []daemon.Owner {
	t.Helper()
	return []daemon.Owner{{Name: "tester", UID: os.Geteuid(), GID: os.Getegid(), Dir: t.TempDir()}}
}

// own is the credential that a planner at address has given its owner.
func own(t *testing.T, c daemon.PlannerConfig, address string) bus.Credential {
	t.Helper()
	found, err := bus.LoadCredential(bus.CredentialPath(c.Owners[0].Dir, address), api.PrincipalUser)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func plannerConfig(t *testing.T) daemon.PlannerConfig {
	c := daemon.DefaultPlannerConfig()
	c.Listen, c.HTTP, c.State = "127.0.0.1:0", "127.0.0.1:0", t.TempDir()
	c.Owners = owners(t)
	return c
}

// logs collects what daemons log.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logs) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// launch runs a daemon until the test ends and returns its ready line and a
// function that stops it and returns what it ended with.
func launch(t *testing.T, run func(ctx context.Context, ready func(string)) error) (string, func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- run(ctx, func(line string) { ready <- line }) }()
	var once sync.Once
	var result error
	stop := func() error {
		once.Do(func() {
			cancel()
			result = <-ended
		})
		return result
	}
	t.Cleanup(func() { _ = stop() })
	select {
	case line := <-ready:
		return line, stop
	case err := <-ended:
		ended <- err
		t.Fatalf("it ended before it was ready: %v", err)
	case <-time.After(time.Minute):
		t.Fatal("it is not ready")
	}
	return "", nil
}

func TestUpServesAnApplicationAndCleansUp(t *testing.T) {
	w, text := newWorld(t), &logs{}
	cfg := daemon.UpConfig{Planner: plannerConfig(t), Node: w.node(t)}
	cfg.Planner.Logger, cfg.Node.Logger = text.logger(), text.logger()
	line, stop := launch(t, func(ctx context.Context, ready func(string)) error {
		cfg.Ready = ready
		return daemon.Up(ctx, cfg)
	})
	m := regexp.MustCompile(`^pacer is ready: planner on (127\.0\.0\.1:\d+), node n1 offers 1\.80 of 2\.00 cores and 4g$`).FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("ready line %q", line)
	}
	mine := own(t, cfg.Planner, m[1])
	conn, err := bus.Dial(bus.Options{Address: m[1], Credential: mine})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	reply, err := conn.Register(ctx, api.RegisterRequest{V: api.Version, Submission: "u1", Name: "wc", Launch: api.Launch{DriverURL: "spark://x", Heap: units.GiB, SparkVersion: "4.2.0"}})
	if err != nil {
		t.Fatal(err)
	}
	h := <-w.started
	if h.App != reply.AppID || h.ID != "1" {
		t.Errorf("executor %+v was started for %s", h, reply.AppID)
	}
	group := filepath.Join(w.tree.Root, "cpu", "pacer", "node-n1", cgroup.GroupName(h.App, h.ID))
	if _, err := os.Stat(group); err != nil {
		t.Errorf("the executor has no group: %v", err)
	}
	piece, err := conn.Control(ctx, api.VerbLogs, api.ControlRequest{App: h.App, Node: "n1",
		Log: &api.LogRequest{V: api.Version, App: h.App, Executor: h.ID, Stream: "stderr"}})
	if err != nil || piece.Log == nil || !strings.Contains(string(piece.Log.Data), executor.FakeRuns) {
		t.Errorf("log %+v, %v", piece.Log, err)
	}
	site, mineToo := httpOf(text.String(), "planner"), tokenOf(t, conn, api.TokenRequest{})
	if code, body := get(t, site+"/api/v1/applications/"+string(h.App)+"/logs/"+string(h.ID), mineToo); code != 200 || body != string(piece.Log.Data) {
		t.Errorf("by HTTP the log is %d %q, want %q", code, body, piece.Log.Data)
	}
	for component, wants := range map[string][]string{
		"planner": {"pacer_build_info{", `pacer_apps{state="running"} 1`, "pacer_store_write_duration_seconds_count", `pacer_node_offered_cores{node="n1"} 1.8`},
		"node":    {"pacer_build_info{", "pacer_node_cpu_offered_cores 1.8", "pacer_control_loop_missed_ticks_total", "process_resident_memory_bytes"},
	} {
		url := httpOf(text.String(), component)
		if code, body := get(t, url+"/healthz", ""); code != 200 || body != "ok\n" {
			t.Errorf("%s: health %d %q", component, code, body)
		}
		if code, _ := get(t, url+"/metrics", ""); code != 401 {
			t.Errorf("%s: metrics without a token: %d", component, code)
		}
		token := tokenOf(t, conn, api.TokenRequest{Scrape: true}) // One for all daemons.
		if code, _ := get(t, url+"/metrics", token+"x"); code != 401 {
			t.Errorf("%s: metrics by a token that was made up: %d", component, code)
		}
		_, body := get(t, url+"/metrics", token)
		if code, own := get(t, url+"/metrics", nodeToken(t, cfg.Node)); component == "node" && (code != 200 || own == "") {
			t.Errorf("the node's own token: %d", code)
		}
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s: %s is not among the metrics", component, want)
			}
		}
	}
	if err := stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if s, err := w.runtime.Inspect(h); err != nil || s.State != api.ExecutorExited {
		t.Errorf("the executor is %v, %v", s, err)
	}
	if _, err := os.Stat(filepath.Join(w.tree.Root, "cpu", "pacer")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the group is left: %v", err)
	}
	if strings.Contains(text.String(), "action failed") {
		t.Errorf("trouble in the log:\n%s", text)
	}
}

// httpOf finds a daemon's HTTP address in its log.
func httpOf(text, component string) string {
	m := regexp.MustCompile(`component=` + component + ` .*http=(http://[0-9.:]+)`).FindStringSubmatch(text)
	if m == nil {
		return "http://not-logged.invalid"
	}
	return m[1]
}

// tokenOf is a token of whom c is.
func tokenOf(t *testing.T, c *bus.Conn, r api.TokenRequest) string {
	t.Helper()
	reply, err := c.Control(t.Context(), api.VerbToken, api.ControlRequest{Query: &api.Query{Token: r}})
	if err != nil {
		t.Fatal(err)
	}
	return reply.Token.Token
}

// nodeToken is the token of a node controller's own HTTP address.
func nodeToken(t *testing.T, cfg daemon.NodeConfig) string {
	t.Helper()
	path := daemon.NodeTokenPath(cfg.State)
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v", path, info, err)
	}
	return strings.TrimSpace(string(body))
}

func get(t *testing.T, url, token string) (int, string) {
	t.Helper()
	return getBy(t, http.DefaultClient, url, token)
}

// getBy is get by a client that trusts the server.
func getBy(t *testing.T, client *http.Client, url, token string) (int, string) {
	t.Helper()
	ask, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		ask.Header.Set("Authorization", "Bearer "+token)
	}
	r, err := client.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

func TestTwoDaemonsNeverShareAStateDirectory(t *testing.T) {
	cfg := plannerConfig(t)
	first, err := daemon.NewPlanner(cfg)
	if err != nil {
		t.Fatal(err)
	}
	_, err = daemon.NewPlanner(cfg)
	if api.KindOf(err) != api.KindConflict || err == nil || !strings.Contains(err.Error(), cfg.State) || !strings.Contains(err.Error(), "pid") {
		t.Errorf("a second planner: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := daemon.NewPlanner(cfg)
	if err != nil {
		t.Fatalf("after the first one closed: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// What fails half-way leaves nothing behind: the same can be started again.
func TestAFailedStartReleasesEverything(t *testing.T) {
	cfg := plannerConfig(t)
	other, err := bus.StartServer(bus.ServerConfig{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	taken := cfg
	taken.Listen = other.Address()
	if _, err := daemon.NewPlanner(taken); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("NATS address in use: %v", err)
	}
	taken = cfg
	taken.HTTP = other.Address()
	if _, err := daemon.NewPlanner(taken); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("HTTP address in use: %v", err)
	}
	p, err := daemon.NewPlanner(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestANodeWithoutCgroupsSaysWhatIsMissing(t *testing.T) {
	c := newWorld(t).node(t)
	c.CgroupRoot = t.TempDir()
	if _, err := daemon.NewNode(c); !errors.Is(err, cgroup.ErrUnavailable) || !strings.Contains(err.Error(), c.CgroupRoot) {
		t.Errorf("%v", err)
	}
}

func TestADamagedStoreIsRefusedWithItsName(t *testing.T) {
	cfg := plannerConfig(t)
	path := filepath.Join(cfg.State, "planner.db")
	if err := os.WriteFile(path, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := daemon.NewPlanner(cfg); err == nil || !strings.Contains(err.Error(), path) ||
		!strings.Contains(err.Error(), "without it: then executors run on") {
		t.Errorf("%v", err)
	}
}

// Metrics are for people with a credential, wherever they come from; health tells nothing and
// is open on loopback alone.
func TestHTTPAsksWhoItIs(t *testing.T) {
	cfg := plannerConfig(t)
	cfg.HTTP = "0.0.0.0:0"
	authority := bustest.NewAuthority(t)
	cfg.TLS = authority.Issue("server")
	text := &logs{}
	cfg.Logger = text.logger()
	line, stop := launch(t, func(ctx context.Context, ready func(string)) error {
		cfg.Ready = ready
		return daemon.Planner(ctx, cfg)
	})
	port := regexp.MustCompile(`http=https://\S+:(\d+)`).FindStringSubmatch(text.String())
	if port == nil {
		t.Fatalf("no address in the log: %s", text)
	}
	pem, err := os.ReadFile(authority.CA())
	if err != nil {
		t.Fatal(err)
	}
	trust := x509.NewCertPool()
	trust.AppendCertsFromPEM(pem)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust}, DisableKeepAlives: true}}
	address := strings.TrimPrefix(line, "planner ready on ")
	operator := own(t, cfg, address)
	conn, err := bus.Dial(bus.Options{Address: address, Credential: operator, TLS: bus.TLS{CA: authority.CA()}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	issue := func(p api.Principal) bus.Credential {
		c := bus.NewCredential(p.Login())
		if _, err := conn.Control(t.Context(), api.VerbIssue, api.ControlRequest{Issue: &api.Issue{Principal: p, Key: c.Key()}}); err != nil {
			t.Fatal(err)
		}
		return c
	}
	viewer := issue(api.Principal{Kind: api.PrincipalUser, Name: "viv", Role: api.RoleView})
	node := issue(api.Principal{Kind: api.PrincipalNode, Name: "n1"})
	viv, err := bus.Dial(bus.Options{Address: address, Credential: viewer, TLS: bus.TLS{CA: authority.CA()}})
	if err != nil {
		t.Fatal(err)
	}
	defer viv.Close()
	looks := tokenOf(t, viv, api.TokenRequest{})
	for name, c := range map[string]struct {
		by   string
		path string
		want int
	}{
		"nobody":                {"", "/metrics", 401},
		"nobody, about health":  {"", "/healthz", 200},
		"a made up token":       {"made-up", "/metrics", 401},
		"a node's secret":       {node.Login + ":" + node.Secret, "/metrics", 401},
		"a viewer's secret":     {viewer.Login + ":" + viewer.Secret, "/metrics", 401},
		"an operator's secret":  {operator.Login + ":" + operator.Secret, "/metrics", 401},
		"a secret of the page":  {operator.Login + ":" + operator.Secret, "/api/v1/nodes", 401},
		"a viewer":              {looks, "/metrics", 200},
		"a viewer about health": {looks, "/healthz", 200},
		"the operator":          {tokenOf(t, conn, api.TokenRequest{}), "/metrics", 200},
		"a scraper":             {tokenOf(t, conn, api.TokenRequest{Scrape: true}), "/metrics", 200},
		"nobody, readiness":     {"", "/readyz", 200},
		"nobody, the page":      {"", "/", 200},
		"nobody, of the page":   {"", "/api/v1/nodes", 401},
		"a viewer of the page":  {looks, "/api/v1/nodes", 200},
	} {
		if got, _ := getBy(t, client, "https://127.0.0.1:"+port[1]+c.path, c.by); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	quick := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust}, ForceAttemptHTTP2: true}}
	if a, err := quick.Get("https://127.0.0.1:" + port[1] + "/"); err != nil {
		t.Error(err)
	} else if _ = a.Body.Close(); a.ProtoMajor != 2 {
		t.Errorf("the page by HTTP/%d", a.ProtoMajor)
	}
	v := &visitor{T: t, client: quick, url: "https://127.0.0.1:" + port[1], token: looks}
	if v.watch()["at"] == nil {
		t.Error("no stream by HTTP/2")
	}
	quick.CloseIdleConnections()
	basic, err := http.NewRequest(http.MethodGet, "https://127.0.0.1:"+port[1]+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	basic.SetBasicAuth(viewer.Login, viewer.Secret)
	if r, err := client.Do(basic); err != nil || r.StatusCode != http.StatusUnauthorized {
		t.Errorf("a secret by basic authentication: %v", err)
	} else {
		_ = r.Body.Close()
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// A node whose name is taken ends with a line that says so.
func TestTwoNodesOfOneName(t *testing.T) {
	cfg := plannerConfig(t)
	line, stop := launch(t, func(ctx context.Context, ready func(string)) error {
		cfg.Ready = ready
		return daemon.Planner(ctx, cfg)
	})
	address := strings.TrimPrefix(line, "planner ready on ")
	first := newWorld(t).node(t)
	first.Planner, first.Owners = address, cfg.Owners
	_, stopFirst := launch(t, func(ctx context.Context, ready func(string)) error {
		first.Ready = ready
		return daemon.Node(ctx, first)
	})
	second := newWorld(t).node(t)
	second.Planner, second.Owners = address, cfg.Owners
	if err := daemon.Node(context.Background(), second); api.KindOf(err) != api.KindConflict || err == nil || !strings.Contains(err.Error(), "n1") {
		t.Errorf("the second one ended with %v", err)
	}
	if err := errors.Join(stopFirst(), stop()); err != nil {
		t.Error(err)
	}
}

// Two node controllers of a machine never share a cgroup parent, and the one that
// is refused takes nothing from the other.
func TestTwoNodesNeverShareAParent(t *testing.T) {
	cfg := plannerConfig(t)
	line, stop := launch(t, func(ctx context.Context, ready func(string)) error {
		cfg.Ready = ready
		return daemon.Planner(ctx, cfg)
	})
	w := newWorld(t)
	first := w.node(t)
	first.Planner = strings.TrimPrefix(line, "planner ready on ")
	second := w.node(t)
	first.Owners = cfg.Owners
	second.Planner, second.State = first.Planner, t.TempDir()
	_, stopFirst := launch(t, func(ctx context.Context, ready func(string)) error {
		first.Ready = ready
		return daemon.Node(ctx, first)
	})
	if err := daemon.Node(context.Background(), second); api.KindOf(err) != api.KindConflict || !strings.Contains(err.Error(), "cgroup pacer/node-n1 is in use") {
		t.Errorf("the second one ended with %v", err)
	}
	if _, err := os.Stat(w.tree.Path("pacer/node-n1", "")); err != nil {
		t.Errorf("the first one's parent: %v", err)
	}
	if err := errors.Join(stopFirst(), stop()); err != nil {
		t.Error(err)
	}
}
