package bustest

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sparkpacer/pacer/infra/bus"
)

// Config says how a server runs.
type Config struct {
	// Listen is host:port on loopback; "" is a free port.
	Listen string
	// Planner is the planner's credential; that planner is asked about everybody else.
	// Without one the server lets anybody do everything.
	Planner bus.Credential
	// TLS are the server's own certificate and key and, with CA, the authorities
	// of clients, which then need a certificate.
	TLS bus.TLS
	// Store is the directory of the server's JetStream; "" is without that.
	Store string
	// Name is the server's in its cluster, Cluster where it listens for the others, and Routes
	// where all of them do; "" is a server alone.
	Name, Cluster string
	Routes        []string
}

// StartCluster runs n servers as one cluster with JetStream, and returns once all listen. Their agreement takes some
// seconds more.
func StartCluster(t testing.TB, n int, cfg Config) []*Server {
	t.Helper()
	var routes []string
	for range n {
		routes = append(routes, free(t))
	}
	var servers []*Server
	for i, route := range routes {
		c := cfg
		c.Store, c.Name, c.Cluster, c.Routes = t.TempDir(), fmt.Sprintf("n%d", i+1), route, routes
		servers = append(servers, New(t, c))
	}
	for _, s := range servers {
		s.launch() // Each listens once it has heard of the others.
	}
	for _, s := range servers {
		s.listens()
	}
	return servers
}

// free is an address on loopback where nobody listens.
func free(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

// Server is a nats-server that ends with its test.
type Server struct {
	t       testing.TB
	cfg     Config
	address string
	process *exec.Cmd
	log     string
}

// Start runs a server and returns once it listens.
func Start(t testing.TB, cfg Config) *Server {
	t.Helper()
	s := New(t, cfg)
	s.Start()
	return s
}

// New returns a server that has an address and does not run yet.
func New(t testing.TB, cfg Config) *Server {
	t.Helper()
	s := &Server{t: t, cfg: cfg, address: cfg.Listen, log: filepath.Join(t.TempDir(), "nats-server.log")}
	if s.address == "" || strings.HasSuffix(s.address, ":0") {
		s.address = free(t)
	}
	t.Cleanup(s.Close)
	return s
}

// Address is its host:port, whether it runs or not.
func (s *Server) Address() string { return s.address }

// URL is its address as clients with TLS, or without it, give it.
func (s *Server) URL() string {
	if s.cfg.TLS.Cert != "" {
		return "tls://" + s.address
	}
	return "nats://" + s.address
}

// Start runs the server, for the first time or again, on its one address, and
// returns once it listens.
func (s *Server) Start() {
	s.t.Helper()
	s.launch()
	s.listens()
}

// launch starts the process.
func (s *Server) launch() {
	s.t.Helper()
	text, err := s.cfg.text(s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	path := filepath.Join(s.t.TempDir(), "nats-server.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	binary, err := build()
	if err != nil {
		s.t.Fatal(err)
	}
	s.process = exec.Command(binary, "-c", path, "-l", s.log)
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
}

// listens returns once the process does.
func (s *Server) listens() {
	s.t.Helper()
	tick, limit := time.NewTicker(5*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if conn, err := net.Dial("tcp", s.address); err == nil {
				_ = conn.Close()
				return
			}
		case <-limit:
			log, _ := os.ReadFile(s.log)
			s.t.Fatalf("nats-server does not listen on %s:\n%s", s.address, log)
		}
	}
}

// Close kills the server, as a crash would. A second call does nothing.
func (s *Server) Close() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
	s.process = nil
}

// Forget removes the state of planners from the server's JetStream. Clients that are connected stay.
func (s *Server) Forget() {
	s.t.Helper()
	options := s.cfg.Planner.Proves(nil)
	if s.cfg.TLS.Cert != "" {
		options = append(options, nats.Secure(&tls.Config{InsecureSkipVerify: true})) // It is on loopback.
	}
	nc, err := nats.Connect(s.URL(), options...)
	if err != nil {
		s.t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err == nil {
		err = js.DeleteKeyValue(s.t.Context(), bus.BucketName)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// text is the configuration file.
func (c Config) text(address string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "listen: %q\nmax_payload: %d\nmax_pending: %d\n", address, bus.MaxPayload, 4*bus.MaxPayload)
	if c.Store != "" {
		fmt.Fprintf(&b, "jetstream { store_dir: %q }\n", c.Store)
	}
	if c.Cluster != "" {
		fmt.Fprintf(&b, "server_name: %s\ncluster { name: pacer, listen: %q, routes: [", c.Name, c.Cluster)
		for _, route := range c.Routes {
			fmt.Fprintf(&b, " %q,", "nats://"+route)
		}
		b.WriteString(" ] }\n")
	}
	if c.TLS.Cert != "" {
		fmt.Fprintf(&b, "tls { cert_file: %q, key_file: %q", c.TLS.Cert, c.TLS.Key)
		if c.TLS.CA != "" {
			fmt.Fprintf(&b, ", ca_file: %q, verify: true", c.TLS.CA)
		}
		b.WriteString(" }\n")
	}
	if c.Planner.Login == "" {
		return b.String(), nil
	}
	authorization, err := c.Planner.ServerAuthorization()
	return b.String() + authorization, err
}

// build returns the path of the binary, which is kept in the user's cache under
// its version.
func build() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	path := filepath.Join(cache, "pacer", "nats-server-"+server.VERSION)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	// Tests of several packages may build it at the same time: the name appears at
	// once and whole.
	own := fmt.Sprintf("%s.%d", path, os.Getpid())
	out, err := exec.Command("go", "build", "-o", own, "github.com/nats-io/nats-server/v2").CombinedOutput()
	if err != nil {
		return "", errors.Join(fmt.Errorf("build nats-server: %w: %s", err, out), os.Remove(own))
	}
	return path, os.Rename(own, path)
}
