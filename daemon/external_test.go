package daemon_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

// outside is a nats-server with TLS and JetStream that does not run yet, and the file with its
// planner's credential.
func outside(t *testing.T) (server *bustest.Server, credentials string, trust bus.TLS) {
	t.Helper()
	planner := bus.NewCredential(api.Principal{Kind: api.PrincipalPlanner}.Login())
	credentials = filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(credentials, planner.Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	authority := bustest.NewAuthority(t)
	return bustest.New(t, bustest.Config{Planner: planner, TLS: authority.Issue("server"), Store: t.TempDir()}), credentials, bus.TLS{CA: authority.CA()}
}

// external is a planner and a node n1 on a nats-server of their own, which all run.
type external struct {
	t                     *testing.T
	server                *bustest.Server
	trust                 bus.TLS
	p                     daemon.PlannerConfig
	w                     *world
	text                  *logs // The node's.
	stopPlanner, stopNode func() error
}

func newExternal(t *testing.T) *external {
	t.Helper()
	server, credentials, trust := outside(t)
	server.Start()
	x := &external{t: t, server: server, trust: trust, p: plannerConfig(t), w: newWorld(t), text: &logs{}}
	x.p.NatsURL, x.p.Credentials, x.p.TLS = server.URL(), credentials, trust
	x.startPlanner()
	n := x.w.node(t)
	n.Planner, n.Owners, n.TLS, n.Logger = server.URL(), x.p.Owners, trust, x.text.logger()
	ready, stop := background(t, func(ctx context.Context, ready func(string)) error {
		n.Ready = ready
		return daemon.Node(ctx, n)
	})
	soon(t, "the node", ready)
	x.stopNode = stop
	return x
}

func (x *external) startPlanner() {
	x.t.Helper()
	ready, stop := background(x.t, func(ctx context.Context, ready func(string)) error {
		cfg := x.p
		cfg.Ready = ready
		return daemon.Planner(ctx, cfg)
	})
	soon(x.t, "the planner", ready)
	x.stopPlanner = stop
}

func (x *external) dial(c bus.Credential) *bus.Conn {
	x.t.Helper()
	conn, err := bus.Dial(bus.Options{Address: x.server.URL(), Credential: c, TLS: x.trust})
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(conn.Close)
	return conn
}

// background runs a daemon that may not become ready for now.
func background(t *testing.T, run func(ctx context.Context, ready func(string)) error) (ready <-chan string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	lines, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- run(ctx, func(line string) { lines <- line }) }()
	t.Cleanup(cancel)
	return lines, func() error { cancel(); return <-ended }
}

func soon[T any](t *testing.T, what string, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(time.Minute):
		t.Fatalf("%s: not within a minute", what)
	}
	return v
}

func TestPlannerAndNodeBeforeTheirServerAndThroughItsRestart(t *testing.T) {
	server, credentials, trust := outside(t)
	w, text := newWorld(t), &logs{}
	p := plannerConfig(t)
	p.NatsURL, p.Credentials, p.TLS, p.Logger = server.URL(), credentials, trust, text.logger()
	n := w.node(t)
	n.Planner, n.Owners, n.TLS, n.Logger = server.URL(), p.Owners, trust, text.logger()
	plannerReady, stopPlanner := background(t, func(ctx context.Context, ready func(string)) error {
		p.Ready = ready
		return daemon.Planner(ctx, p)
	})
	nodeReady, stopNode := background(t, func(ctx context.Context, ready func(string)) error {
		n.Ready = ready
		return daemon.Node(ctx, n)
	})
	realenv.Await(t, "both wait", func() bool {
		return strings.Contains(text.String(), "waiting for a NATS server") && strings.Contains(text.String(), "waiting for a planner")
	})
	server.Start()
	if line := soon(t, "the planner", plannerReady); line != "planner ready on "+server.URL() {
		t.Errorf("ready line %q", line)
	}
	soon(t, "the node", nodeReady)

	cli, err := bus.Dial(bus.Options{Address: server.URL(), Credential: own(t, p, server.URL()), TLS: trust})
	if err != nil {
		t.Fatal(err)
	}
	defer cli.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	register := func(submission string) (api.RegisterReply, error) {
		return cli.Register(ctx, api.RegisterRequest{V: api.Version, Submission: submission, Name: "wc", Launch: api.Launch{DriverURL: "spark://x", Heap: units.GiB, SparkVersion: "4.2.0"}})
	}
	first, err := register("u1")
	if err != nil {
		t.Fatal(err)
	}
	if h := soon(t, "an executor", w.started); h.App != first.AppID {
		t.Errorf("executor %+v was started for %s", h, first.AppID)
	}

	server.Close()
	server.Start()
	// Nothing of the first application is lost, and Plans flow again.
	var second api.RegisterReply
	realenv.Await(t, "a registration after the restart", func() bool {
		second, err = register("u2")
		return err == nil
	})
	if h := soon(t, "another executor", w.started); h.App != second.AppID {
		t.Errorf("executor %+v was started for %s", h, second.AppID)
	}
	realenv.Await(t, "the node's statuses", func() bool {
		r, err := cli.Control(ctx, api.VerbNodes, api.ControlRequest{})
		return err == nil && len(r.Nodes) == 1 && r.Nodes[0].Executors == 2
	})
	if err := errors.Join(stopNode(), stopPlanner()); err != nil {
		t.Error(err)
	}
	for _, once := range []string{"waiting for a NATS server", "waiting for a planner"} {
		if n := strings.Count(text.String(), once); n != 1 {
			t.Errorf("%q is said %d times", once, n)
		}
	}
}

func TestUpOnAServerThatIsNotEmbedded(t *testing.T) {
	server, credentials, trust := outside(t)
	server.Start()
	cfg := daemon.UpConfig{Planner: plannerConfig(t), Node: newWorld(t).node(t)}
	cfg.Planner.NatsURL, cfg.Planner.Credentials, cfg.Planner.TLS = server.URL(), credentials, trust
	line, stop := launch(t, func(ctx context.Context, ready func(string)) error {
		cfg.Ready = ready
		return daemon.Up(ctx, cfg)
	})
	if !strings.HasPrefix(line, "pacer is ready: planner on "+server.URL()+", node n1") {
		t.Errorf("ready line %q", line)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestConfigurationOfAnotherServerIsChecked(t *testing.T) {
	p := plannerConfig(t)
	p.NatsURL, p.TLS = "http://h:1", bus.TLS{Cert: "c"}
	if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "nats-url") || !strings.Contains(err.Error(), "tls-key") {
		t.Errorf("%v", err)
	}
	p.NatsURL, p.TLS = "tls://0.0.0.0:4222", bus.TLS{}
	if err := p.Validate(); err != nil {
		t.Errorf("an address that is not loopback's is its administrator's care: %v", err)
	}
}

// Of two planners on one server the second one stands by, says so once, and serves when the first has
// given the lease back.
func TestASecondPlannerOnTheBusStandsBy(t *testing.T) {
	server, credentials, trust := outside(t)
	server.Start()
	owners := owners(t)
	var cli *bus.Conn
	start := func(release string) (<-chan string, func() error, *logs) {
		cfg, text := plannerConfig(t), &logs{}
		cfg.NatsURL, cfg.Credentials, cfg.TLS, cfg.Logger, cfg.Engine.Release = server.URL(), credentials, trust, text.logger(), release
		cfg.Owners = owners
		ready, stop := background(t, func(ctx context.Context, ready func(string)) error {
			cfg.Ready = ready
			return daemon.Planner(ctx, cfg)
		})
		return ready, stop, text
	}
	serves := func() string {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		r, err := cli.Control(ctx, api.VerbPing, api.ControlRequest{})
		if err != nil {
			return err.Error()
		}
		return r.Release
	}
	ready, stopOne, one := start("one")
	soon(t, "the first planner", ready)
	found, err := bus.LoadCredential(bus.CredentialPath(owners[0].Dir, server.URL()), api.PrincipalUser)
	if err == nil {
		cli, err = bus.Dial(bus.Options{Address: server.URL(), Credential: found, TLS: trust})
	}
	if err != nil {
		t.Fatal(err)
	}
	defer cli.Close()
	ready, stopTwo, two := start("two")
	if line := soon(t, "the second planner", ready); !strings.Contains(line, "this one stands by") {
		t.Errorf("the second planner says %q", line)
	}
	for range 20 {
		if got := serves(); got != "one" {
			t.Fatalf("%q serves beside the first", got)
		}
	}
	if err := stopOne(); err != nil {
		t.Error(err)
	}
	if line := soon(t, "the second planner's service", ready); line != "planner ready on "+server.URL() {
		t.Errorf("it says %q", line)
	}
	if got := serves(); got != "two" {
		t.Errorf("%q serves", got)
	}
	if err := stopTwo(); err != nil {
		t.Error(err)
	}
	if n := strings.Count(two.String(), "another planner serves"); n != 1 || strings.Contains(one.String(), "another planner") {
		t.Errorf("said %d times:\n%s\n%s", n, two.String(), one.String())
	}
}
