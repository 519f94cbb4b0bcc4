package bus

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// MaxPayload is the largest message in bytes.
const MaxPayload = 8 << 20

// ServerConfig says where the embedded NATS server listens and who may connect.
type ServerConfig struct {
	// Listen is host:port; port 0 picks a free one, "" listens nowhere: only
	// Connect reaches the server then.
	Listen string
	// Credentials is the path of the server's credentials file; it is required
	// unless Listen is a loopback address.
	Credentials string
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
	var faults []error
	if !IsLoopback(c.Listen) && c.Credentials == "" {
		faults = append(faults, fmt.Errorf("listen: %s can be reached from other machines, so a credentials file is needed (credentials: FILE), or use 127.0.0.1", c.Listen))
	}
	faults = append(faults, c.TLS.Validate(), NeedsTLS("listen", c.Listen, c.TLS, c.Plaintext))
	return errors.Join(faults...)
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
	return fmt.Errorf("%s: %s can be reached from other machines, so a certificate is needed: run `pacer auth init %s`, or give tls-cert and tls-key, or set plaintext: true", what, address, host)
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
	nats     *server.Server
	address  string
	password string // of RolePlanner; "" without credentials
	stop     sync.Once
}

// inProcess stands for the address of a server that listens nowhere.
const inProcess = "in process"

// tlsTimeout bounds a handshake; a JVM on a busy machine takes a second or two.
const tlsTimeout = 10 * time.Second

// startTimeout bounds how long the server may take until it listens.
const startTimeout = 10 * time.Second

// StartServer starts a server and returns once it listens.
func StartServer(cfg ServerConfig) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	options, password, err := cfg.options()
	if err != nil {
		return nil, err
	}
	ns, err := server.NewServer(options)
	if err != nil {
		return nil, fmt.Errorf("bus server: %w", err)
	}
	log := newServerLog(cfg.Logger)
	ns.SetLoggerV2(log, false, false, false)
	go ns.Start()
	ready := make(chan bool, 1)
	go func() { ready <- ns.ReadyForConnections(startTimeout) }()
	select {
	case message := <-log.fatal:
		ns.Shutdown()
		return nil, fmt.Errorf("bus server on %s: %s", cfg.Listen, message)
	case ok := <-ready:
		if !ok {
			ns.Shutdown()
			return nil, fmt.Errorf("bus server on %s did not start within %v", cfg.Listen, startTimeout)
		}
	}
	s := &Server{nats: ns, address: inProcess, password: password}
	if cfg.Listen != "" {
		s.address = ns.Addr().String()
	}
	return s, nil
}

// options bounds what clients can make the server hold: 32 MiB of undelivered
// messages per client (8 MiB is one message), 1024 connections.
func (c ServerConfig) options() (*server.Options, string, error) {
	host, text, _ := net.SplitHostPort(c.Listen)
	port, _ := strconv.Atoi(text)
	if port == 0 {
		port = server.RANDOM_PORT
	}
	if host == "" {
		host = "0.0.0.0"
	}
	o := &server.Options{
		ServerName: "pacer", Host: host, Port: port, DontListen: c.Listen == "",
		NoSigs: true, NoLog: true, NoSystemAccount: true,
		MaxConn: 1024, MaxPayload: MaxPayload, MaxPending: 4 * MaxPayload, MaxClosedClients: 16,
		PingInterval: 5 * time.Second, MaxPingsOut: 2, WriteDeadline: 5 * time.Second,
	}
	if c.TLS.Cert != "" {
		var err error
		if o.TLSConfig, err = c.TLS.Serve(func(err error) { newServerLog(c.Logger).Warnf("%v", err) }); err != nil {
			return nil, "", err
		}
		o.TLS, o.TLSTimeout = true, tlsTimeout.Seconds()
	}
	if c.Credentials == "" {
		return o, "", nil
	}
	credentials, err := LoadCredentials(c.Credentials)
	if err != nil {
		return nil, "", err
	}
	credentials[RolePlanner] = rand.Text()
	o.Users = credentials.users()
	return o, credentials[RolePlanner], nil
}

// Address is the host:port it listens on, or "in process".
func (s *Server) Address() string { return s.address }

// Connect returns a connection inside the process, without a socket and with
// the planner's rights.
func (s *Server) Connect(options Options) (*Conn, error) {
	if s == nil {
		return nil, errors.New("bus server: not started")
	}
	var extra []nats.Option
	options.Dialer = s.Pipe
	options.Address, options.Role = DefaultAddress, RolePlanner // No socket is opened: the address is for messages.
	if s.address != inProcess {
		options.Address = s.address
	}
	if s.password != "" {
		extra = append(extra, nats.UserInfo(string(RolePlanner), s.password))
	}
	return connect(options, extra)
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
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
	})
}

// serverLog passes what matters on to slog and keeps the first fatal message,
// which the NATS server expects to end the process.
type serverLog struct {
	log   *slog.Logger
	fatal chan string
}

func newServerLog(log *slog.Logger) *serverLog {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &serverLog{log: log.With("component", "bus"), fatal: make(chan string, 1)}
}

func (l *serverLog) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l *serverLog) Debugf(format string, v ...any)  { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l *serverLog) Tracef(string, ...any)           {}
func (l *serverLog) Warnf(format string, v ...any)   { l.log.Warn(fmt.Sprintf(format, v...)) }
func (l *serverLog) Errorf(format string, v ...any)  { l.log.Warn(fmt.Sprintf(format, v...)) }
func (l *serverLog) Fatalf(format string, v ...any) {
	select {
	case l.fatal <- fmt.Sprintf(format, v...):
	default:
		l.log.Error(fmt.Sprintf(format, v...))
	}
}
