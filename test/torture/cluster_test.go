package torture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/sparkrun"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
	"github.com/sparkpacer/pacer/test/realenv"
)

const (
	// cores is what a node gives to executors: three nodes leave drivers and daemons half a
	// core of a small machine.
	cores = 0.5
	// disk is the size of a node's work directory.
	disk = "96m"
	// grace is how long a daemon may take to stop.
	grace = 30 * time.Second
	// driverPlace is the namespace of drivers and commands; the NATS server is in the hub.
	driverPlace = "drivers"
)

// plannerPlaces are the namespaces of the planners, and their names.
var plannerPlaces = []string{"planner1", "planner2"}

// cluster is a NATS server with TLS, credentials and JetStream, two planners of which one stands
// by, and node controllers, each in a network namespace of its own, with drivers in another one.
// Nodes and drivers reach the NATS server through a proxy.
type cluster struct {
	t   *testing.T
	dir string
	net *realenv.Network
	// names are those of the nodes, places the namespaces but the hub's.
	names, places []string
	system        sparkrun.System
	direct        string // The NATS server's URL without the proxy between.
	proxy         *proxy
	nats          *service
	planners      []*service
	nodes         map[string]*service
	address       map[string]string // By place.
}

// newCluster makes a cluster and waits until its nodes are ready and a planner stands by. It is
// gone when the test ends.
func newCluster(t *testing.T, nodes int) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: t.TempDir(), nodes: map[string]*service{}, address: map[string]string{}, places: append(slices.Clone(plannerPlaces), driverPlace)}
	for i := range nodes {
		c.names = append(c.names, fmt.Sprintf("n%d-%d", i+1, os.Getpid()))
	}
	c.places = append(c.places, c.names...)
	t.Cleanup(func() { keepLogs(t, c) })
	c.net = realenv.NewNetwork(t, c.places...)
	for i, place := range c.places {
		c.address[place] = c.net.Of(i)
	}
	server := c.net.Address + ":4222"
	c.direct = "tls://" + server
	var err error
	if c.proxy, err = newProxy(c.net.Namespace(realenv.Hub), c.net.Address+":4223", server); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.proxy.close)
	c.start(server, c.configure())
	return c
}

// configure writes the configuration of daemons and commands, as docs/security.md has it, and
// returns the server's.
func (c *cluster) configure() bustest.Config {
	address := "tls://" + c.proxy.listener.Addr().String()
	authority, own := bustest.NewAuthority(c.t), bus.NewCredential(api.Principal{Kind: api.PrincipalPlanner}.Login())
	config, path := filepath.Join(c.dir, "config.yaml"), filepath.Join(c.dir, "planner.credentials")
	operator := bus.CredentialPath(sparkrun.System{Dir: c.dir}.Credentials(), c.direct)
	text := fmt.Sprintf("client: {planner: %q, tls-ca: %[2]q, credentials: %q}\nplanner: {tls-ca: %[2]q, credentials: %[4]q}\nnode: {tls-ca: %[2]q}\n",
		address, authority.CA(), operator, path)
	if err := errors.Join(os.WriteFile(path, own.Encode(), 0o600), os.WriteFile(config, []byte(text), 0o600)); err != nil {
		c.t.Fatal(err)
	}
	c.system = sparkrun.System{Pacer: realenv.Binary(c.t, "pacer"), Dir: c.dir, Address: address, Inside: c.net.Inside(driverPlace),
		Env: append(os.Environ(), "PACER_CONFIG="+config, "PACER_NODE_ARCHIVES="+daemon.NoArchives, "PACER_NODE_RUNTIME=process", "PACER_CLIENT_TIMEOUT=10s")}
	return bustest.Config{Planner: own, TLS: authority.Issue("server", c.net.Address), Store: filepath.Join(c.dir, "jetstream")}
}

// start runs all daemons and waits until an operator sees all nodes.
func (c *cluster) start(server string, cfg bustest.Config) {
	c.t.Helper()
	path, args := bustest.Command(c.t, cfg, server, filepath.Join(c.dir, "nats-server.conf"))
	line := append(append(c.net.Inside(realenv.Hub), path), args...)
	c.nats = c.serve("nats", func() (sparkrun.Command, error) { return sparkrun.Command{Path: line[0], Args: line[1:]}, nil })
	for _, place := range plannerPlaces {
		c.planners = append(c.planners, c.serve(place, func() (sparkrun.Command, error) {
			return c.in(place).Daemon("planner", place, "--nats-url", c.direct)
		}))
	}
	c.await("a planner to serve and one to stand by", time.Minute, func() bool {
		serves, standby := c.serving()
		return serves != nil && standby != nil
	})
	for _, node := range c.names {
		credentials := filepath.Join(c.dir, node+".credentials")
		c.await("a credential of "+node, time.Minute, func() bool {
			c.command("auth", "issue", "--node", node, "--out", credentials)
			_, err := os.Stat(credentials)
			return err == nil
		})
		c.nodes[node] = c.serve(node, func() (sparkrun.Command, error) {
			return c.in(node).Daemon("nodecontroller", node, "--planner", c.system.Address, "--name", node, "--cores", fmt.Sprint(cores), "--memory", "5g",
				"--set", "node.work="+c.work(node), "--set", "node.credentials="+credentials)
		})
	}
	c.await("all nodes to be ready", time.Minute, func() bool { return c.ready() == len(c.names) })
}

// serving are the planner that serves and the one that stands by, as they say themselves; nil
// for none.
func (c *cluster) serving() (serves, standby *service) {
	for _, p := range c.planners {
		body, _ := os.ReadFile(filepath.Join(c.dir, p.name+".log"))
		log := string(body)
		switch ready, stands := strings.LastIndex(log, "planner ready on"), strings.LastIndex(log, "stands by"); {
		case !p.up():
		case ready > stands:
			serves = p
		case stands >= 0:
			standby = p
		}
	}
	return serves, standby
}

// in is the system in a place.
func (c *cluster) in(place string) sparkrun.System {
	s := c.system
	s.Inside = c.net.Inside(place)
	return s
}

// work is a node's work directory, on a small disk of its own.
func (c *cluster) work(node string) string { return filepath.Join(c.dir, "work", node) }

// mountWork gives nodes their disks; the end of the test takes them back.
func (c *cluster) mountWork(node string) error {
	work := c.work(node)
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	if err := syscall.Mount("pacer-torture", work, "tmpfs", 0, "size="+disk); err != nil {
		return fmt.Errorf("mount a small disk: %w", err)
	}
	c.t.Cleanup(func() { // Where the test has not come to its end.
		_ = syscall.Unmount(work, syscall.MNT_DETACH)
	})
	return nil
}

// ready is how many nodes are.
func (c *cluster) ready() int {
	var list struct {
		Nodes []api.NodeSummary `json:"nodes"`
	}
	text := c.command("nodes", "-o", "json")
	if text == "" {
		return 0
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		c.t.Errorf("pacer nodes: %v: %s", err, text)
	}
	n := 0
	for _, node := range list.Nodes {
		if node.State == "ready" {
			n++
		}
	}
	return n
}

// await polls until ok holds.
func (c *cluster) await(what string, limit time.Duration, ok func() bool) {
	c.t.Helper()
	if !poll(limit, ok) {
		c.t.Fatalf("%s: not within %v", what, limit)
	}
}

// poll reports whether ok held within a limit.
func poll(limit time.Duration, ok func() bool) bool {
	return realenv.Poll(200*time.Millisecond, limit, ok)
}

// service is a daemon that is started again when it ends, as an init system does.
type service struct {
	c       *cluster
	name    string
	command func() (sparkrun.Command, error)
	done    chan struct{}

	mu      sync.Mutex
	process *sparkrun.Process
	until   time.Time // When it may be started again.
	ending  bool
	starts  int
}

// again is how long after its end a daemon is started again.
const again = 200 * time.Millisecond

// serve runs a daemon until the test ends.
func (c *cluster) serve(name string, command func() (sparkrun.Command, error)) *service {
	s := &service{c: c, name: name, command: command, done: make(chan struct{})}
	if slices.Contains(c.names, name) {
		if err := c.mountWork(name); err != nil {
			c.t.Skip(err)
		}
	}
	go s.run()
	c.t.Cleanup(s.stop)
	return s
}

func (s *service) run() {
	defer close(s.done)
	for {
		p, wait, err := s.next()
		switch {
		case err != nil:
			s.c.t.Errorf("start %s: %v", s.name, err)
			return
		case p != nil:
			<-p.Exited()
			s.away(again)
		case wait > 0:
			<-time.After(min(wait, 50*time.Millisecond))
		default:
			return
		}
	}
}

// next starts the daemon where it may; else it says how long to wait, 0 at the end.
func (s *service) next() (*sparkrun.Process, time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending {
		return nil, 0, nil
	}
	if wait := time.Until(s.until); wait > 0 {
		return nil, wait, nil
	}
	command, err := s.command()
	if err == nil {
		command.Log, err = os.OpenFile(filepath.Join(s.c.dir, s.name+".log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	}
	if err != nil {
		return nil, 0, err
	}
	s.process, err = sparkrun.Start(command)
	s.starts++
	return s.process, 0, err
}

// away keeps the daemon from being started for at least so long.
func (s *service) away(long time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until := time.Now().Add(long); until.After(s.until) {
		s.until = until
	}
}

// signal sends a signal to the daemon where it runs; after one that ends it, it stays away
// for long.
func (s *service) signal(x syscall.Signal, long time.Duration) {
	s.away(long)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		if err := s.process.Signal(x); err != nil {
			s.c.t.Error(err)
		}
	}
}

// stop ends the daemon for good.
func (s *service) stop() {
	s.mu.Lock()
	s.ending = true
	p := s.process
	s.mu.Unlock()
	if p != nil {
		if err := p.Stop(grace); err != nil {
			s.c.t.Error(err)
		}
	}
	<-s.done
}

// restart has the daemon stop in order, and waits until it runs again.
func (s *service) restart(limit time.Duration) bool {
	s.mu.Lock()
	before := s.starts
	s.mu.Unlock()
	s.signal(syscall.SIGTERM, 0)
	return poll(limit, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.starts > before
	})
}

// up reports whether the daemon runs.
func (s *service) up() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return false
	}
	select {
	case <-s.process.Exited():
		return false
	default:
		return true
	}
}

// command runs one of pacer's commands where drivers are and returns its answer; "" when it
// failed.
func (c *cluster) command(args ...string) string {
	p, err := sparkrun.Start(c.system.Ask(args...))
	if err != nil {
		c.t.Error(err)
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	code, err := p.Code(ctx)
	if err != nil {
		_ = p.Stop(time.Second)
	}
	if err != nil || code != 0 {
		return ""
	}
	return p.Answer()
}
