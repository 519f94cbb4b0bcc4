package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/sparkpacer/pacer/api"
)

// MaxPayload is the largest message in bytes.
const MaxPayload = 8 << 20

// ServerConfig says where the embedded NATS server listens and who may connect.
type ServerConfig struct {
	// Listen is host:port; port 0 picks a free one, "" listens nowhere: only
	// Connect reaches the server then.
	Listen string
	// Keyring is who may connect; nil is nobody but this process.
	Keyring *Keyring
	// TLS are the server's own certificate and key (CA counts for nothing): with
	// them all connections but those of Connect and Pipe are secured. An address
	// that is not loopback needs them, or Plaintext.
	TLS TLS
	// Plaintext allows such an address without TLS.
	Plaintext bool
	// Logger gets the server's warnings and errors; nil discards them.
	Logger *slog.Logger
}

// Validate reports every fault of c at once. It does not open any file.
func (c ServerConfig) Validate() error {
	if c.Listen == "" {
		return nil
	}
	if err := ValidateAddress(c.Listen); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return errors.Join(c.TLS.Validate(), NeedsTLS("listen", c.Listen, c.TLS, c.Plaintext))
}

// NeedsTLS returns an error that says how to get it unless a server that listens at
// address has it, or need not have it.
func NeedsTLS(what, address string, t TLS, plaintext bool) error {
	if plaintext || t.Cert != "" || IsLoopback(address) {
		return nil
	}
	host, _, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "NAME"
	}
	return fmt.Errorf(
		"%s: %s can be reached from other machines, so a certificate is needed: run `pacer auth init %s`, or give tls-cert "+
			"and tls-key, or set plaintext: true", what, address, host)
}

// ValidateAddress returns an error unless address is host:port with a numeric
// port.
func ValidateAddress(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("address %q: want host:port", address)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("address %q: the port is not a number from 0 to 65535", address)
	}
	return nil
}

// IsLoopback reports whether address (host:port) is reached from this machine
// only. The name localhost counts; an empty host means every interface.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// Server is an embedded NATS server: no signal handling, no output of its own,
// no storage. Its methods are safe for concurrent use.
type Server struct {
	nats    *server.Server
	address string
	keyring *Keyring
	own     Credential // The planner's, made at start.
	stop    sync.Once
	// watching is who watches the connections until unwatch.
	watching sync.WaitGroup
	unwatch  func()
}

// inProcess stands for the address of a server that listens nowhere.
const inProcess = "in process"

// tlsTimeout bounds a handshake; a JVM on a busy machine takes a second or two.
const tlsTimeout = 10 * time.Second

// credentialTimeout is how long a connection may take, after that, to show its credential.
const credentialTimeout = 5 * time.Second

// startTimeout bounds how long the server may take until it listens.
const startTimeout = 10 * time.Second

// StartServer starts a server and returns once it listens.
func StartServer(cfg ServerConfig) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Keyring == nil {
		cfg.Keyring = NewKeyring()
	}
	own := NewCredential(api.Principal{Kind: api.PrincipalPlanner}.Login())
	o, err := cfg.options(own)
	if err != nil {
		return nil, fmt.Errorf("bus server: %w", err)
	}
	ns, err := server.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("bus server: %w", err)
	}
	log := newServerLog(cfg.Logger, ns, cfg.Keyring)
	ns.SetLoggerV2(log, false, false, false)
	go ns.Start()
	ready := make(chan bool, 1)
	go func() { ready <- ns.ReadyForConnections(startTimeout) }()
	select {
	case message := <-log.fatal:
		ns.Shutdown()
		if strings.Contains(message, syscall.EADDRINUSE.Error()) {
			return nil,
				api.Errorf(api.KindConflict,
					"%s is in use, by another planner or something else: stop that, or give another planner.listen", cfg.Listen)
		}
		return nil, fmt.Errorf("bus server on %s: %s", cfg.Listen, message)
	case ok := <-ready:
		if !ok {
			ns.Shutdown()
			return nil, fmt.Errorf("bus server on %s did not start within %v", cfg.Listen, startTimeout)
		}
	}
	ctx, unwatch := context.WithCancel(context.Background())
	s := &Server{nats: ns, address: inProcess, keyring: cfg.Keyring, own: own, unwatch: unwatch}
	if cfg.Listen != "" {
		s.address = ns.Addr().String()
		s.watching.Go(func() { s.watch(ctx) })
	}
	return s, nil
}

// mostConnections is that of the embedded server: a driver has one, and another one while it
// registers.
const mostConnections = 8192

// mostPending is how much the server holds for one client. The planner's own connection takes everything at
// once (intake), but a few clients may have a large message ready in one moment.
const mostPending = 16 * MaxPayload

// options bounds what clients can make the server hold: mostPending of undelivered
// messages per client, mostConnections.
func (c ServerConfig) options(own Credential) (*server.Options, error) {
	host, text, _ := net.SplitHostPort(c.Listen)
	port, _ := strconv.Atoi(text)
	port = cmp.Or(port, server.RANDOM_PORT)
	host = cmp.Or(host, "0.0.0.0")
	o := &server.Options{
		ServerName: "pacer", Host: host, Port: port, DontListen: c.Listen == "",
		NoSigs: true, NoLog: true, NoSystemAccount: true,
		CustomClientAuthentication: gate{c.Keyring, own.Key()}, AuthTimeout: credentialTimeout.Seconds(),
		AlwaysEnableNonce: true,
		MaxConn:           mostConnections, MaxPayload: MaxPayload, MaxPending: mostPending, MaxClosedClients: 16,
		PingInterval: 5 * time.Second, MaxPingsOut: 2, WriteDeadline: 5 * time.Second,
	}
	if c.TLS.Cert != "" {
		var err error
		if o.TLSConfig, err = c.TLS.Serve(func(err error) {
			newServerLog(c.Logger, nil, c.Keyring).Warnf("%v", err)
		}); err != nil {
			return nil, err
		}
		o.TLS, o.TLSTimeout = true, tlsTimeout.Seconds()
	}
	return o, nil
}

// gate lets clients into an embedded server.
type gate struct {
	keyring *Keyring
	own     string // The planner's key.
}

// Check implements server.Authentication.
func (g gate) Check(c server.ClientAuthentication) bool {
	o, nonce := c.GetOpts(), c.GetNonce()
	if o.Nkey == g.own && signed(g.own, nonce, o.Sig) {
		c.RegisterUser(&server.User{Username: string(api.PrincipalPlanner)})
		return true
	}
	p, err := g.keyring.Prove(Proof{Login: o.Username, Sig: o.Sig, Nonce: nonce, Told: o.Password})
	if o.Nkey != "" {
		err = errors.New("nobody but a planner connects by an nkey: connections are found by their logins")
	} else if err == nil && g.keyring.rests.resting(o.Username, time.Now()) != nil {
		return false // It has been told of.
	}
	if err != nil {
		where := inProcess
		if a := c.RemoteAddress(); a != nil {
			where = a.String()
		}
		g.keyring.refuse(Refusal{Login: api.Clip(cmp.Or(o.Username, o.Nkey), api.MostToken), From: where,
			What: RefusedConnect, Why: err})
		return false
	}
	r := rightsOf(p)
	allowed := &server.Permissions{Publish: &server.SubjectPermission{Allow: r.publish},
		Subscribe: &server.SubjectPermission{Allow: r.subscribe}}
	if r.responds {
		allowed.Response = &server.ResponsePermission{MaxMsgs: 1, Expires: replyWindow}
	}
	c.RegisterUser(&server.User{Username: o.Username, Permissions: allowed, ConnectionDeadline: p.Until})
	return true
}

// Address is the host:port it listens on, or "in process".
func (s *Server) Address() string { return s.address }

// Connect returns a connection inside the process, without a socket and with
// the planner's rights.
func (s *Server) Connect(options Options) (*Conn, error) {
	if s == nil {
		return nil, errors.New("bus server: not started")
	}
	options.Credential = s.own
	sv := &sieve{}
	c, err := s.dial(options, func() (net.Conn, error) {
		conn, err := s.Pipe()
		if err != nil {
			return nil, err
		}
		return sv.through(conn), nil
	})
	if err == nil {
		c.sieve = sv
	}
	return c, err
}

// ConnectAs is Connect with the rights of p, which may connect as long as the keyring has it.
func (s *Server) ConnectAs(p api.Principal, options Options) (*Conn, error) {
	if s == nil {
		return nil, errors.New("bus server: not started")
	}
	options.Credential, options.Secret = s.keyring.Lend(p), nil
	return s.dial(options, s.Pipe)
}

func (s *Server) dial(options Options, dialer func() (net.Conn, error)) (*Conn, error) {
	options.Dialer = dialer
	options.Address = DefaultAddress // No socket is opened: the address is for messages.
	if s.address != inProcess {
		options.Address = s.address
	}
	return Dial(options)
}

// Disconnect ends the connections of a login.
func (s *Server) Disconnect(login string) {
	if s == nil {
		return
	}
	open, err := s.nats.Connz(&server.ConnzOptions{Username: true, State: server.ConnOpen, Limit: mostConnections})
	if err != nil {
		return // The server has stopped.
	}
	for _, c := range open.Conns {
		if c.AuthorizedUser == login {
			_ = s.nats.DisconnectClientByID(c.Cid)
		}
	}
}

// Pipe returns a new connection inside the process, for Options.Dialer.
func (s *Server) Pipe() (net.Conn, error) {
	conn, err := s.nats.InProcessConn()
	if err != nil {
		return nil, fmt.Errorf("bus server: %w", err)
	}
	return conn, nil
}

// Close disconnects every client and returns when the server has stopped. A
// second call does nothing.
func (s *Server) Close() {
	s.stop.Do(func() {
		s.unwatch()
		s.watching.Wait()
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
	})
}

// serverLog passes what matters on to slog and keeps the first fatal message,
// which the NATS server expects to end the process.
type serverLog struct {
	log     *slog.Logger
	server  *server.Server
	keyring *Keyring
	fatal   chan string
}

func newServerLog(log *slog.Logger, ns *server.Server, keyring *Keyring) *serverLog {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &serverLog{log: log.With("component", "bus"), server: ns, keyring: keyring, fatal: make(chan string, 1)}
}

func (l *serverLog) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l *serverLog) Debugf(format string, v ...any)  { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l *serverLog) Tracef(string, ...any)           {}
func (l *serverLog) Warnf(format string, v ...any)   { l.log.Warn(fmt.Sprintf(format, v...)) }

// Errorf also tells of what a client has tried and may not: the server has no other word for it.
func (l *serverLog) Errorf(format string, v ...any) {
	line := fmt.Sprintf(format, v...)
	l.log.Warn(line)
	m := violation.FindStringSubmatch(line)
	if m == nil {
		return
	}
	refusal := Refusal{From: m[1], What: strings.ToLower(m[3]) + " of " + m[4],
		Why: errors.New("the server does not permit that")}
	if id, err := strconv.ParseUint(m[2], 10, 64); err == nil {
		if c := l.server.GetClient(id); c != nil {
			refusal.Login = c.GetOpts().Username
		}
	}
	l.keyring.refuse(refusal)
}

// violation is the line of the NATS server about a client that may not do what it tries.
var violation = regexp.MustCompile(
	`^(\S*) - cid:(\d+) .*(Publish|Subscription) Violation - (?:Subject|Reply) "([^"]*)"`)

func (l *serverLog) Fatalf(format string, v ...any) {
	select {
	case l.fatal <- fmt.Sprintf(format, v...):
	default:
		l.log.Error(fmt.Sprintf(format, v...))
	}
}
