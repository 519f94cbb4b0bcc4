package webtest

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
)

// Network is a listener and those who dial it, in memory: inside a bubble of testing/synctest it is in virtual time. It
// is safe for concurrent use.
type Network struct {
	// Read counts the bytes that those who dial have read.
	Read atomic.Int64

	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// NewNetwork returns a network on which nobody is yet.
func NewNetwork() *Network { return &Network{conns: make(chan net.Conn), done: make(chan struct{})} }

// Accept implements net.Listener.
func (n *Network) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (n *Network) Close() error {
	n.once.Do(func() { close(n.done) })
	return nil
}

// Addr implements net.Listener: a planner's own address.
func (n *Network) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4281} }

// Dial connects, as an http.Transport wants it; all addresses are the listener.
func (n *Network) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case n.conns <- theirs:
		return counted{ours, &n.Read}, nil
	case <-n.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type counted struct {
	net.Conn
	read *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	got, err := c.Conn.Read(p)
	c.read.Add(int64(got))
	return got, err
}
