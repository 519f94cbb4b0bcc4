package web

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/sparkpacer/pacer/api"
)

const (
	// lookEach is how often the planner is asked what has changed, while somebody looks.
	lookEach = time.Second
	// aliveEach is after how long without anything else a comment goes to who looks.
	aliveEach = 15 * time.Second
	// writeFor is how long a client may take to read what it is sent.
	writeFor = 10 * time.Second
	// mostClients is how many look at once, mostOwn how many of these are one principal's.
	mostClients, mostOwn = 100, 8
)

// watch has what those see who look: one state, which it asks the planner for once a second while somebody looks, and
// encodes once for all.
type watch struct {
	serves func() (Planner, error)
	ctx    context.Context
	close  context.CancelFunc

	mu      sync.Mutex
	clients int
	of      map[string]int // Of them, by login.
	asks    bool           // Somebody asks the planner.
	state   object
	seq     uint64
	frame   *frame
	next    chan struct{} // Closed when there is another frame.

	// The fields below belong to the goroutine that asks.
	planner Planner
	version uint64
	asked   time.Time
}

// frame is what has come to be. It is a change from the state whose number is one less, and that state as a whole, once
// somebody has missed one; or, of the last one, why the stream ends.
type frame struct {
	seq      uint64
	change   event
	snapshot event
	last     bool
}

// event is an event of the stream, as it is and compressed: a piece of a deflated stream that begins anywhere.
type event struct{ plain, deflated []byte }

var (
	// gzipHeader begins a stream of deflated events.
	gzipHeader = event{nil, []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}}
	// comment says that the planner is still there.
	comment = deflated([]byte(": here\n\n"))
)

func newWatch(serves func() (Planner, error)) *watch {
	w := &watch{serves: serves, next: make(chan struct{}), of: make(map[string]int)}
	w.ctx, w.close = context.WithCancel(context.Background())
	return w
}

// eventOf encodes an event.
func eventOf(name string, seq uint64, data any) event {
	body, _ := json.Marshal(data) // It was JSON before.
	return deflated(fmt.Appendf(nil, "event: %s\nid: %d\ndata: %s\n\n", name, seq, body))
}

func deflated(plain []byte) event {
	var b bytes.Buffer
	z := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(z)
	z.Reset(&b)
	_, _ = z.Write(plain) // A buffer takes all.
	_ = z.Flush()
	return event{plain, b.Bytes()}
}

// deflaters are used again: each takes a megabyte.
var deflaters = sync.Pool{New: func() any {
	z, _ := flate.NewWriter(nil, flate.DefaultCompression) // The level is one.
	return z
}}

// enter takes a place of those who look, for a login, and has the planner asked.
func (w *watch) enter(login string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of[login] == mostOwn {
		return api.Errorf(api.KindTransient, "%d pages of %s look at this planner already: close one of them", mostOwn, login)
	}
	if w.clients == mostClients {
		return api.Errorf(api.KindTransient, "%d pages look at this planner already: close one of them", mostClients)
	}
	w.of[login]++
	if w.clients++; !w.asks {
		w.asks, w.frame = true, nil
		go w.ask()
	}
	return nil
}

func (w *watch) leave(login string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clients--
	if w.of[login]--; w.of[login] == 0 {
		delete(w.of, login)
	}
}

// ask asks the planner once a second until nobody looks.
func (w *watch) ask() {
	for {
		select {
		case <-time.After(time.Until(w.asked.Add(lookEach))):
		case <-w.ctx.Done():
		}
		w.mu.Lock()
		w.asks = w.clients > 0 && w.ctx.Err() == nil
		asks := w.asks
		w.mu.Unlock()
		if !asks {
			return
		}
		w.asked = time.Now()
		w.look()
	}
}

// look asks the planner what has changed, and has it known. A question that it does not answer is asked the next time.
func (w *watch) look() {
	planner, err := w.serves()
	if err != nil {
		w.publish(nil, &frame{change: end(err), last: true})
		return
	}
	if planner != w.planner {
		w.planner, w.version = planner, 0
	}
	c, err := answered(w.ctx, func(reply func(api.Changes)) { planner.Look(w.version, reply) })
	if err != nil || c.Error != nil {
		return
	}
	w.version = c.Version
	next := advanced(w.state, &c)
	w.publish(next, &frame{change: eventOf("change", w.seq+1, diff(w.state, next))})
}

func end(err error) event {
	_, p := problemOf(err)
	return eventOf("end", 0, p)
}

// publish has all who look wake up for f, and for the state that there is from now on, nil for that of before.
func (w *watch) publish(state object, f *frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if state != nil {
		w.state = state
	}
	w.seq++
	f.seq, w.frame = w.seq, f
	close(w.next)
	w.next = make(chan struct{})
}

// newest is the newest frame, and what of it a client is to be sent that has seen the state of a number, 0 for none:
// nil when that is the newest. next is closed when there is another one.
func (w *watch) newest(seen uint64) (f *frame, e *event, next <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, next = w.frame, w.next
	switch {
	case f == nil || f.seq == seen:
		return f, nil, next
	case f.last || seen > 0 && f.seq == seen+1:
		return f, &f.change, next
	case f.snapshot.plain == nil:
		f.snapshot = eventOf("snapshot", f.seq, w.state)
	}
	return f, &f.snapshot, next
}

// stream sends what there is and what changes, until the client or its session ends.
func stream(c *call) (any, error) {
	if _, err := c.control(api.VerbPing, api.ControlRequest{}); err != nil {
		return nil, err // It may not see what there is.
	}
	w, login := c.server.watch, c.by.Login()
	if err := w.enter(login); err != nil {
		return nil, err
	}
	defer w.leave(login)
	s := &subscriber{c.w, http.NewResponseController(c.w), zips(c.Request)}
	if err := s.begin("text/event-stream"); err != nil {
		return nil, err
	}
	s.follow(c, w)
	return nil, nil
}

// subscriber is a connection of somebody who looks.
type subscriber struct {
	rw      http.ResponseWriter
	control *http.ResponseController
	zips    bool
}

// begin sends the head of the answer. The deadlines of the server are for a whole request: those of a stream are for
// each write (golang/go#18447).
func (s *subscriber) begin(contentType string) error {
	h := s.rw.Header()
	h.Set("Content-Type", contentType)
	h.Set("Vary", "Accept-Encoding")
	h.Set("X-Accel-Buffering", "no")
	if s.zips {
		h.Set("Content-Encoding", "gzip")
	}
	return errors.Join(s.control.SetReadDeadline(time.Time{}), s.send(gzipHeader))
}

// follow sends what there is to see, until it ends or the client has gone.
func (s *subscriber) follow(c *call, w *watch) {
	for seen, alive := uint64(0), time.Now(); ; {
		f, e, next := w.newest(seen)
		if gone := c.stillThere(); gone != nil {
			_ = s.send(end(gone))
			return
		}
		if e != nil {
			if s.send(*e) != nil || f.last {
				return
			}
			seen, alive = f.seq, time.Now()
			continue
		}
		select {
		case <-next:
		case <-time.After(time.Until(alive.Add(aliveEach))):
			if s.send(comment) != nil {
				return
			}
			alive = time.Now()
		case <-c.Context().Done():
			return
		case <-w.ctx.Done():
			_ = s.send(end(api.Errorf(api.KindTransient, "the planner stops"))) // The client may be gone.
			return
		}
	}
}

func (s *subscriber) send(e event) error {
	body := e.plain
	if s.zips {
		body = e.deflated
	}
	if err := s.control.SetWriteDeadline(time.Now().Add(writeFor)); err != nil {
		return err
	}
	if _, err := s.rw.Write(body); err != nil {
		return err
	}
	return s.control.Flush()
}
