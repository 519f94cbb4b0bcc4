package bustest

import (
	"net"
	"sync"
)

// Buffered is a connection whose writes do not wait for a reader, as on a socket: net.Pipe
// has no buffer, and two that write at once would wait for each other.
func Buffered(c net.Conn) net.Conn { return &buffered{Conn: c} }

type buffered struct {
	net.Conn
	mu      sync.Mutex
	queue   []byte
	pumping bool
	err     error
}

// Write implements net.Conn.
func (b *buffered) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return 0, b.err
	}
	b.queue = append(b.queue, p...)
	if !b.pumping {
		b.pumping = true
		go b.pump()
	}
	return len(p), nil
}

// pump writes what is queued, and ends: nobody closes a connection that was refused.
func (b *buffered) pump() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.queue) > 0 && b.err == nil {
		chunk := b.queue
		b.queue = nil
		b.mu.Unlock()
		_, err := b.Conn.Write(chunk)
		b.mu.Lock()
		b.err = err
	}
	b.pumping = false
}
