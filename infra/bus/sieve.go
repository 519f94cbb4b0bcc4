package bus

import (
	"bufio"
	"bytes"
	"net"
	"strconv"
	"sync/atomic"
)

// sieve stands between the embedded server and the planner's own connection, and empties messages that keep does not
// keep as they pass. So the connection takes everything at once, and the server never takes it for a slow one. A
// message without a body says nothing, so whoever gets an empty one knows.
type sieve struct {
	// keep reports whether a message of a subject and size is to be had whole; nil keeps all.
	keep atomic.Pointer[func(subject string, size int) bool]
}

// sieved is a client's connection through a sieve.
type sieved struct {
	net.Conn
	sieve *sieve
	in    *bufio.Reader
	out   []byte // Bytes that have been read, and are to be handed on first.
	pass  int    // How much of what comes then is to be handed on as it is.
}

// sieveBuffer is what is read at once.
const sieveBuffer = 64 << 10

func (s *sieve) through(c net.Conn) net.Conn {
	return &sieved{Conn: c, sieve: s, in: bufio.NewReaderSize(c, sieveBuffer)}
}

// Read implements net.Conn.
func (c *sieved) Read(p []byte) (n int, err error) {
	for len(c.out) == 0 && c.pass == 0 {
		if err := c.line(); err != nil {
			return 0, err
		}
	}
	if len(c.out) > 0 {
		n = copy(p, c.out)
		c.out = c.out[n:]
		return n, nil
	}
	n, err = c.in.Read(p[:min(len(p), c.pass)])
	c.pass -= n
	return n, err
}

// line reads the next line of the protocol, and leaves the body out that comes with it where it is not kept.
func (c *sieved) line() error {
	line, err := c.in.ReadSlice('\n')
	c.out = append(c.out[:0:0], line...)
	if err == bufio.ErrBufferFull {
		return nil // No message begins with a line as long as that.
	}
	if err != nil {
		return err
	}
	keep := c.sieve.keep.Load()
	fields := bytes.Fields(c.out)
	if len(fields) < 4 || !bytes.EqualFold(fields[0], []byte("MSG")) && !bytes.EqualFold(fields[0], []byte("HMSG")) {
		return nil
	}
	size, err := strconv.Atoi(string(fields[len(fields)-1]))
	if err != nil || size < 0 {
		return nil //nolint:nilerr // The client says what is wrong with it.
	}
	if c.pass = size + 2; keep == nil || (*keep)(string(fields[1]), size) {
		return nil
	}
	if _, err := c.in.Discard(c.pass); err != nil {
		return err
	}
	if len(fields[0]) > len("MSG") { // Without headers, too.
		fields = append(fields[:len(fields)-2], fields[len(fields)-1])
	}
	c.pass, fields[0] = 0, []byte("MSG")
	fields[len(fields)-1] = []byte("0")
	c.out = append(bytes.Join(fields, []byte(" ")), "\r\n\r\n"...)
	return nil
}
