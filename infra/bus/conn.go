package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/sparkpacer/pacer/api"
)

// Options say how a client connects. The zero value of a field has the meaning
// that stands with it.
type Options struct {
	// Address is the NATS server's: the planner's host:port, or a URL nats:// or
	// tls://host:port; "" is 127.0.0.1:4222.
	Address string
	// TLS are the files for a secured connection. An address that is not loopback has one in any
	// case, whatever the server there says, unless Plaintext goes without.
	TLS       TLS
	Plaintext bool
	// Credential is who connects; one without a login sends none, which is enough for a
	// server that lets everybody in.
	Credential Credential
	// Secret replaces the credential's secret, if it is not nil: it is called for each
	// attempt to connect.
	Secret func() string
	// Name is shown by the server's diagnostics.
	Name string
	// Dialer replaces TCP: it is called for each attempt to connect. With it
	// Address is for messages only.
	Dialer func() (net.Conn, error)
	// Wait keeps trying when no planner answers at first. Without it Dial
	// fails at once; in both cases a connection that is lost later is taken up
	// again for as long as it takes.
	Wait bool
	// Timeout bounds the first connection; 0 is 2 s.
	Timeout time.Duration
	// OnUp is called after each connection, the first one included; OnDown when
	// one is lost. OnFault gets messages that were dropped and errors that
	// belong to no call. All run on goroutines of the connection, must not
	// block and may be nil.
	OnUp    func()
	OnDown  func(error)
	OnFault func(error)
}

func (o Options) timeout() time.Duration {
	if o.Timeout <= 0 {
		return 2 * time.Second
	}
	return o.Timeout
}

// DefaultAddress is where a planner is looked for.
const DefaultAddress = "127.0.0.1:4222"

// Conn is a connection to the bus, safe for concurrent use. A lost connection is
// taken up again endlessly, 100 ms to 1 s apart with jitter.
type Conn struct {
	nats    *nats.Conn
	address string
	tls     TLS
	fault   func(error)
	// credential is whose connection it is; login stands in what it publishes.
	credential Credential
	secret     func() string
	login      string
	// keyring is whom a planner knows that serves on it; nil of others.
	keyring atomic.Pointer[Keyring]
	// sieve is what passes to the planner of an embedded server, nil of others.
	sieve *sieve
}

// loopbackAlone refuses all other addresses, for a connection in the clear: to those too that a server names as its
// cluster's.
func loopbackAlone(_, address string, _ syscall.RawConn) error {
	if IsLoopback(address) {
		return nil
	}
	return fmt.Errorf("%s is not on this machine: connections there need TLS", address)
}

// anyone is the login of who has no credential.
const anyone = "anyone"

// Dial connects to a planner.
func Dial(o Options) (*Conn, error) {
	var extra []nats.Option
	if o.Credential.Login != "" {
		extra = o.Credential.Proves(o.Secret)
	}
	o.Address = cmp.Or(o.Address, DefaultAddress)
	if err := ValidateServer(o.Address); err != nil {
		return nil, api.Errorf(api.KindInvalid, "planner: %v", err)
	}
	switch wanted := o.TLS.wanted(o.Address); {
	case o.Dialer != nil, o.Plaintext && !wanted:
	case !wanted && IsLoopback(HostPort(o.Address)):
		extra = append(extra, nats.Dialer(&net.Dialer{Timeout: o.timeout(), Control: loopbackAlone}))
	default:
		secured, err := o.TLS.options()
		if err != nil {
			return nil, api.Errorf(api.KindInvalid, "planner at %s: %v", o.Address, err)
		}
		extra = append(extra, secured...)
	}
	c := &Conn{address: o.Address, tls: o.TLS, fault: o.OnFault, credential: o.Credential, secret: o.Secret,
		login: cmp.Or(o.Credential.Login, anyone)}
	if c.fault == nil {
		c.fault = func(error) {}
	}
	if o.Dialer != nil {
		extra = append(extra, nats.InProcessServer(dialer(o.Dialer)))
	}
	began := time.Now()
	nc, err := nats.Connect(schemeNATS+HostPort(o.Address), append(c.natsOptions(o), extra...)...)
	if refused(err) && time.Since(began) >= slowRefusal {
		return nil,
			api.Errorf(api.KindTransient, "no planner answers at %s: none has told its NATS server whom it may let in",
				c.address)
	}
	if err != nil {
		return nil, c.dialError(err)
	}
	c.nats = nc
	return c, nil
}

// slowRefusal is how long a refusal takes that says nothing of the credentials: a nats-server
// waits 2 s for a planner that is away, and refuses everybody then. A planner that answers takes milliseconds.
const slowRefusal = 1500 * time.Millisecond

// dialer is a function as NATS wants it.
type dialer func() (net.Conn, error)

// InProcessConn implements nats.InProcessConnProvider.
func (d dialer) InProcessConn() (net.Conn, error) { return d() }

func (c *Conn) natsOptions(o Options) []nats.Option {
	up := func(nc *nats.Conn) {
		if most := nc.MaxPayload(); most > 0 && most < MaxPayload {
			c.fault(api.Errorf(api.KindInvalid,
				"the NATS server at %s takes messages of at most %d bytes: give it max_payload: %d", c.address, most, MaxPayload))
		}
		if o.OnUp != nil {
			o.OnUp()
		}
	}
	return []nats.Option{
		nats.Name(o.Name), nats.Timeout(o.timeout()), nats.CustomInboxPrefix(inboxOf(c.login)),
		nats.RetryOnFailedConnect(o.Wait), nats.MaxReconnects(-1), nats.CustomReconnectDelay(reconnectDelay),
		nats.IgnoreAuthErrorAbort(), nats.ReconnectBufSize(-1), nats.PingInterval(5 * time.Second),
		nats.MaxPingsOutstanding(2),
		nats.ConnectHandler(up), nats.ReconnectHandler(up),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if o.OnDown != nil {
				o.OnDown(err)
			}
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) {
			if refused(err) || distrusted(err) {
				c.fault(c.dialError(err))
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if refused(err) {
				c.fault(c.denied())
				return
			}
			c.fault(fmt.Errorf("bus: %w", err))
		}),
	}
}

// reconnectDelay doubles from 100 ms to 1 s and spreads by a quarter, so that
// the nodes of a restarted planner do not all come back in the same instant.
func reconnectDelay(attempts int) time.Duration {
	delay := min(100*time.Millisecond<<min(max(attempts-1, 0), 4), time.Second)
	return delay*3/4 + rand.N(delay/4+1)
}

// refused says that the server did not like the credentials.
func refused(err error) bool {
	return err != nil && (errors.Is(err, nats.ErrNkeysNotSupported) ||
		strings.Contains(strings.ToLower(err.Error()), "authorization violation"))
}

func (c *Conn) dialError(err error) error {
	if refused(err) {
		return c.denied()
	}
	if distrusted(err) {
		return api.Errorf(api.KindInvalid, "no secured connection to %s: %s", c.address, explain(err, c.address, c.tls))
	}
	if errors.Is(err, nats.ErrNoServers) {
		return fmt.Errorf("no planner answers at %s: %w", c.address, ErrNoServer)
	}
	return api.Errorf(api.KindTransient, "no planner answers at %s: %s", c.address,
		strings.TrimPrefix(err.Error(), "nats: "))
}

// ErrNoServer is of Dial: nothing listens at the planner's address.
var ErrNoServer error = api.Errorf(api.KindTransient, "connection refused")

// denied is what to do where the server does not take the credential. Its first words are
// fixed: scripts may look for them.
func (c *Conn) denied() error {
	if c.credential.Of(api.PrincipalPlanner) {
		return api.Errorf(api.KindDenied, "the NATS server at %s refused the credentials of planner: put the block that "+
			"`pacer auth nats` prints into its configuration", c.address)
	}
	how := "`pacer auth issue --user NAME --role submit`"
	if name, ok := strings.CutPrefix(c.login, string(api.PrincipalNode)+"-"); ok {
		how = fmt.Sprintf("`pacer auth issue --node %s`", name)
	} else if c.credential.Of(api.PrincipalJoin) {
		how = "`pacer auth issue --join`"
	}
	if c.credential.Login == "" || c.secret != nil && c.secret() == "" {
		return api.Errorf(api.KindDenied, "no credentials for this planner: ask its operator for %s (%s)", how, c.address)
	}
	return api.Errorf(api.KindDenied, "%s", c.credential.refusal(c.address, how, time.Now()))
}

// Address is the server's as it was given: host:port or a URL.
func (c *Conn) Address() string { return c.address }

// Connected reports whether the connection is up at this moment.
func (c *Conn) Connected() bool { return c.nats.IsConnected() }

// Flush returns when the server has everything that was sent so far, after 5 s
// at the latest.
func (c *Conn) Flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := c.nats.FlushWithContext(ctx); err != nil {
		return c.callError("flush", err)
	}
	return nil
}

// Close sends what is still queued and closes the connection; handlers are not
// called any more once it has returned. A second call does nothing.
func (c *Conn) Close() {
	if c.nats.IsConnected() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = c.nats.FlushWithContext(ctx)
	}
	c.nats.Close()
}

// Most is the largest message in bytes that the server takes, MaxPayload at most.
func (c *Conn) Most() int64 {
	if most := c.nats.MaxPayload(); most > 0 {
		return min(most, MaxPayload)
	}
	return MaxPayload
}

// callError turns a NATS error into one that says what the user can do.
func (c *Conn) callError(operation string, err error) error {
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return api.Errorf(api.KindTransient, "%s: nobody answers at %s for that", operation, c.address)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return api.Errorf(api.KindTransient, "%s: no answer from %s in time", operation, c.address)
	case errors.Is(err, nats.ErrMaxPayload):
		return api.Errorf(api.KindInvalid, "%s: the message is larger than %d bytes", operation, c.Most())
	case errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrConnectionReconnecting),
		errors.Is(err, nats.ErrDisconnected):
		return api.Errorf(api.KindTransient, "%s: no connection to the planner at %s", operation, c.address)
	case errors.Is(err, nats.ErrConnectionClosed):
		return api.Errorf(api.KindTransient, "%s: the connection is closed", operation)
	}
	return fmt.Errorf("%s: %w", operation, err)
}
