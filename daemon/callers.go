package daemon

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"sync"
)

// Bounds of the connections of a site: those from one address that have shown no credential, and all.
const (
	mostStrangers = 64
	mostCallers   = 2048
)

// callers is a listener that bounds who is connected. Of strangers from one address the oldest has to go: a
// client with a credential shows it at once. It is safe for concurrent use.
type callers struct {
	net.Listener

	mu        sync.Mutex
	strangers map[string][]*caller // By address, the oldest first.
	open      int
}

// caller is a connection of callers.
type caller struct {
	net.Conn
	all  *callers
	from string
	once sync.Once
}

func newCallers(l net.Listener) *callers {
	return &callers{Listener: l, strangers: make(map[string][]*caller)}
}

// Accept implements net.Listener.
func (c *callers) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if taken := c.enter(conn); taken != nil {
			return taken, nil
		}
		_ = conn.Close()
	}
}

// enter is a connection as a caller's, nil where there are too many of all.
func (c *callers) enter(conn net.Conn) *caller {
	from, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		from = conn.RemoteAddr().String()
	}
	x := &caller{Conn: conn, all: c, from: from}
	c.mu.Lock()
	var oldest *caller
	if of := c.strangers[from]; len(of) >= mostStrangers {
		oldest = of[0]
	}
	full := c.open >= mostCallers && oldest == nil
	if !full {
		c.open++
		c.strangers[from] = append(c.strangers[from], x)
	}
	c.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
	if full {
		return nil
	}
	return x
}

// known takes x out of those who are strangers.
func (x *caller) known() {
	c := x.all
	c.mu.Lock()
	defer c.mu.Unlock()
	of := slices.DeleteFunc(slices.Clone(c.strangers[x.from]), func(s *caller) bool { return s == x })
	if c.strangers[x.from] = of; len(of) == 0 {
		delete(c.strangers, x.from)
	}
}

// Close implements net.Conn.
func (x *caller) Close() error {
	x.once.Do(func() {
		x.known()
		x.all.mu.Lock()
		defer x.all.mu.Unlock()
		x.all.open--
	})
	return x.Conn.Close()
}

// callerKey is where the context of a request has its connection.
type callerKey struct{}

// withCaller is http.Server.ConnContext.
func withCaller(ctx context.Context, conn net.Conn) context.Context {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	return context.WithValue(ctx, callerKey{}, conn)
}

// proven has the connection of a request be a stranger's no more.
func proven(r *http.Request) {
	if x, ok := r.Context().Value(callerKey{}).(*caller); ok {
		x.known()
	}
}
