package driver

import (
	"math"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Batch is how many events a request has at most.
const Batch = 200

// Linger is how long a driver that does not exit after its context's end goes on to say
// that it is there.
const Linger = 10 * time.Minute

// Never is a moment that does not come.
const Never units.Instant = math.MaxInt64

// How a driver waits: Heartbeat passes between two of them, Patience until an answer is given
// up, pause after a request that failed. It is as silent as package api allows; the jar sends
// a heartbeat after a second of silence.
const (
	Heartbeat = 2 * time.Second
	Patience  = 2 * time.Second
	pause     = time.Second
)

// Incomplete is why an application runs unpaced of which the planner has refused an event.
const Incomplete = "the planner could not take one of its events"

// Conversation is what a driver and the planner say to each other: one registration, then
// events in order, one request at a time, and heartbeats. Events are numbered from 1 and
// sent again until they are acknowledged. The caller tells what happens by Say, Answer,
// Failed, Heard and Reconnected, and calls Next after each of them and at Wake. Not
// thread-safe.
type Conversation struct {
	// id is the application's, "" until it is registered; again says that it has to
	// register once more.
	id    api.AppID
	again bool
	// planner is who has answered the last registration.
	planner string
	// forgot says that the planner waits for Recall.
	forgot bool
	// epoch is that of the newest directive, if there was one.
	epoch    uint64
	directed bool
	// queued says that by it the application waits for memory.
	queued bool

	outbox []api.Event // Not acknowledged yet.
	last   uint64      // The newest number.
	// alone is the newest number of a batch that was refused as invalid: up to it each event
	// goes by itself, and the one that is refused then is dropped. unpaced says that the
	// planner was told that the application cannot be paced any more for it.
	alone   uint64
	dropped int
	unpaced bool

	no, waits uint64      // The newest request's number; the one that is waited for, 0 for none.
	sent      []api.Event // Events of the newest request.
	// until is when that one is given up or, with none, the end of a pause; beat is the
	// next heartbeat; due says that there is one though there may be no events.
	until, beat units.Instant
	due         bool

	ended          units.Instant // When the context stopped, Never before.
	exited, closed bool
}

// NewConversation is one that has not begun.
func NewConversation() *Conversation {
	return &Conversation{until: Never, beat: Never, due: true, ended: Never}
}

// Request is what a driver asks the planner: a registration under AppID, or Events.
type Request struct {
	// No names it in Answer and Failed.
	No       uint64
	Register bool
	AppID    api.AppID // "" for the first registration.
	Planner  string    // The one that has answered the last registration, "" before.
	Events   []api.Event
}

// Outcome is what the caller has to do about an answer.
type Outcome struct {
	// Forgot says that the planner has lost its state, whether it gives another id or not:
	// epochs begin again (Bindings.ForgetEpoch), and when the directive is followed Recall tells it what is
	// true.
	Forgot bool
	// Directive is to be followed, if there is one.
	Directive *api.Directive
	// Fault is the planner's error. With it a conversation that is Closed was refused: the
	// application is to end.
	Fault error
	// Dropped is an event that the planner will never take, if that is what Fault is about.
	Dropped *api.Event
	// Leave says that the planner does not know the application by its credential any more:
	// the next registration has to go over its user's connection.
	Leave bool
}

// Registered reports whether the planner has accepted the application.
func (c *Conversation) Registered() bool { return c.id != "" }

// Closed reports whether there is nothing more to say.
func (c *Conversation) Closed() bool { return c.closed }

// over reports whether the planner knows that the context has ended.
func (c *Conversation) over() bool { return c.ended != Never && !c.holdsEnd() }

func (c *Conversation) holdsEnd() bool {
	return slices.ContainsFunc(c.outbox, func(e api.Event) bool { return e.Type == api.EventEnd })
}

// Say puts an event on its way and returns its number. The event has its time.
func (c *Conversation) Say(now units.Instant, e api.Event) uint64 {
	c.last++
	e.Seq = c.last
	c.outbox = append(c.outbox, e)
	switch e.Type {
	case api.EventEnd:
		c.ended = now
	case api.EventExit:
		c.exited = true
	}
	return c.last
}

// Recall puts what is true on its way, in place of all that a planner without its state
// was not told. It does nothing and returns false when the end is on its way: after that
// there is nothing to tell.
func (c *Conversation) Recall(now units.Instant, events []api.Event) bool {
	c.forgot, c.unpaced = false, false
	if c.holdsEnd() {
		return false
	}
	c.outbox = nil
	for _, e := range events {
		c.Say(now, e)
	}
	return true
}

// Reconnected says that the connection came back: the planner may be another one.
func (c *Conversation) Reconnected() { c.again = c.Registered() && !c.over() }

// Heard reports whether a directive that was published is to be followed: it is newer than
// the last.
func (c *Conversation) Heard(d *api.Directive) bool {
	if c.directed && d.Epoch <= c.epoch {
		return false
	}
	// An application that has started registers again: the reply has what it would have had then.
	c.again = c.again || c.queued && d.Queued == nil && !c.over()
	c.directed, c.epoch, c.queued = true, d.Epoch, d.Queued != nil
	return true
}

// Next returns what is to be sent, if anything.
func (c *Conversation) Next(now units.Instant) (Request, bool) {
	if now >= c.until {
		c.waits, c.until, c.due = 0, Never, true
	}
	if now >= c.beat {
		c.beat = now.Add(Heartbeat)
		c.due = c.due || c.waits == 0
	}
	if c.over() && now.Sub(c.ended) > Linger {
		c.closed = true
	}
	if c.closed || c.forgot || c.waits != 0 || c.until != Never || !(c.due || c.again || len(c.outbox) > 0) {
		return Request{}, false
	}
	c.no++
	c.waits, c.until, c.due, c.sent = c.no, now.Add(Patience), false, nil
	if !c.Registered() || c.again {
		return Request{No: c.no, Register: true, AppID: c.id, Planner: c.planner}, true
	}
	c.sent = c.batch()
	return Request{No: c.no, AppID: c.id, Planner: c.planner, Events: c.sent}, true
}

// batch is what goes into a request: the oldest events, Batch at most, and no more than fit
// into api.BatchBytes but for one that is larger itself. Their numbers follow each other:
// the planner takes no others in one request.
func (c *Conversation) batch() []api.Event {
	n, size := 0, 0
	for n < min(Batch, len(c.outbox)) {
		e := &c.outbox[n]
		if size += e.Size(); n > 0 && (size > api.BatchBytes || e.Seq <= c.alone || e.Seq != c.outbox[n-1].Seq+1) {
			break
		}
		n++
	}
	return slices.Clone(c.outbox[:n])
}

// Wake is when Next is to be called, Never if only something else can change what it
// returns.
func (c *Conversation) Wake() units.Instant {
	if c.closed {
		return Never
	}
	return min(c.until, c.beat)
}

// Failed says that request no got no answer.
func (c *Conversation) Failed(now units.Instant, no uint64) {
	if no == c.waits {
		c.pause(now)
	}
}

func (c *Conversation) pause(now units.Instant) { c.waits, c.until = 0, now.Add(pause) }

// answered notes that request no was answered. An answer that comes late, when another
// request is waited for, is taken as far as it still says something.
func (c *Conversation) answered(no uint64) {
	if no == c.waits {
		c.waits, c.until = 0, Never
	}
}

// Accept takes the answer to registration no.
func (c *Conversation) Accept(now units.Instant, no uint64, r *api.RegisterReply) Outcome {
	c.answered(no)
	if r.Error != nil {
		out := Outcome{Fault: r.Error}
		switch kind := api.KindOf(r.Error); {
		case c.refused(kind):
			c.closed = true
		case c.waits == 0:
			out.Leave = unknown(kind)
			c.pause(now)
		}
		return out
	}
	var out Outcome
	c.due, c.planner = true, r.Planner
	switch {
	case c.id == r.AppID && !r.Recall:
		c.acknowledge(r.AckedSeq)
	case c.id == "":
		c.beat = now.Add(Heartbeat)
	default: // Events are not sent until Recall.
		out.Forgot, c.forgot = true, true
	}
	if c.id != r.AppID || r.Recall {
		c.id, c.directed, c.queued = r.AppID, false, false
	}
	out.Directive = c.newer(&r.Directive)
	c.again = false
	return out
}

// refused reports whether an error of that kind, in the answer to a registration, ends the
// application. Once it is registered only what can be no other way does: that its submission
// has ended or was killed, and while it is queued that it cannot be had.
func (c *Conversation) refused(kind api.Kind) bool {
	switch kind {
	case api.KindConflict:
		return true
	case api.KindInvalid, api.KindInfeasible:
		return c.queued || !c.Registered()
	}
	return !c.Registered() && kind != api.KindTransient
}

// Answer takes the answer to events no.
func (c *Conversation) Answer(now units.Instant, no uint64, r *api.EventsReply) Outcome {
	c.answered(no)
	switch {
	case r.Error == nil:
		out := Outcome{Directive: c.newer(&r.Directive)}
		c.acknowledge(r.AckedSeq)
		return out
	case c.waits != 0: // Another request is on its way.
	case api.KindOf(r.Error) == api.KindInvalid && no == c.no && len(c.sent) > 0:
		return Outcome{Fault: r.Error, Dropped: c.poisoned(now)}
	case api.KindOf(r.Error) != api.KindNotFound:
		c.pause(now)
	case c.over():
		c.closed = true
	default:
		c.again = true
	}
	return Outcome{Fault: r.Error}
}

// unknown reports whether an error of that kind says that the planner does not know who asks:
// it has lost its state, and a NATS server of one's own has kept the application's connection.
func unknown(kind api.Kind) bool { return kind == api.KindNotFound || kind == api.KindDenied }

// poisoned has the events of a batch that was refused as invalid sent one by one. An event that is refused alone is
// dropped and returned: it would keep back all that follow it for ever. From then on the planner does not know all that
// has happened, and is told not to hold the application back.
func (c *Conversation) poisoned(now units.Instant) *api.Event {
	if len(c.sent) > 1 {
		c.alone = c.sent[len(c.sent)-1].Seq
		return nil
	}
	bad := c.sent[0]
	c.sent = nil
	c.outbox = slices.DeleteFunc(c.outbox, func(e api.Event) bool { return e.Seq == bad.Seq })
	c.dropped++
	if !c.unpaced && c.ended == Never {
		c.unpaced = true
		c.Say(now, api.Event{Type: api.EventUnpaced, At: bad.At, Reason: Incomplete})
	}
	c.acknowledge(0)
	return &bad
}

// Dropped is how many events the planner would not take.
func (c *Conversation) Dropped() int { return c.dropped }

func (c *Conversation) newer(d *api.Directive) *api.Directive {
	if c.Heard(d) {
		return d
	}
	return nil
}

// acknowledge drops the events up to seq. Numbers that were never given are ignored.
func (c *Conversation) acknowledge(seq uint64) {
	if seq <= c.last {
		c.outbox = slices.DeleteFunc(c.outbox, func(e api.Event) bool { return e.Seq <= seq })
	}
	c.closed = c.closed || c.exited && len(c.outbox) == 0
}
