package web

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
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
	// mostClients is how many look at once.
	mostClients = 100
)

// watch has what those see who look: one state, which it asks the planner for once a second while somebody looks, and
// encodes once for all.
type watch struct {
	serves func() (Planner, error)
	ctx    context.Context
	close  context.CancelFunc

	mu      sync.Mutex
	clients int
	asks    bool // Somebody asks the planner.
	state   object
	seq     uint64
	frame   *frame
	next    chan struct{} // Closed when there is another frame.

	// What follows belongs to who asks.
	planner Planner
	version uint64
	asked   time.Time
}

// frame is what has come to be: a change from the state whose number is one less, and that state as a whole, once
// somebody has missed one; or the end.
type frame struct {
	seq      uint64
	change   event
	snapshot *event
	end      *event
}

// event is an event of the stream, as it is and compressed: a piece of a deflated stream that begins anywhere.
type event struct{ plain, deflated []byte }

// gzipHeader begins a stream of deflated events.
var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

func newWatch(serves func() (Planner, error)) *watch {
	w := &watch{serves: serves, next: make(chan struct{})}
	w.ctx, w.close = context.WithCancel(context.Background())
	return w
}

// eventOf encodes an event.
func eventOf(name string, seq uint64, data any) event {
	body, _ := json.Marshal(data) // It was JSON before.
	plain := fmt.Appendf(nil, "event: %s\nid: %d\ndata: %s\n\n", name, seq, body)
	return event{plain, deflated(plain)}
}

// comment says that the planner is still there.
var comment = event{[]byte(": here\n\n"), deflated([]byte(": here\n\n"))}

func deflated(plain []byte) []byte {
	var b bytes.Buffer
	z := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(z)
	z.Reset(&b)
	_, _ = z.Write(plain) // A buffer takes all.
	_ = z.Flush()
	return b.Bytes()
}

// deflaters are used again: each takes a megabyte.
var deflaters = sync.Pool{New: func() any {
	z, _ := flate.NewWriter(nil, flate.DefaultCompression) // The level is one.
	return z
}}

// enter takes a place of those who look, and has the planner asked.
func (w *watch) enter() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.clients == mostClients {
		return api.Errorf(api.KindTransient, "%d pages look at this planner already: close one of them", mostClients)
	}
	if w.clients++; !w.asks {
		w.asks, w.frame = true, nil
		go w.ask()
	}
	return nil
}

func (w *watch) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clients--
}

// ask asks the planner once a second until nobody looks.
func (w *watch) ask() {
	timer := time.NewTimer(time.Until(w.asked.Add(lookEach)))
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-w.ctx.Done():
		}
		w.mu.Lock()
		if w.asks = w.clients > 0 && w.ctx.Err() == nil; !w.asks {
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
		w.asked = time.Now()
		w.look()
		timer.Reset(time.Until(w.asked.Add(lookEach)))
	}
}

// look asks the planner what has changed, and has it known. What it does not answer is asked the next time.
func (w *watch) look() {
	planner, err := w.serves()
	if err != nil {
		w.publish(frame{end: end(err)})
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
	w.mu.Lock()
	next := advanced(w.state, &c)
	change := diff(w.state, next)
	w.state = next
	w.mu.Unlock()
	w.publish(frame{change: eventOf("change", w.seq+1, change)})
}

func end(err error) *event {
	e := eventOf("end", 0, problemOf(err))
	return &e
}

// publish has all who look wake up for f.
func (w *watch) publish(f frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seq++
	f.seq = w.seq
	w.frame = &f
	close(w.next)
	w.next = make(chan struct{})
}

// newest is what somebody is to be sent who has seen the state of a number, 0 for none: nil when that is the newest.
// next is closed when there is another one.
func (w *watch) newest(seen uint64) (f *frame, e *event, next <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, next = w.frame, w.next
	switch {
	case f == nil || f.seq == seen:
		return f, nil, next
	case f.end != nil:
		return f, f.end, next
	case seen > 0 && f.seq == seen+1:
		return f, &f.change, next
	case f.snapshot == nil:
		whole := eventOf("snapshot", f.seq, w.state)
		f.snapshot = &whole
	}
	return f, f.snapshot, next
}

// stream sends what there is and what changes, until the client or its session ends.
func stream(rw http.ResponseWriter, c *call) (any, error) {
	if _, err := c.control(api.VerbPing, api.ControlRequest{}); err != nil {
		return nil, err // It may not see what there is.
	}
	w := c.server.watch
	if err := w.enter(); err != nil {
		return nil, err
	}
	defer w.leave()
	s := subscriber{rw: rw, control: http.NewResponseController(rw), zips: zips(c.Request)}
	if err := s.begin(); err != nil {
		return nil, err
	}
	alive := time.NewTicker(aliveEach)
	defer alive.Stop()
	for seen := uint64(0); ; {
		f, e, next := w.newest(seen)
		if err := c.stillThere(); err != nil {
			f, e = &frame{}, end(err)
			f.end = e
		}
		if e != nil {
			if err := s.send(e); err != nil || f.end != nil {
				return streamed, nil
			}
			seen = f.seq
			alive.Reset(aliveEach)
			continue
		}
		select {
		case <-next:
		case <-alive.C:
			if s.send(&comment) != nil {
				return streamed, nil
			}
		case <-c.Context().Done():
			return streamed, nil
		case <-w.ctx.Done():
			_ = s.send(end(api.Errorf(api.KindTransient, "the planner stops"))) // Who looks may be gone.
			return streamed, nil
		}
	}
}

// subscriber is a connection of somebody who looks.
type subscriber struct {
	rw      http.ResponseWriter
	control *http.ResponseController
	zips    bool
}

// begin sends the head of the answer. The deadlines of the server are for a whole request: those of a stream are for
// each write (golang/go#18447).
func (s *subscriber) begin() error {
	h := s.rw.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Vary", "Accept-Encoding")
	h.Set("X-Accel-Buffering", "no")
	if err := s.control.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	if !s.zips {
		return s.write(nil)
	}
	h.Set("Content-Encoding", "gzip")
	return s.write(gzipHeader)
}

func (s *subscriber) send(e *event) error {
	if s.zips {
		return s.write(e.deflated)
	}
	return s.write(e.plain)
}

func (s *subscriber) write(body []byte) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(writeFor)); err != nil {
		return err
	}
	if _, err := s.rw.Write(body); err != nil {
		return err
	}
	return s.control.Flush()
}
