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
	"github.com/sparkpacer/pacer/cli/sparkrun"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
	"github.com/sparkpacer/pacer/test/sparklog"
)

// System is one Pacer on this machine. Its Env is what the environment of its processes
// has beside this process's.
type System struct {
	sparkrun.System
	t testing.TB
	// Up is `pacer up`, when the system was started by it.
	Up *Process

	archives string
	// Server is the NATS server, nil for the planner's own.
	Server  *bustest.Server
	network *Network // nil for loopback.
	cluster cluster  // nil where Pacer starts the executors.
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
	c, err := s.local().Up(args...)
	s.Up = ready(s.t, c, err)
}

// UseArchives has the system's daemons keep their class-data archives in dir instead
// of those that all systems of the process share.
func (s *System) UseArchives(dir string) { s.archives = dir }

// For is s for another test, a part of the one that has started it, with more environment for what it runs.
func (s *System) For(t testing.TB, env ...string) *System {
	of := *s
	of.t, of.Env, of.Inside = t, slices.Concat(s.Env, env), slices.Clone(s.Inside)
	return &of
}

// local is the system with its programs and the whole environment of its processes. A
// command that asks a planner waits longer than it would for a user, whose machine is
// less busy.
func (s *System) local() sparkrun.System {
	s.t.Helper()
	of := s.System
	of.Pacer = Binary(s.t, "pacer")
	of.Env = environment(append([]string{"PACER_NODE_ARCHIVES=" + s.ArchiveDir(), "PACER_CLIENT_TIMEOUT=1m"}, s.Env...))
	return of
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
	s := &System{t: t, System: sparkrun.System{Dir: t.TempDir(),
		Node: fmt.Sprintf("test-%d-%d", os.Getpid(), systems.Add(1))}}
	if os.Geteuid() == 0 && os.Getenv("SUDO_USER") == "" {
		s.ExecutorUser = "root" // Tests read and write each other's files.
	}
	t.Cleanup(func() {
		if t.Failed() {
			s.tellExecutors()
		}
	})
	return s
}

// tellExecutors prints the end of what each executor has printed, as far as its node keeps it.
func (s *System) tellExecutors() {
	found, _ := filepath.Glob(filepath.Join(s.Dir, "*", "work", "apps", "*", "*", "stderr"))
	for _, path := range found {
		if text, err := os.ReadFile(path); err == nil {
			s.t.Logf("%s:\n%s", path, sparkrun.Tail(string(text), 6000))
		}
	}
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
	s.Env, s.archives = strings.Split(settings, "\n"), daemon.NoArchives
	return s
}

// NewOn returns a System on a network of which nothing is started yet: planner,
// drivers and commands run in its hub. Its connections are secured as the README has it.
func NewOn(t testing.TB, n *Network) *System {
	t.Helper()
	s := fresh(t)
	s.Address, s.network, s.Inside = n.Address+":4222", n, n.Inside(Hub)
	state := filepath.Join(s.Dir, "planner")
	s.configure("tls-ca: "+filepath.Join(state, daemon.TLSDir, bus.AuthorityFile), "state: "+state)
	if code, out := s.Pacer("auth", "init", n.Address); code != 0 {
		t.Fatalf("pacer auth init: exit %d: %s", code, out)
	}
	return s
}

// NewBehind returns a System of which nothing is started yet, on a nats-server of
// its own with TLS, credentials and JetStream.
func NewBehind(t testing.TB) *System {
	t.Helper()
	s := fresh(t)
	authority, planner := bustest.NewAuthority(t), bus.NewCredential(api.Principal{Kind: api.PrincipalPlanner}.Login())
	path := filepath.Join(s.Dir, "planner.credentials")
	if err := os.WriteFile(path, planner.Encode(), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.Server = bustest.Start(t, bustest.Config{Planner: planner, TLS: authority.Issue("server"),
		Store: filepath.Join(s.Dir, "jetstream")})
	s.Address = s.Server.URL()
	s.configure("tls-ca: "+authority.CA(), "credentials: "+path)
	return s
}

// configure makes the configuration file of daemons and commands: what they need
// to connect to each other.
func (s *System) configure(connection, planner string) {
	s.t.Helper()
	path := filepath.Join(s.Dir, "config.yaml")
	text := fmt.Sprintf("client: {planner: %q, %[2]s}\nplanner: {%[2]s, %[3]s}\nnode: {%[2]s}\n", s.Address, connection,
		planner)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.Env = []string{"PACER_CONFIG=" + path}
}

// StartNamed runs the node controller of a node of the network, in its
// namespace, and waits until it is ready.
func (s *System) StartNamed(node string, args ...string) *Process {
	s.t.Helper()
	local := s.local()
	local.Inside = s.network.Inside(node)
	c, err := local.Daemon("nodecontroller", node, append([]string{"--planner", s.Address, "--name", node}, args...)...)
	return ready(s.t, c, err)
}

// StartPlanner and StartNode run the daemons apart, as on a cluster, and wait
// until they are ready; started again, they find their states.
func (s *System) StartPlanner(args ...string) *Process {
	s.t.Helper()
	at := []string{"--listen", s.Address}
	if s.Server != nil {
		at = []string{"--nats-url", s.Server.URL()}
	}
	return s.start("planner", append(at, args...)...)
}

// StartNode is described with StartPlanner.
func (s *System) StartNode(args ...string) *Process {
	s.t.Helper()
	return s.start("nodecontroller", append([]string{"--planner", s.Address, "--name", s.Node}, args...)...)
}

func (s *System) start(daemon string, args ...string) *Process {
	s.t.Helper()
	c, err := s.local().Daemon(daemon, daemon, args...)
	return ready(s.t, c, err)
}

// Pacer runs a command of the CLI and returns its exit code and output.
func (s *System) Pacer(args ...string) (int, string) {
	s.t.Helper()
	ask := s.local().Ask(args...)
	c := exec.Command(ask.Path, ask.Args...)
	c.Env = ask.Env
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
	flags := append([]string{"--driver-memory", "512m", "--conf", "spark.executor.memory=768m"},
		sparklog.Flags(events)...)
	if s.network != nil {
		flags = append(flags, "--conf", "spark.driver.host="+s.network.Address, "--conf", "spark.driver.bindAddress="+
			s.network.Address)
	}
	if s.cluster != nil {
		flags = append(flags, s.cluster.Flags()...)
	}
	return start(s.t, s.local().Submit(append(flags, args...)...))
}

// Events is the directory of the applications' event logs.
func (s *System) Events() string { return filepath.Join(s.Dir, "events") }

// Log reads the event log of an application.
func (s *System) Log(app api.AppID) sparklog.Log {
	s.t.Helper()
	if s.cluster != nil { // Spark has its own id of it.
		app = newest(s.t, s.Events())
	}
	log, err := sparklog.Read(s.Events(), app)
	if err != nil {
		s.t.Fatal(err)
	}
	return log
}

// Apps returns what `pacer apps --all -o json` prints.
func (s *System) Apps() []api.AppSummary {
	s.t.Helper()
	code, out := s.Pacer("apps", "--all", "-o", "json")
	if code != 0 {
		s.t.Fatalf("pacer apps: exit %d: %s", code, out)
	}
	var list struct {
		Applications []api.AppSummary `json:"applications"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		s.t.Fatalf("pacer apps: %v: %s", err, out)
	}
	return list.Applications
}

// Nodes returns what `pacer nodes -o json` prints.
func (s *System) Nodes() map[string]api.NodeSummary {
	s.t.Helper()
	code, out := s.Pacer("nodes", "-o", "json")
	var list struct {
		Nodes []api.NodeSummary `json:"nodes"`
	}
	if err := json.Unmarshal([]byte(out), &list); code != 0 || err != nil {
		s.t.Fatalf("pacer nodes: exit %d, %v: %s", code, err, out)
	}
	byName := make(map[string]api.NodeSummary, len(list.Nodes))
	for _, n := range list.Nodes {
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

// Await polls until ok holds, which may ask a command.
func (s *System) Await(what string, limit time.Duration, ok func() bool) {
	s.t.Helper()
	if !Poll(200*time.Millisecond, limit, ok) {
		s.t.Fatalf("%s: not within %v", what, limit)
	}
}

// Results are the lines that an application has printed as its answer: those that begin with
// RESULT.
func Results(out string) string {
	var lines []string
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "RESULT") {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return strings.Join(lines, "\n")
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
	return "", fmt.Errorf("no line starts with %q in:\n%s", prefix, sparkrun.Tail(out, 4000))
}
