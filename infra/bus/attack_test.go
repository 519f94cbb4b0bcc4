package bus_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
)

// Attacks on secrets. A test that passes is an attack that has failed.

// squatter listens in a planner's place, says info, and takes whoever connects for welcome.
type squatter struct {
	address string
	heard   chan []byte // Of each connection, all of it.
}

func squat(t *testing.T, address, info string) squatter {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	s := squatter{address: l.Addr().String(), heard: make(chan []byte, 64)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				var all bytes.Buffer
				_, _ = fmt.Fprintf(c, "INFO %s\r\n", info)
				lines := bufio.NewScanner(io.TeeReader(c, &all))
				for lines.Scan() {
					if strings.HasPrefix(lines.Text(), "PING") {
						_, _ = io.WriteString(c, "PONG\r\n")
					}
				}
				s.heard <- all.Bytes()
			}()
		}
	}()
	return s
}

// squatterInfo is an INFO as the embedded server's, with a nonce or without.
func squatterInfo(nonce string) string {
	info := `{"server_id":"x","version":"2.15.0","proto":1,"host":"127.0.0.1","port":4222,"max_payload":8388608,"auth_required":true,"headers":true`
	if nonce != "" {
		info += `,"nonce":"` + nonce + `"`
	}
	return info + "}"
}

// forms are the ways in which a secret could be read off the wire.
func forms(c bus.Credential) []string {
	raw, _ := hex.DecodeString(c.Secret)
	return []string{c.Secret, string(raw), base64.StdEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw),
		base64.StdEncoding.EncodeToString([]byte(c.Secret)), base64.RawURLEncoding.EncodeToString([]byte(c.Secret)), bus.HashOf(c)}
}

// Whoever listens where a planner does not, such as another user of the machine while it restarts, learns nobody's secret.
func TestAttackSquatter(t *testing.T) {
	for kind, p := range map[string]api.Principal{"user": asUser("ops", api.RoleOperate), "node": asNode("n1"), "application": asApp("app-20261129000000-0001"),
		"planner": {Kind: api.PrincipalPlanner}} {
		for _, nonce := range []string{"", "kTJ7Uo0hHBLY5Rg", strings.Repeat("n", 4000)} {
			t.Run(fmt.Sprintf("%s, nonce of %d", kind, len(nonce)), func(t *testing.T) {
				s := squat(t, "127.0.0.1:0", squatterInfo(nonce))
				c := bus.NewCredential(p.Login())
				o := bus.Options{Address: s.address, Credential: c, Timeout: time.Minute}
				if p.Kind == api.PrincipalNode {
					o.Credential.Secret, o.Secret = "", func() string { return c.Secret }
				}
				if conn, err := bus.Dial(o); err == nil {
					conn.Close()
				} else if p.Kind != api.PrincipalPlanner || nonce != "" {
					t.Fatal(err) // It has not come as far as it may.
				}
				heard := receive(t, s.heard)
				for _, form := range forms(c) {
					if bytes.Contains(heard, []byte(form)) {
						t.Errorf("%s is told: %.100s", c.Login, heard)
					}
				}
				for _, field := range []string{`"pass"`, `"auth_token"`} {
					if bytes.Contains(heard, []byte(field)) {
						t.Errorf("CONNECT has %s: %.100s", field, heard)
					}
				}
			})
		}
	}
}

// A server that others can be in front of is taken for a planner by its certificate alone, whatever its INFO says.
func TestAttackClearTextOffLoopback(t *testing.T) {
	for name, info := range map[string]string{"without tls_required": squatterInfo("kTJ7Uo0hHBLY5Rg"),
		"tls_required false": strings.Replace(squatterInfo(""), "{", `{"tls_required":false,"tls_available":false,`, 1)} {
		t.Run(name, func(t *testing.T) {
			s := squat(t, "127.0.0.1:0", info)
			_, port, _ := net.SplitHostPort(s.address)
			for _, address := range []string{"0.0.0.0:" + port, "nats://0.0.0.0:" + port} { // By it Linux reaches loopback.
				o := bus.Options{Address: address, Credential: bus.NewCredential("user-ann"), Timeout: time.Minute}
				conn, err := bus.Dial(o)
				if err == nil {
					conn.Close()
				}
				if api.KindOf(err) != api.KindInvalid || err == nil || !strings.Contains(err.Error(), "it has no TLS") || !strings.Contains(err.Error(), "plaintext: true") {
					t.Errorf("%s: %v", address, err)
				}
				if heard := receive(t, s.heard); len(heard) > 0 {
					t.Errorf("%s: it is told %q", address, heard)
				}
				o.Plaintext = true
				if conn, err = bus.Dial(o); err != nil {
					t.Errorf("%s, plaintext: %v", address, err)
				} else {
					conn.Close()
					receive(t, s.heard)
				}
			}
		})
	}
}

// A server on loopback has nobody go elsewhere in the clear, as to others of its cluster that it names.
func TestAttackAServerNamesOthersOffLoopback(t *testing.T) {
	elsewhere := squat(t, "127.0.0.1:0", squatterInfo(""))
	_, port, _ := net.SplitHostPort(elsewhere.address)
	here, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	ended := make(chan error, 1)
	go func() {
		for range 4 { // In between it tries the other one.
			c, err := here.Accept()
			if err != nil {
				ended <- err
				return
			}
			lines := bufio.NewScanner(c)
			info := strings.Replace(squatterInfo("kTJ7Uo0hHBLY5Rg"), "{", `{"connect_urls":["0.0.0.0:`+port+`"],`, 1)
			_, _ = fmt.Fprintf(c, "INFO %s\r\n", info)
			for lines.Scan() && !strings.HasPrefix(lines.Text(), "PING") {
			}
			_, _ = io.WriteString(c, "PONG\r\n")
			_ = c.Close()
		}
		ended <- nil
	}()
	dial(t, bus.Options{Address: here.Addr().String(), Credential: bus.NewCredential("user-ann"), Wait: true, Timeout: time.Minute})
	if err := receive(t, ended); err != nil {
		t.Fatal(err)
	}
	if len(elsewhere.heard) > 0 {
		t.Errorf("elsewhere is told %q", <-elsewhere.heard)
	}
}

// nonceOf is what an INFO asks to be signed.
func nonceOf(info string) []byte {
	var said struct{ Nonce string }
	_ = json.Unmarshal([]byte(strings.TrimPrefix(info, "INFO ")), &said)
	return []byte(said.Nonce)
}

// intruder is a connection that says what it likes.
type intruder struct {
	*testing.T
	conn  net.Conn
	lines *bufio.Reader
	nonce []byte
}

func intrude(t *testing.T, s server) *intruder {
	t.Helper()
	conn, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	i := &intruder{T: t, conn: conn, lines: bufio.NewReader(conn)}
	info, err := i.lines.ReadString('\n')
	if i.nonce = nonceOf(info); err != nil || len(i.nonce) == 0 {
		t.Fatalf("no nonce in %q, %v", info, err)
	}
	return i
}

// connect reports whether the server lets in whoever says that.
func (i *intruder) connect(says map[string]any) bool {
	i.Helper()
	says["protocol"], says["verbose"] = 1, false
	body, err := json.Marshal(says)
	if err == nil {
		_, err = fmt.Fprintf(i.conn, "CONNECT %s\r\nPING\r\n", body)
	}
	for err == nil {
		var line string
		if line, err = i.lines.ReadString('\n'); strings.HasPrefix(line, "PONG") {
			return true
		}
		if strings.HasPrefix(line, "-ERR") {
			if !strings.Contains(line, "Authorization Violation") {
				i.Errorf("refused by %q", line)
			}
			return false
		}
	}
	return false
}

// Nobody is let in by anything but a signature of this connection's nonce by a key of the login.
func TestAttackSignature(t *testing.T) { both(t, testAttackSignature) }

func testAttackSignature(t *testing.T, run starter) {
	w := planner(t, run, bus.ServerConfig{})
	ann, bob := w.keyring.Lend(asUser("ann", api.RoleOperate)), w.keyring.Lend(asUser("bob", api.RoleView))
	node := w.keyring.Lend(asNode("n1"))
	stranger := bus.NewCredential("user-ann")
	earlier := intrude(t, w)
	if !earlier.connect(map[string]any{"user": ann.Login, "sig": bus.ProofOf(ann, earlier.nonce).Sig}) {
		t.Fatal("ann herself is refused")
	}
	cut := func(c bus.Credential, nonce []byte, n int) string {
		raw, _ := base64.RawURLEncoding.DecodeString(bus.ProofOf(c, nonce).Sig)
		return base64.RawURLEncoding.EncodeToString(raw[:n])
	}
	spliced := func(nonce []byte) string { // Ann's public key with bob's signature.
		a, _ := base64.RawURLEncoding.DecodeString(bus.ProofOf(ann, earlier.nonce).Sig)
		b, _ := base64.RawURLEncoding.DecodeString(bus.ProofOf(bob, nonce).Sig)
		return base64.RawURLEncoding.EncodeToString(append(b[:64:64], a[64:]...))
	}
	for name, says := range map[string]func(nonce []byte) map[string]any{
		"the signature of another connection's nonce": func([]byte) map[string]any {
			return map[string]any{"user": ann.Login, "sig": bus.ProofOf(ann, earlier.nonce).Sig}
		},
		"the signature of no nonce": func([]byte) map[string]any {
			return map[string]any{"user": ann.Login, "sig": bus.ProofOf(ann, nil).Sig}
		},
		"the signature of a key that nobody knows": func(n []byte) map[string]any {
			return map[string]any{"user": ann.Login, "sig": bus.ProofOf(stranger, n).Sig}
		},
		"another's login with one's own key": func(n []byte) map[string]any {
			return map[string]any{"user": ann.Login, "sig": bus.ProofOf(bob, n).Sig}
		},
		"a node's login with a user's key": func(n []byte) map[string]any {
			return map[string]any{"user": node.Login, "sig": bus.ProofOf(ann, n).Sig}
		},
		"another's public key with one's own signature": func(n []byte) map[string]any {
			return map[string]any{"user": ann.Login, "sig": spliced(n)}
		},
		"a login that nobody has": func(n []byte) map[string]any {
			return map[string]any{"user": "user-mallory", "sig": bus.ProofOf(ann, n).Sig}
		},
		"no login": func(n []byte) map[string]any { return map[string]any{"sig": bus.ProofOf(ann, n).Sig} },
		"the planner's login with a user's key": func(n []byte) map[string]any {
			return map[string]any{"user": "planner", "sig": bus.ProofOf(ann, n).Sig}
		},
		"a user's key in the planner's way": func(n []byte) map[string]any {
			return map[string]any{"user": "planner", "nkey": ann.Key(), "sig": cut(ann, n, 64)}
		},
		"a signature without its key": func(n []byte) map[string]any {
			return map[string]any{"user": ann.Login, "sig": cut(ann, n, 64)}
		},
		"no signature":       func([]byte) map[string]any { return map[string]any{"user": ann.Login} },
		"nonsense as one":    func([]byte) map[string]any { return map[string]any{"user": ann.Login, "sig": "%%%"} },
		"a public key alone": func([]byte) map[string]any { return map[string]any{"user": ann.Login, "nkey": ann.Key()} },
		"a secret that is told": func([]byte) map[string]any {
			return map[string]any{"user": ann.Login, "pass": ann.Secret}
		},
		"the public key as a secret": func([]byte) map[string]any {
			return map[string]any{"user": ann.Login, "pass": ann.Key()}
		},
		"a hash as a secret": func([]byte) map[string]any {
			return map[string]any{"user": ann.Login, "pass": bus.HashOf(ann)}
		},
		"a renewal by the public key in a hash's place": func(n []byte) map[string]any {
			return map[string]any{"user": ann.Login, "sig": bus.RenewalOf(bob, ann.Login, ann.Key(), n).Sig}
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := intrude(t, w)
			if i.connect(says(i.nonce)) {
				t.Error("let in")
			}
		})
	}
	t.Run("a second CONNECT as another", func(t *testing.T) {
		i := intrude(t, w)
		if !i.connect(map[string]any{"user": bob.Login, "sig": bus.ProofOf(bob, i.nonce).Sig}) {
			t.Fatal("bob is refused")
		}
		if i.connect(map[string]any{"user": ann.Login}) {
			t.Error("let in")
		}
	})
}

// A connection by an nkey would not be found by its login when that is revoked.
func TestAttackAnNkeyHidesALogin(t *testing.T) {
	keyring := bus.NewKeyring()
	w := planner(t, func(t *testing.T, cfg bus.ServerConfig) server { return start(t, cfg) }, bus.ServerConfig{Keyring: keyring})
	ann := keyring.Lend(asUser("ann", api.RoleOperate))
	i := intrude(t, w)
	if i.connect(map[string]any{"user": ann.Login, "nkey": ann.Key(), "sig": bus.ProofOf(ann, i.nonce).Sig}) {
		t.Error("let in")
	}
}

// What an earlier release has kept of a secret is renewed at the first connection, and proves nothing from then on.
func TestAHashIsRenewed(t *testing.T) { both(t, testAHashIsRenewed) }

func testAHashIsRenewed(t *testing.T, run starter) {
	keyring := bus.NewKeyring()
	full := errors.New("the disk is full")
	renewed := make(chan string, 8)
	fault := full
	keyring.OnRenewed = func(login, hash, key string) error {
		renewed <- login + " " + hash + " " + key
		return fault
	}
	w := planner(t, run, bus.ServerConfig{Keyring: keyring})
	ann, other := bus.NewCredential("user-ann"), bus.NewCredential("user-ann")
	keyring.Put(asUser("ann", api.RoleOperate), bus.HashOf(ann), bus.HashOf(other))
	enter := func(says func(nonce []byte) map[string]any) bool {
		t.Helper()
		i := intrude(t, w)
		return i.connect(says(i.nonce))
	}
	by := func(p func(nonce []byte) bus.Proof) func(nonce []byte) map[string]any {
		return func(n []byte) map[string]any { return map[string]any{"user": ann.Login, "sig": p(n).Sig} }
	}
	proves := by(func(n []byte) bus.Proof { return bus.ProofOf(ann, n) })
	stranger := bus.NewCredential("user-ann")
	if enter(func([]byte) map[string]any { return map[string]any{"user": ann.Login, "pass": ann.Secret} }) {
		t.Error("a user's secret that is told is taken")
	}
	if enter(by(func(n []byte) bus.Proof { return bus.ProofOf(stranger, n) })) {
		t.Error("another secret renews")
	}
	if enter(proves) {
		t.Error("let in though the renewal cannot be kept")
	}
	if got, want := receive(t, renewed), ann.Login+" "+bus.HashOf(ann)+" "+ann.Key(); got != want {
		t.Errorf("to be kept: %s, want %s", got, want)
	}
	fault = nil
	if !enter(proves) || !enter(proves) {
		t.Error("ann is refused")
	}
	if len(renewed) != 1 {
		t.Errorf("renewed %d times", len(renewed))
	}
	if enter(by(func(n []byte) bus.Proof { return bus.RenewalOf(stranger, ann.Login, bus.HashOf(ann), n) })) {
		t.Error("the hash proves after its renewal")
	}
	if !enter(by(func(n []byte) bus.Proof { return bus.ProofOf(other, n) })) {
		t.Error("her other credential is refused")
	}
	if _, err := keyring.Knows(ann); err != nil {
		t.Error(err)
	}
	// The driver of an application that an earlier release has registered has no other way until that ends.
	app := bus.NewCredential("app-20261129000000-0001")
	keyring.Put(asApp(app.Login), bus.HashOf(app))
	if !enter(func([]byte) map[string]any { return map[string]any{"user": app.Login, "pass": app.Secret} }) {
		t.Error("a driver of an earlier release is refused")
	}
	keyring.Put(asApp(app.Login), app.Key())
	for what, pass := range map[string]string{"secret": app.Secret, "key": app.Key(), "hash": bus.HashOf(app), "nothing": ""} {
		if enter(func([]byte) map[string]any { return map[string]any{"user": app.Login, "pass": pass} }) {
			t.Errorf("an application's %s is taken", what)
		}
	}
}

// The jar's proof is the same (CredentialTest.scala).
func TestAProofIsAsTheJarMakesIt(t *testing.T) {
	c := bus.Credential{Login: "user-ann", Secret: strings.Repeat("0123456789abcdef", 4)}
	if got, want := c.Key(), "UAHPLMONRAFW2LEQHYVAL2H5FFHL6CQ2YDB5YAHUYYT7NGLOG6ODPOCV"; got != want {
		t.Errorf("key %s, want %s", got, want)
	}
	if got, want := bus.ProofOf(c, []byte("kTJ7Uo0hHBLY5Rg")).Sig, "20k0XetZWkwfpcewfEBXfIF7UVcGI404jPbQoprDKUYm7J68Rr8KHCLsjKBx6xP0DDjw5hfbN2vcC4P6lEMuDg"+
		"71sc2IC20skD4qBej9KU6_ChrAw9wA9MYn9pluN5w3hfCbML3DXO5sO6by6fM40NDSicqOF2jWcytIh1GvFec"; got != want {
		t.Errorf("proof %s, want %s", got, want)
	}
}

// The block of a nats-server's configuration has no secret.
func TestAttackTheServersConfigurationIsRead(t *testing.T) {
	own := plannerOwn()
	block, err := own.ServerAuthorization()
	if err != nil || !regexp.MustCompile(`nkey: U[A-Z2-7]{55}\b`).MatchString(block) {
		t.Errorf("%s, %v", block, err)
	}
	for _, form := range forms(own) {
		if strings.Contains(block, form) {
			t.Errorf("a secret is in %s", block)
		}
	}
}
