package bus_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
)

// raw connects as any program that has the credential could; it may subscribe and publish
// what it likes.
func raw(t *testing.T, s server, c bus.Credential, more ...nats.Option) *nats.Conn {
	t.Helper()
	options := append([]nats.Option{nats.CustomInboxPrefix("_INBOX_" + c.Login), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})}, more...)
	if c.Login != "" {
		options = append(options, c.Proves(nil)...)
	}
	conn, err := nats.Connect("nats://"+s.Address(), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// Nobody connects who has no credential, or not the right one, on loopback either.
func TestNobodyConnectsWithoutACredential(t *testing.T) {
	both(t, testNobodyConnectsWithoutACredential)
}

func testNobodyConnectsWithoutACredential(t *testing.T, run starter) {
	var mu sync.Mutex
	var refused []bus.Refusal
	keyring := bus.NewKeyring()
	keyring.OnRefused = func(r bus.Refusal) { mu.Lock(); refused = append(refused, r); mu.Unlock() }
	w := planner(t, run, bus.ServerConfig{Keyring: keyring})
	expired := asUser("eve", api.RoleOperate)
	expired.Until = time.Now().Add(-time.Second)
	revoked := keyring.Lend(asUser("bob", api.RoleOperate))
	keyring.Remove(revoked.Login)
	none := "no credentials for this planner: ask its operator for `pacer auth issue "
	for name, c := range map[string]struct {
		credential bus.Credential
		says       string
	}{
		"none":           {bus.Credential{}, none + "--user NAME"},
		"a node without": {bus.Credential{Login: "node-n1"}, "refused the credentials of node-n1"},
		"unknown":        {bus.NewCredential("user-mallory"), "refused the credentials of user-mallory"},
		"another secret": {bus.NewCredential(keyring.Lend(asUser("ann", api.RoleView)).Login), "refused the credentials of user-ann"},
		"planner":        {bus.NewCredential("planner"), "refused the credentials of planner"},
		"expired":        {keyring.Lend(expired), "refused the credentials of user-eve"},
		"revoked":        {revoked, "refused the credentials of user-bob"},
	} {
		conn, err := bus.Dial(bus.Options{Address: w.Address(), Credential: c.credential})
		if err == nil {
			conn.Close()
		}
		if api.KindOf(err) != api.KindDenied || err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(refused) < 6 {
		t.Errorf("%d refusals are known: %v", len(refused), refused)
	}
	for _, r := range refused {
		if r.What != "connect" || r.Why == nil {
			t.Errorf("%+v", r)
		}
	}
}

// Each principal tries every subject of every other one: what it publishes reaches nobody, and
// it hears nothing.
func TestPrincipalsReachOnlyTheirSubjects(t *testing.T) {
	both(t, testPrincipalsReachOnlyTheirSubjects)
}

func testPrincipalsReachOnlyTheirSubjects(t *testing.T, run starter) {
	keyring := bus.NewKeyring()
	w := planner(t, run, bus.ServerConfig{Keyring: keyring})
	principals := map[string]api.Principal{"user-viv": asUser("viv", api.RoleView), "user-ann": asUser("ann", api.RoleSubmit), "user-op": asUser("op", api.RoleOperate),
		"node-n1": asNode("n1"), "node-n2": asNode("n2"), "app-1": asApp("app-1"), "app-2": asApp("app-2")}
	mine := func(login, subject string) bool {
		id := strings.TrimPrefix(login, "node-")
		switch {
		case strings.HasPrefix(login, "node-"):
			return strings.HasPrefix(subject, "pacer.v1.node."+id+".") || strings.HasPrefix(subject, "_INBOX_"+login+".")
		case strings.HasPrefix(subject, "pacer.v1.register."):
			return strings.HasSuffix(subject, "."+login)
		}
		return strings.HasPrefix(subject, "pacer.v1.app."+login+".") || strings.HasPrefix(subject, "pacer.v1.control."+login+".") || strings.HasPrefix(subject, "_INBOX_"+login+".")
	}
	var publishes, subscribes []string
	for login := range principals {
		publishes = append(publishes, "pacer.v1.register."+login, "pacer.v1.control."+login+".apps", "pacer.v1.app."+login+".events", "_INBOX_"+login+".x")
		subscribes = append(subscribes, "pacer.v1.app."+login+".directive", "_INBOX_"+login+".>")
	}
	for _, node := range []string{"n1", "n2"} {
		publishes = append(publishes, "pacer.v1.node."+node+".hello", "pacer.v1.node."+node+".status")
		subscribes = append(subscribes, "pacer.v1.node."+node+".plan", "pacer.v1.node."+node+".logs")
	}
	// What is the planner's alone.
	publishes = append(publishes, "pacer.v1.node.n1.plan", "pacer.v1.node.n1.logs", "pacer.v1.app.app-1.directive", "_INBOX_planner.x", "$SYS.REQ.USER.AUTH")
	subscribes = append(subscribes, ">", "pacer.v1.>", "pacer.v1.*.*.*", "pacer.v1.register.*", "pacer.v1.control.*.*", "pacer.v1.app.*.events", "pacer.v1.app.*.directive",
		"pacer.v1.node.*.plan", "_INBOX_planner.>", "_INBOX.>", "$SYS.>", "$SYS.REQ.USER.AUTH")
	denied := map[string]bool{}
	var mu sync.Mutex
	cases := 0
	for login, p := range principals {
		violations := make(chan string, 256)
		c := raw(t, w, keyring.Lend(p), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { violations <- err.Error() }))
		try := func(what, subject string, do func() error) {
			cases++
			if err := errors.Join(do(), c.Flush()); err != nil {
				t.Fatalf("%s %s %s: %v", login, what, subject, err)
			}
			allowed := true
			select {
			case v := <-violations:
				allowed = !strings.Contains(v, subject)
			case <-time.After(20 * time.Millisecond):
				if !mine(login, subject) { // It may only be late.
					select {
					case <-violations:
						allowed = false
					case <-time.After(5 * time.Second):
					}
				}
			}
			if allowed != mine(login, subject) {
				t.Errorf("%s %s %s: allowed %v, want %v", login, what, subject, allowed, !allowed)
			}
			mu.Lock()
			denied[login] = denied[login] || !allowed
			mu.Unlock()
		}
		for _, subject := range publishes {
			if strings.HasPrefix(subject, "_INBOX_"+login+".") || mine(login, subject) {
				continue // What it may is in TestEveryCallReachesItsHandler.
			}
			try("publishes", subject, func() error { return c.Publish(subject, []byte("{}")) })
		}
		for _, subject := range subscribes {
			if mine(login, subject) {
				continue
			}
			try("subscribes to", subject, func() error { _, err := c.SubscribeSync(subject); return err })
		}
	}
	t.Logf("auth.cases %d", cases)
	if len(denied) != len(principals) || cases < 200 {
		t.Errorf("%d cases: %v", cases, denied)
	}
}

// The planner answers into no inbox but the asker's, so that it speaks for nobody.
func TestAnAnswerGoesToWhoAsks(t *testing.T) { both(t, testAnAnswerGoesToWhoAsks) }

func testAnAnswerGoesToWhoAsks(t *testing.T, run starter) {
	keyring := bus.NewKeyring()
	w := planner(t, run, bus.ServerConfig{Keyring: keyring})
	node := w.as(t, asNode("n1"))
	plans := make(chan api.Plan, 4)
	if err := errors.Join(node.SubscribePlan("n1", func(p api.Plan) { plans <- p }), node.Flush(within(t))); err != nil {
		t.Fatal(err)
	}
	user := raw(t, w, keyring.Lend(asUser("ann", api.RoleOperate)))
	if err := errors.Join(user.PublishRequest("pacer.v1.control.user-ann.apps", "pacer.v1.node.n1.plan", []byte(`{"v":1}`)), user.Flush()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.as(t, asUser("ann", api.RoleView)).Control(within(t), api.VerbPing, api.ControlRequest{}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.planner.PublishPlan(api.Plan{V: api.Version, Node: "n1", Epoch: 1}), w.planner.Flush(within(t))); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, plans); got.Epoch != 1 {
		t.Errorf("the planner was had to send %+v", got)
	}
}

// A node keeps trying whatever is wrong, says what is, and takes a secret that comes later.
func TestWaitingWithAWrongSecretSaysSoAndGoesOnWithTheRightOne(t *testing.T) {
	both(t, testWaitingWithAWrongSecret)
}

func testWaitingWithAWrongSecret(t *testing.T, run starter) {
	w := planner(t, run, bus.ServerConfig{})
	right := w.keyring.Lend(asNode("n1"))
	var mu sync.Mutex
	secret := ""
	faults, up := make(chan error, 64), make(chan bool, 1)
	c := dial(t, bus.Options{Address: w.Address(), Credential: bus.Credential{Login: right.Login}, Wait: true,
		Secret:  func() string { mu.Lock(); defer mu.Unlock(); return secret },
		OnFault: func(err error) { faults <- err }, OnUp: func() { up <- true }})
	if c.Connected() {
		t.Error("it is connected")
	}
	if err := receive(t, faults); !strings.Contains(err.Error(), "no credentials for this planner: ask its operator for `pacer auth issue --node n1`") {
		t.Errorf("fault %v", err)
	}
	mu.Lock()
	secret = right.Secret
	mu.Unlock()
	receive(t, up)
	if _, err := c.Hello(within(t), status("n1")); err != nil {
		t.Error(err)
	}
}

// Whoever is revoked is out at once.
func TestARevokedConnectionEnds(t *testing.T) {
	keyring := bus.NewKeyring()
	s := start(t, bus.ServerConfig{Keyring: keyring})
	p := inProcess(t, s)
	if err := errors.Join(serve(p, keyring, echo(nil)), p.Flush(within(t))); err != nil {
		t.Fatal(err)
	}
	w := world{server: s, keyring: keyring, planner: p}
	down, faults := make(chan error, 8), make(chan error, 64)
	c := w.as(t, asUser("ann", api.RoleSubmit), func(o *bus.Options) {
		o.OnDown, o.OnFault = func(err error) { down <- err }, func(err error) { faults <- err }
	})
	other := w.as(t, asUser("bob", api.RoleSubmit))
	keyring.Remove("user-ann")
	if _, err := c.Control(within(t), api.VerbPing, api.ControlRequest{}); api.KindOf(err) != api.KindDenied || err == nil {
		t.Errorf("before it is disconnected: %v", err)
	}
	s.Disconnect("user-ann")
	receive(t, down)
	if err := receive(t, faults); api.KindOf(err) != api.KindDenied {
		t.Errorf("fault %v", err)
	}
	if _, err := other.Control(within(t), api.VerbPing, api.ControlRequest{}); err != nil {
		t.Errorf("another user: %v", err)
	}
}

// A node that was revoked and keeps its connection, as on a server that is not embedded, is not heard
// and told nothing.
func TestARevokedNodeIsNeitherHeardNorTold(t *testing.T) {
	both(t, testARevokedNodeIsNeitherHeardNorTold)
}

func testARevokedNodeIsNeitherHeardNorTold(t *testing.T, run starter) {
	w := planner(t, run, bus.ServerConfig{})
	plans := make(chan api.Plan, 8)
	nodes := map[string]*bus.Conn{}
	for _, name := range []string{"n1", "n2"} {
		nodes[name] = w.as(t, asNode(name))
		if err := errors.Join(nodes[name].SubscribePlan(name, func(p api.Plan) { plans <- p }),
			nodes[name].ServeLogs(name, func(api.LogRequest) (api.LogReply, error) { return api.LogReply{}, nil }), nodes[name].Flush(within(t))); err != nil {
			t.Fatal(err)
		}
	}
	refused := make(chan bus.Refusal, 8)
	w.keyring.OnRefused = func(r bus.Refusal) { refused <- r }
	w.keyring.Remove("node-n1")
	if _, err := nodes["n1"].Hello(within(t), status("n1")); api.KindOf(err) != api.KindDenied || err == nil {
		t.Errorf("hello: %v", err)
	}
	if r := receive(t, refused); r.Login != "node-n1" {
		t.Errorf("refused %+v", r)
	}
	for _, name := range []string{"n1", "n2"} {
		if err := errors.Join(nodes[name].PublishStatus(status(name)), nodes[name].Flush(within(t)),
			w.planner.PublishPlan(api.Plan{V: api.Version, Epoch: 9, Node: name}), w.planner.Flush(within(t))); err != nil {
			t.Fatal(err)
		}
	}
	// What the first one was to hear or say went before.
	if s := receive(t, w.status); s.Node != "n2" {
		t.Errorf("a status of %s is heard", s.Node)
	}
	if p := receive(t, plans); p.Node != "n2" {
		t.Errorf("node %s is told a Plan", p.Node)
	}
	if r := receive(t, refused); r.Login != "node-n1" || r.What == bus.RefusedConnect {
		t.Errorf("refused %+v", r)
	}
	if _, err := w.planner.Logs(within(t), "n1", api.LogRequest{}); api.KindOf(err) != api.KindDenied || err == nil {
		t.Errorf("logs: %v", err)
	}
}

func TestCredentialFaultsAreAllNamedWithoutSecrets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "credentials")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		text  string
		mode  os.FileMode
		wants []string
	}{
		{"user-ann:hunter2\nuser-bob:hunter2\nno colon hunter2\nuser-x:\n", 0o666, []string{"chmod o-r", "chmod go-w", "line 2: there are two", "line 3: want login:secret", "line 4: want login:secret"}},
		{"\n# hunter2\n", 0o600, []string{"no line login:secret"}},
		{"node-n1:hunter2\n", 0o600, []string{"those of node-n1, want a user's: `pacer auth issue`"}},
		{"planner:hunter2\n", 0o600, []string{"those of planner"}},
		{"hunter2", 0o600, []string{"line 1"}},
		{strings.Repeat("#", 70<<10) + "\nuser-ann:hunter2", 0o600, []string{"credentials"}},
	} {
		write(c.text, c.mode)
		_, err := bus.LoadCredential(path, api.PrincipalUser)
		if err == nil {
			t.Errorf("%.40q was taken", c.text)
			continue
		}
		for _, want := range append(c.wants, path) {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in %q", want, err)
			}
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("a secret is in %q", err)
		}
	}
	own := bus.NewCredential("user-ann")
	write(string(own.Encode()), 0o640)
	if c, err := bus.LoadCredential(path, api.PrincipalUser); err != nil || c.Login != own.Login || c.Secret != own.Secret || c.Key() != own.Key() {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := bus.LoadCredential(path+".gone", api.PrincipalUser); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestCredentialsAreFoundByAddress(t *testing.T) {
	for server, want := range map[string]string{"127.0.0.1:4222": "127.0.0.1:4222", "localhost:1": "127.0.0.1:1", "[::1]:4222": "127.0.0.1:4222", "0.0.0.0:7": "127.0.0.1:7",
		"tls://Nats.example:4222": "nats.example:4222", "nonsense": "127.0.0.1:4222", ":9": "127.0.0.1:9", "[fe80::1]:2": "fe80::1:2"} {
		if got := bus.CredentialPath("/d", server); got != "/d/"+want {
			t.Errorf("%s: %s, want %s", server, got, want)
		}
	}
}

// Who expires is out when it does.
func TestACredentialEndsWithItsTime(t *testing.T) {
	keyring := bus.NewKeyring()
	short := asUser("ann", api.RoleView)
	short.Until = time.Now().Add(-time.Hour)
	c := keyring.Lend(short)
	nonce := []byte("of a connection")
	if _, err := keyring.Prove(bus.ProofOf(c, nonce)); api.KindOf(err) != api.KindDenied || err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("%v", err)
	}
	short.Until = time.Now().Add(time.Hour)
	keyring.Put(short, c.Key())
	if p, err := keyring.Prove(bus.ProofOf(c, nonce)); err != nil || p.Name != "ann" {
		t.Errorf("%v, %v", p, err)
	}
}
