package torture

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/bus/bustest"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/internal/realenv"
	"github.com/sparkpacer/pacer/internal/sparkrun"
)

const (
	// cores is what a node gives to executors: three nodes leave drivers and daemons half a
	// core of a small machine.
	cores = 0.5
	// disk is the size of a node's work directory.
	disk = "96m"
	// grace is how long a daemon may take to stop.
	grace = 30 * time.Second
	// plannerPlace and driverPlace are the namespaces of the planner and of drivers and
	// commands; the NATS server is in the hub.
	plannerPlace, driverPlace = "planner", "drivers"
)

// cluster is a NATS server, a planner and node controllers, each in a network namespace of its
// own, with drivers in another one. Nodes and drivers reach the NATS server through a proxy.
type cluster struct {
	t   *testing.T
	dir string
	net *realenv.Network
	// names are those of the nodes, places the namespaces but the hub's.
	names, places []string
	system        sparkrun.System
	direct        string // The NATS server's URL without the proxy between.
	proxy         *proxy
	nats, planner *service
	nodes         map[string]*service
	address       map[string]string // By place.
}

// newCluster makes a cluster, whose planner has more arguments, and waits until its nodes are
// ready. It is gone when the test ends.
func newCluster(t *testing.T, nodes int, planner ...string) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: t.TempDir(), nodes: map[string]*service{}, address: map[string]string{}, places: []string{plannerPlace, driverPlace}}
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
	c.direct = "nats://" + server
	var err error
	if c.proxy, err = newProxy(c.net.Namespace(realenv.Hub), c.net.Address+":4223", server); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.proxy.close)
	c.configure()
	c.start(server, planner)
	return c
}

// configure writes the configuration of daemons and commands. The server lets everybody in:
// who may do what is held by package bus, on such servers too.
func (c *cluster) configure() {
	address := "nats://" + c.proxy.listener.Addr().String()
	config := filepath.Join(c.dir, "config.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, "client: {planner: %q}\n", address), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.system = sparkrun.System{Pacer: realenv.Binary(c.t, "pacer"), Dir: c.dir, Address: address, Inside: c.net.Inside(driverPlace),
		Env: append(os.Environ(), "PACER_CONFIG="+config, "PACER_NODE_ARCHIVES="+daemon.NoArchives, "PACER_NODE_RUNTIME=process", "PACER_CLIENT_TIMEOUT=10s")}
}

// start runs all daemons and waits until an operator sees all nodes.
func (c *cluster) start(server string, planner []string) {
	c.t.Helper()
	path, args := bustest.Command(c.t, bustest.Config{}, server, filepath.Join(c.dir, "nats-server.conf"))
	line := append(append(c.net.Inside(realenv.Hub), path), args...)
	c.nats = c.serve("nats", func() (sparkrun.Command, error) { return sparkrun.Command{Path: line[0], Args: line[1:]}, nil })
	c.planner = c.serve("planner", func() (sparkrun.Command, error) {
		return c.in(plannerPlace).Daemon("planner", "planner", append([]string{"--nats-url", c.direct}, planner...)...)
	})
	for _, node := range c.names {
		c.nodes[node] = c.serve(node, func() (sparkrun.Command, error) {
			return c.in(node).Daemon("nodecontroller", node, "--planner", c.system.Address, "--name", node, "--cores", fmt.Sprint(cores), "--memory", "5g",
				"--set", "node.work="+c.work(node))
		})
	}
	c.await("all nodes to be ready", time.Minute, func() bool { return c.ready() == len(c.names) })
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
	n := 0
	for _, node := range c.ask("nodes", "-o", "json") {
		if node["state"] == "ready" {
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

// poll reports whether ok held within a limit: real processes give no other sign.
func poll(limit time.Duration, ok func() bool) bool {
	over, tick := time.After(limit), time.NewTicker(200*time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-over:
			return false
		}
	}
	return true
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
	if _, isNode := c.address[name]; isNode && name != plannerPlace {
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
