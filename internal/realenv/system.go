package realenv

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/bus/bustest"
	"github.com/sparkpacer/pacer/daemon"
)

// System is one Pacer on this machine.
type System struct {
	t testing.TB
	// Dir holds states and logs, Address is the planner's, or the NATS server's URL.
	Dir     string
	Address string
	// Up is `pacer up`, when the system was started by it.
	Up *Process
	// Behind is a command behind which daemons and submissions run, such as one that
	// puts them into a group; empty for none.
	Behind []string

	// name is the node's where there is one: two of a name would share their groups.
	name     string
	archives string
	// outside is the URL of a NATS server that is not the planner's own.
	outside string
	network *Network // nil for loopback.
	env     []string
}

// systems counts the systems of this process, which tells their nodes apart.
var systems atomic.Int64

// StartUp starts `pacer up` with a free port, a state directory and a node name,
// hence a cgroup parent, of its own, and waits until it is ready.
func StartUp(t testing.TB, args ...string) *System {
	t.Helper()
	s := New(t)
	s.StartUp(args...)
	return s
}

// StartUp is described with the function of that name.
func (s *System) StartUp(args ...string) {
	s.t.Helper()
	path, args := s.behind(Binary(s.t, "pacer"), append([]string{"up", "--listen", s.Address, "--node-name", s.name,
		"--planner-http", FreePort(s.t), "--node-http", FreePort(s.t), "--state-dir", filepath.Join(s.Dir, "state")}, args...))
	s.Up = Start(s.t, s.environment(), path, args...)
	s.Up.Await("ready", Patience)
}

// behind returns a command as it runs behind s.Behind.
func (s *System) behind(path string, args []string) (string, []string) {
	if len(s.Behind) == 0 {
		return path, args
	}
	return s.Behind[0], slices.Concat(s.Behind[1:], []string{path}, args)
}

// Name is the name of the node where there is one.
func (s *System) Name() string { return s.name }

// UseArchives has the system's daemons keep their class-data archives in dir instead
// of those that all systems of the process share.
func (s *System) UseArchives(dir string) { s.archives = dir }

// environment is that of daemons and commands. A command that asks a planner waits
// longer than it would for a user, whose machine is less busy.
func (s *System) environment() []string {
	return append([]string{"PACER_NODE_ARCHIVES=" + s.ArchiveDir(), "PACER_CLIENT_TIMEOUT=1m"}, s.env...)
}

// ArchiveDir is the directory of class-data archives. It holds the one of the
// environment's Spark, which all systems of the process share, so that no training
// run disturbs what is tested. Systems with another Spark have none.
func (s *System) ArchiveDir() string {
	s.t.Helper()
	if s.archives == "" {
		s.archives = sharedArchives(s.t)
	}
	return s.archives
}

// New returns a System of which nothing is started yet.
func New(t testing.TB) *System {
	t.Helper()
	s := fresh(t)
	s.Address = FreePort(t)
	return s
}

func fresh(t testing.TB) *System {
	return &System{t: t, Dir: t.TempDir(), name: fmt.Sprintf("test-%d-%d", os.Getpid(), systems.Add(1))}
}

// NewOldest returns a System with the oldest Spark that Pacer works with, of which
// nothing is started yet. It skips the test, with a line, where there is none. Its
// applications start without archives.
func NewOldest(t testing.TB) *System {
	t.Helper()
	settings := os.Getenv(oldestEnv)
	if settings == "" {
		t.Skip("needs the oldest Spark: run it by `make test`, or `make e2e SPARK_VERSION=...`")
	}
	s := New(t)
	s.env, s.archives = strings.Split(settings, "\n"), daemon.NoArchives
	return s
}

// NewOn returns a System on a network of which nothing is started yet: planner,
// drivers and commands run in its hub.
func NewOn(t testing.TB, n *Network) *System {
	t.Helper()
	s := fresh(t)
	s.Address, s.network = n.Address+":4222", n
	s.configure("credentials: " + s.credentials())
	return s
}

// NewBehind returns a System of which nothing is started yet, on a nats-server of
// its own with TLS and credentials.
func NewBehind(t testing.TB) *System {
	t.Helper()
	s := fresh(t)
	authority, credentials := bustest.NewAuthority(t), s.credentials()
	s.outside = bustest.Start(t, bustest.Config{Credentials: credentials, TLS: authority.Issue("server")}).URL()
	s.Address = s.outside
	s.configure(fmt.Sprintf("credentials: %s, tls-ca: %s", credentials, authority.CA()))
	return s
}

// credentials makes the file of everybody's passwords.
func (s *System) credentials() string {
	s.t.Helper()
	path := filepath.Join(s.Dir, "credentials")
	if err := os.WriteFile(path, []byte("planner:p\nnode:n\napplication:a\noperator:o\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// configure makes the configuration file of daemons and commands: what they need
// to connect to each other.
func (s *System) configure(connection string) {
	s.t.Helper()
	path := filepath.Join(s.Dir, "config.yaml")
	text := fmt.Sprintf("client: {planner: %q, %[2]s}\nplanner: {%[2]s}\nnode: {%[2]s}\n", s.Address, connection)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.env = []string{"PACER_CONFIG=" + path}
}

// place returns a command as it runs at a node, "hub" for the hub.
func (s *System) place(node, path string, args []string) (string, []string) {
	if s.network == nil {
		return path, args
	}
	in := s.network.inside(node)
	return in[0], slices.Concat(in[1:], []string{path}, args)
}

// StartNamed runs the node controller of a node of the network, in its
// namespace, and waits until it is ready.
func (s *System) StartNamed(node string, args ...string) *Process {
	s.t.Helper()
	path, args := s.place(node, Binary(s.t, "nodecontroller"), append([]string{"--planner", s.Address, "--name", node,
		"--state-dir", filepath.Join(s.Dir, node)}, args...))
	p := Start(s.t, s.environment(), path, args...)
	p.Await("ready", Patience)
	return p
}

// StartPlanner and StartNode run the daemons apart, as on a cluster, and wait
// until they are ready; started again, they find their states.
func (s *System) StartPlanner() *Process {
	s.t.Helper()
	if s.outside != "" {
		return s.start("planner", "--nats-url", s.outside)
	}
	return s.start("planner", "--listen", s.Address)
}

// StartNode is described with StartPlanner.
func (s *System) StartNode(args ...string) *Process {
	s.t.Helper()
	return s.start("nodecontroller", append([]string{"--planner", s.Address, "--name", s.name}, args...)...)
}

func (s *System) start(daemon string, args ...string) *Process {
	s.t.Helper()
	path, args := s.place("hub", Binary(s.t, daemon), append(args, "--http", FreePort(s.t), "--state-dir", filepath.Join(s.Dir, daemon)))
	p := Start(s.t, s.environment(), path, args...)
	p.Await("ready", Patience)
	return p
}

// Pacer runs a command of the CLI and returns its exit code and output.
func (s *System) Pacer(args ...string) (int, string) {
	s.t.Helper()
	path, args := s.place("hub", Binary(s.t, "pacer"), append([]string{"--planner", s.Address}, args...))
	c := exec.Command(path, args...)
	c.Env = append(os.Environ(), s.environment()...)
	out, err := c.CombinedOutput()
	if c.ProcessState == nil {
		s.t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}

// Submit starts `pacer submit` with event logs into Dir/events.
func (s *System) Submit(args ...string) *Process {
	s.t.Helper()
	events := s.Events()
	if err := os.MkdirAll(events, 0o755); err != nil {
		s.t.Fatal(err)
	}
	conf := []string{"submit", "--pacer-planner", s.Address, "--driver-memory", "512m",
		"--conf", "spark.executor.memory=768m"}
	if s.network != nil {
		conf = append(conf, "--conf", "spark.driver.host="+s.network.Address, "--conf", "spark.driver.bindAddress="+s.network.Address)
	}
	path, args := s.place("hub", Binary(s.t, "pacer"), slices.Concat(conf, EventLogConf(events), args))
	path, args = s.behind(path, args)
	return Start(s.t, s.environment(), path, args...)
}

// EventLogConf are the flags of spark-submit that make ReadLog's input in dir.
func EventLogConf(dir string) []string {
	return []string{"--conf", "spark.ui.enabled=false",
		"--conf", "spark.eventLog.enabled=true", "--conf", "spark.eventLog.dir=file://" + dir,
		"--conf", "spark.eventLog.compress=false", "--conf", "spark.eventLog.rolling.enabled=false"}
}

// Events is the directory of the applications' event logs.
func (s *System) Events() string { return filepath.Join(s.Dir, "events") }

// Apps returns what `pacer apps -o json` prints.
func (s *System) Apps() []api.AppSummary {
	s.t.Helper()
	code, out := s.Pacer("apps", "-o", "json")
	if code != 0 {
		s.t.Fatalf("pacer apps: exit %d: %s", code, out)
	}
	var apps []api.AppSummary
	if err := json.Unmarshal([]byte(out), &apps); err != nil {
		s.t.Fatalf("pacer apps: %v: %s", err, out)
	}
	return apps
}

// Nodes returns what `pacer nodes -o json` prints.
func (s *System) Nodes() map[string]api.NodeSummary {
	s.t.Helper()
	code, out := s.Pacer("nodes", "-o", "json")
	var nodes []api.NodeSummary
	if err := json.Unmarshal([]byte(out), &nodes); code != 0 || err != nil {
		s.t.Fatalf("pacer nodes: exit %d, %v: %s", code, err, out)
	}
	byName := make(map[string]api.NodeSummary, len(nodes))
	for _, n := range nodes {
		byName[n.Node] = n
	}
	return byName
}

// App returns what `pacer apps show ID -o json` prints.
func (s *System) App(id api.AppID) api.AppDetail {
	s.t.Helper()
	code, out := s.Pacer("apps", "show", string(id), "-o", "json")
	if code != 0 {
		s.t.Fatalf("pacer apps show %s: exit %d: %s", id, code, out)
	}
	var app api.AppDetail
	if err := json.Unmarshal([]byte(out), &app); err != nil {
		s.t.Fatalf("pacer apps show: %v: %s", err, out)
	}
	return app
}

// Newest returns the application that was submitted last.
func (s *System) Newest() api.AppDetail {
	s.t.Helper()
	var newest api.AppID
	for _, a := range s.Apps() {
		newest = max(newest, a.ID)
	}
	if newest == "" {
		s.t.Fatal("no application is known")
	}
	return s.App(newest)
}

// AwaitApp polls the newest application until ok holds.
func (s *System) AwaitApp(what string, limit time.Duration, ok func(api.AppDetail) bool) api.AppDetail {
	s.t.Helper()
	var seen api.AppDetail
	s.Await(what, limit, func() bool {
		if len(s.Apps()) == 0 {
			return false
		}
		seen = s.Newest()
		return ok(seen)
	})
	return seen
}

// AwaitWhile polls the newest application while it runs until ok holds. That run,
// which has submitted it, ends before is a fault of Timing.
func (s *System) AwaitWhile(run *Process, what string, ok func(api.AppDetail) bool) (seen api.AppDetail, err error) {
	s.t.Helper()
	s.Await(what, Patience, func() bool {
		select {
		case <-run.Done():
			err = Timing("%s: the application ended before", what)
			return true
		default:
		}
		if len(s.Apps()) == 0 {
			return false
		}
		seen = s.Newest()
		return seen.State == api.AppRunning && ok(seen)
	})
	return seen, err
}

// Await polls until ok holds; real processes give no other sign.
func (s *System) Await(what string, limit time.Duration, ok func() bool) {
	s.t.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			s.t.Fatalf("%s: not within %v", what, limit)
		}
	}
}

// SparkHome is the Spark of the environment.
func SparkHome(t testing.TB) string {
	t.Helper()
	home := os.Getenv("SPARK_HOME")
	if home == "" {
		t.Fatal("SPARK_HOME is not set")
	}
	return home
}

// Line returns the first line of out that starts with prefix.
func Line(out, prefix string) (string, error) {
	for line := range strings.SplitSeq(out, "\n") {
		if strings.HasPrefix(line, prefix) {
			return line, nil
		}
	}
	return "", fmt.Errorf("no line starts with %q in:\n%s", prefix, tail(out, 4000))
}
