package bus_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
)

func TestServersAreNamedByAddressOrURL(t *testing.T) {
	for server, wants := range map[string]string{
		"127.0.0.1:4222": "", "nats://h:4222": "", "tls://h:4222": "", ":4222": "",
		"tls://:4222": "host", "http://h:4222": "http://", "nats://user:pw@h:4222": "credentials file", "nats://h": "host:port", "tls://h:http": "port",
	} {
		err := bus.ValidateServer(server)
		if (wants == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), wants)) {
			t.Errorf("%s: %v, want %q", server, err, wants)
		}
	}
	for server, want := range map[string]string{"h:1": "h:1", "nats://h:1": "h:1", "tls://h:1": "h:1"} {
		if got := bus.HostPort(server); got != want {
			t.Errorf("%s: %s", server, got)
		}
	}
}

func TestTLSChecksBothSides(t *testing.T) {
	authority, stranger := bustest.NewAuthority(t), bustest.NewAuthority(t)
	server := authority.Issue("server")
	server.CA = authority.CA() // Clients need a certificate too.
	keyring, own := bus.NewKeyring(), plannerOwn()
	s := bustest.Start(t, bustest.Config{Planner: own, TLS: server})
	client := authority.Issue("client")
	client.CA = authority.CA()
	statuses := make(chan api.NodeStatus, 1)
	p := dial(t, bus.Options{Address: s.URL(), Credential: own, TLS: client})
	if err := errors.Join(authorize(p, keyring, own), serve(p, keyring, echo(statuses)), p.Flush(within(t))); err != nil {
		t.Fatal(err)
	}
	mine := keyring.Lend(asNode("n1"))
	// The files alone ask for TLS as well as a URL does.
	node := dial(t, bus.Options{Address: s.Address(), Credential: mine, TLS: client})
	if r, err := node.Hello(within(t), status("n1")); err != nil || r.Plan.Epoch != 7 {
		t.Errorf("hello: %+v, %v", r, err)
	}
	notPEM := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(notPEM, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	unknown := client
	unknown.CA = stranger.CA()
	for name, c := range map[string]struct {
		tls  bus.TLS
		want string
	}{
		"an unknown authority":    {unknown, "signed by unknown authority"},
		"the system's":            {bus.TLS{Cert: client.Cert, Key: client.Key}, "signed by unknown authority"},
		"no certificate":          {bus.TLS{CA: authority.CA()}, "no secured connection"},
		"a file that is not PEM":  {bus.TLS{CA: notPEM}, "holds no certificate"},
		"a file that is not here": {bus.TLS{CA: notPEM + ".gone"}, "no such file"},
		"a key alone":             {bus.TLS{Key: client.Key}, "one without the other"},
	} {
		conn, err := bus.Dial(bus.Options{Address: s.URL(), Credential: mine, TLS: c.tls})
		if err == nil {
			conn.Close()
		}
		// A server that misses a certificate says so only after the handshake, and may have closed the connection.
		closed := name == "no certificate" && api.KindOf(err) == api.KindTransient
		if err == nil || !closed && (api.KindOf(err) != api.KindInvalid || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v (%v), want %q", name, err, api.KindOf(err), c.want)
		}
	}
}

// A server that asks a planner which is away refuses everybody: it is the planner that is at fault.
func TestARefusalForWantOfAPlannerIsNoRefusal(t *testing.T) {
	s := bustest.Start(t, bustest.Config{Planner: plannerOwn()})
	_, err := bus.Dial(bus.Options{Address: s.URL(), Credential: bus.NewCredential("user-ann"), Timeout: time.Minute})
	if api.KindOf(err) != api.KindTransient || err == nil || !strings.Contains(err.Error(), "no planner answers at "+s.URL()) {
		t.Errorf("%v (%v)", err, api.KindOf(err))
	}
}

// Nor is one that stops while the connection is secured at odds about certificates.
func TestAServerThatStopsWhileItSecuresIsNobody(t *testing.T) {
	authority := bustest.NewAuthority(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("INFO {\"server_id\":\"x\",\"tls_required\":true}\r\n"))
			_ = c.Close()
		}
	}()
	address := "tls://" + l.Addr().String()
	_, err = bus.Dial(bus.Options{Address: address, TLS: bus.TLS{CA: authority.CA()}})
	if api.KindOf(err) != api.KindTransient || err == nil || !strings.Contains(err.Error(), "no planner answers at "+address) {
		t.Errorf("%v (%v)", err, api.KindOf(err))
	}
}

// The certificate is at fault for as long as one waits for the server: it is said.
func TestWaitingForAServerThatIsNotTrustedSaysSo(t *testing.T) {
	own, stranger := bustest.NewAuthority(t).Issue("server"), bustest.NewAuthority(t)
	s := bustest.Start(t, bustest.Config{TLS: own})
	faults := make(chan error, 64)
	c := dial(t, bus.Options{Address: s.URL(), TLS: bus.TLS{CA: stranger.CA()}, Wait: true, OnFault: func(err error) { faults <- err }})
	if c.Connected() {
		t.Error("it is connected")
	}
	if err := receive(t, faults); !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("fault %v", err)
	}
}

func TestAPlaintextServerIsNotTakenForASecuredOne(t *testing.T) {
	s := bustest.Start(t, bustest.Config{})
	_, err := bus.Dial(bus.Options{Address: "tls://" + s.Address()})
	if api.KindOf(err) != api.KindInvalid || err == nil || !strings.Contains(err.Error(), "no secured connection to tls://"+s.Address()) {
		t.Errorf("%v", err)
	}
}

// A planner and a node that are there before their server, and through its restart.
func TestClientsBeforeTheirServerAndThroughItsRestart(t *testing.T) {
	keyring, own := bus.NewKeyring(), plannerOwn()
	s := bustest.New(t, bustest.Config{Planner: own})
	up := make(chan bool, 8)
	wait := func(c bus.Credential) *bus.Conn {
		return dial(t, bus.Options{Address: s.URL(), Credential: c, Wait: true, OnUp: func() { up <- true }})
	}
	p := wait(own)
	if err := errors.Join(authorize(p, keyring, own), serve(p, keyring, echo(make(chan api.NodeStatus, 1)))); err != nil {
		t.Fatal(err)
	}
	node := wait(keyring.Lend(asNode("n1")))
	plans := make(chan api.Plan, 1)
	if err := node.SubscribePlan("n1", func(p api.Plan) { plans <- p }); err != nil {
		t.Fatal(err)
	}
	for round := range uint64(2) {
		s.Start()
		receive(t, up)
		receive(t, up)
		if err := p.Flush(within(t)); err != nil {
			t.Fatal(err)
		}
		if r, err := node.Hello(within(t), status("n1")); err != nil || r.Plan.Epoch != 7 {
			t.Errorf("hello: %+v, %v", r, err)
		}
		if err := p.PublishPlan(api.Plan{V: api.Version, Node: "n1", Epoch: round + 1}); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, plans); got.Epoch != round+1 {
			t.Errorf("plan %+v", got)
		}
		s.Close()
	}
}
