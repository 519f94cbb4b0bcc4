package torture

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/test/realenv"
)

// proxy passes TCP connections on, held up by a delay.
type proxy struct {
	namespace, to string
	listener      net.Listener
	delay         atomic.Int64 // Of each direction, in nanoseconds.

	mu    sync.Mutex
	conns map[net.Conn]bool
	ended bool
	work  sync.WaitGroup
}

// newProxy passes connections to from on to another address of a network namespace, "" for
// this process's.
func newProxy(namespace, from, to string) (*proxy, error) {
	p := &proxy{namespace: namespace, to: to, conns: map[net.Conn]bool{}}
	if err := realenv.Within(namespace, func() (err error) {
		p.listener, err = net.Listen("tcp", from)
		return err
	}); err != nil {
		return nil, err
	}
	p.work.Add(1)
	go p.accept()
	return p, nil
}

func (p *proxy) accept() {
	defer p.work.Done()
	for {
		in, err := p.listener.Accept()
		if err != nil {
			return
		}
		var out net.Conn
		if err := realenv.Within(p.namespace, func() (err error) {
			out, err = net.DialTimeout("tcp", p.to, time.Second)
			return err
		}); err != nil {
			in.Close()
			continue
		}
		if !p.keep(in, out) {
			return
		}
		p.work.Add(2)
		go p.pass(in, out)
		go p.pass(out, in)
	}
}

// keep notes connections that close ends.
func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.ended {
			c.Close()
		}
		p.conns[c] = true
	}
	return !p.ended
}

// piece is what was read, and when it goes on.
type piece struct {
	bytes []byte
	due   time.Time
}

// pass copies one direction. Whichever side ends, both do.
func (p *proxy) pass(from, to net.Conn) {
	defer p.work.Done()
	pieces := make(chan piece, 1024)
	p.work.Add(1)
	go func() {
		defer p.work.Done()
		defer to.Close()
		defer from.Close()
		for x := range pieces {
			if wait := time.Until(x.due); wait > 0 {
				<-time.After(wait)
			}
			if _, err := to.Write(x.bytes); err != nil {
				break
			}
		}
		for range pieces { // Until the reader has seen that its connection is closed.
		}
	}()
	for {
		buf := make([]byte, 32<<10)
		n, err := from.Read(buf)
		if n > 0 {
			pieces <- piece{buf[:n], time.Now().Add(time.Duration(p.delay.Load()))}
		}
		if err != nil {
			close(pieces)
			p.mu.Lock()
			delete(p.conns, from)
			p.mu.Unlock()
			return
		}
	}
}

func (p *proxy) close() {
	p.listener.Close()
	p.mu.Lock()
	p.ended = true
	for c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.work.Wait()
}

func TestTheProxyPassesAllOnAndEnds(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	p, err := newProxy("", "127.0.0.1:0", echo.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", p.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, delay := range []time.Duration{0, 20 * time.Millisecond} {
		p.delay.Store(int64(delay))
		began := time.Now()
		answer := make([]byte, 5)
		if _, err := c.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, answer); err != nil || string(answer) != "hello" {
			t.Fatalf("%q, %v", answer, err)
		}
		if took := time.Since(began); took < 2*delay {
			t.Errorf("it took %v, each direction is to take %v", took, delay)
		}
	}
	p.close()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, unix.ECONNRESET) {
		t.Errorf("after the proxy's end: %v", err)
	}
}
