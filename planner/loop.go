package planner

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/infra/async"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

const (
	queueLength = 1024
	// batchLimit bounds how many requests share one store sync, so that the
	// first of them does not wait for ever.
	batchLimit = 256
	// looksEach and looksAll bound the questions under way about what there is, of one principal
	// and of all, plansEach and plansAll those about what a deadline would mean.
	looksEach, looksAll = 16, 256
	plansEach, plansAll = 4, 32
	// answerWithin is for how long a question may wait for its turn.
	answerWithin = 10 * time.Second
	// stalled is after how long without a turn the loop counts as not alive.
	stalled = 5 * time.Second
)

// Publisher sends what the planner has to say without being asked. Its first two methods
// hand over and return; a lost message is harmless.
type Publisher interface {
	PublishPlan(api.Plan) error
	PublishDirective(api.AppID, api.Directive) error
	// Deaf reports whether nothing that others send may have come through of late.
	Deaf() bool
}

// Store keeps the engine's state: Apply has all changes on disk when it returns
// nil, none otherwise.
type Store interface {
	Apply([]api.Pair) error
}

// Loop is the shell of an Engine: its only goroutine. Events enter through the
// methods, which are safe for concurrent use and do not wait for the answer; a
// reply function is called once, on the loop's goroutine or another one, and must not block.
//
// Questions hold nobody up: the loop cuts a snapshot for all that have come, which takes a tenth of
// its time at most, and two goroutines answer, one those
// about what there is, one those about what a deadline would mean, each principal's in turn. Who
// has too many under way is refused with KindTransient before the loop hears of it.
//
// A turn drains the queue, steps the engine through all of it, syncs the store
// once, then publishes and replies. What could not be stored is neither
// published nor acknowledged: requests are answered with KindTransient, and the
// changes are tried again at the next turn. Until then the planner is read-only: what
// asks for a promise is refused at once, what shows something is answered, and drivers and
// nodes are heard.
type Loop struct {
	engine  *Engine
	pub     Publisher
	store   Store
	observe func(ledger.Change)

	requests chan request
	done     chan struct{}
	start    time.Time

	// What follows belongs to the loop's goroutine.
	tickets Ticket
	waiting map[Ticket]request
	turn    Turn

	// asked are the questions that wait for a snapshot: the next one may be cut at due.
	asked []asking
	due   time.Time

	looks, plans async.Lane[string] // By login.
	kept         report.Kept        // Belongs to who answers in looks.

	ended    atomic.Int64 // When the last turn ended, in ns since start.
	storeErr atomic.Pointer[string]
}

type request struct {
	event func(Ticket) Event
	reply func(any)
	// lane is where it is answered if it is a question, of who has that login.
	lane  *async.Lane[string]
	login string
}

// NewLoop returns the loop around e. observe is called for every change, the engine's and what
// the loop itself has to tell, on the loop's goroutine; it keeps none. nil discards them.
func NewLoop(e *Engine, pub Publisher, store Store, observe func(ledger.Change)) *Loop {
	if observe == nil {
		observe = func(ledger.Change) {}
	}
	return &Loop{
		engine: e, pub: pub, store: store, observe: observe,
		requests: make(chan request, queueLength), done: make(chan struct{}), start: time.Now(),
		waiting: make(map[Ticket]request),
		looks:   async.Lane[string]{Each: looksEach, All: looksAll},
		plans:   async.Lane[string]{Each: plansEach, All: plansAll},
	}
}

// Run runs the loop until ctx ends and returns nil. Call it once. Requests that
// it has not taken by then are answered with KindTransient.
func (l *Loop) Run(ctx context.Context) error {
	defer l.stop()
	ticker := time.NewTicker(TickInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case r := <-l.requests:
			l.take(r)
			l.drain()
		case <-ticker.C:
			l.step(Tick{Deaf: l.pub.Deaf()})
		case <-l.later():
		}
		l.flush()
		l.handOver()
		l.ended.Store(int64(time.Since(l.start)))
	}
}

// Alive returns an error when the loop has stalled or cannot store its state.
// Safe for concurrent use.
func (l *Loop) Alive() error {
	if text := l.storeErr.Load(); text != nil {
		return errors.New("planner: read-only, for its state cannot be stored: " + *text)
	}
	if idle := time.Since(l.start) - time.Duration(l.ended.Load()); idle > stalled {
		return fmt.Errorf("planner: the loop has not turned for %v", idle.Round(time.Millisecond))
	}
	return nil
}

// Register hands a driver's registration over.
func (l *Loop) Register(by api.Principal, r api.RegisterRequest, reply func(api.RegisterReply)) {
	send(l, func(t Ticket) Event { return Register{To: t, By: by, Request: r} }, reply)
}

// Events hands a driver's events over.
func (l *Loop) Events(b api.Events, reply func(api.EventsReply)) {
	send(l, func(t Ticket) Event { return DriverEvents{To: t, Batch: b} }, reply)
}

// Hello hands a node's first status over.
func (l *Loop) Hello(s api.NodeStatus, reply func(api.HelloReply)) {
	send(l, func(t Ticket) Event { return Hello{To: t, Status: s} }, reply)
}

// Status hands a node's status over.
func (l *Loop) Status(s api.NodeStatus) {
	send(l, func(Ticket) Event { return Status{Status: &s} }, func(struct{}) {})
}

// Silence hands over what was heard of nodes before the loop runs.
func (l *Loop) Silence(s Silence) {
	send(l, func(Ticket) Event { return s }, func(struct{}) {})
}

// Standing hands over that the credentials of p were revoked, or that it has some again.
func (l *Loop) Standing(p api.Principal, revoked bool) {
	send(l, func(Ticket) Event { return Standing{Principal: p, Revoked: revoked} }, func(struct{}) {})
}

// Control hands a request of the command line over. An unknown verb is answered
// with KindInvalid.
func (l *Loop) Control(by api.Principal, verb api.Verb, r api.ControlRequest, reply func(api.ControlReply)) {
	event := func(t Ticket) Event { return Control{To: t, By: by, Verb: verb, Request: r} }
	if questions[verb] == nil {
		send(l, event, reply)
		return
	}
	ask(l, &l.looks, by, event, reply)
}

// Plan hands a plan request over.
func (l *Loop) Plan(by api.Principal, r api.PlanRequest, reply func(api.PlanReply)) {
	ask(l, &l.plans, by, func(t Ticket) Event { return PlanQuery{To: t, By: by, Request: r} }, reply)
}

// Look asks what has changed since a version, 0 for all there is.
func (l *Loop) Look(since uint64, reply func(api.Changes)) {
	ask(l, &l.looks, api.Principal{}, func(t Ticket) Event { return Look{To: t, Since: since} }, reply)
}

// Configure hands another configuration over; reply is told what is wrong with it.
func (l *Loop) Configure(cfg Config, reply func(api.ControlReply)) {
	send(l, func(t Ticket) Event { return Configure{To: t, Config: cfg} }, reply)
}

// ask queues a question that is answered in lane, unless too many are under way.
func ask[T any](l *Loop, lane *async.Lane[string], by api.Principal, event func(Ticket) Event, reply func(T)) {
	login := by.Login()
	if !lane.Enter(login) {
		asked(nil, "", reply).refuse(api.Errorf(api.KindTransient,
			"the planner answers as many questions as it can at once, of you or of all: try again in a moment"))
		return
	}
	r := asked(event, login, func(body T) {
		lane.Leave(login)
		reply(body)
	})
	r.lane = lane
	l.enqueue(r)
}

func asked[T any](event func(Ticket) Event, login string, reply func(T)) request {
	return request{event: event, login: login, reply: func(body any) {
		if v, ok := body.(T); ok {
			reply(v)
		}
	}}
}

// send queues a request.
func send[T any](l *Loop, event func(Ticket) Event, reply func(T)) {
	l.enqueue(asked(event, "", reply))
}

// enqueue queues a request, waiting when the queue is full.
func (l *Loop) enqueue(r request) {
	select {
	case <-l.done:
		r.refuse(stopping())
		return
	case l.requests <- r:
	}
	// The loop may have stopped between the two cases: whoever sees that empties
	// the queue, and each request is answered by the one who takes it out.
	select {
	case <-l.done:
		l.refuseQueued()
	default:
	}
}

func stopping() *api.Error { return api.Errorf(api.KindTransient, "the planner is stopping") }

// stop answers whatever the loop will not answer any more.
func (l *Loop) stop() {
	close(l.done)
	l.refuseQueued()
	for _, r := range l.waiting {
		r.refuse(stopping())
	}
	clear(l.waiting)
	for _, q := range l.asked {
		q.refuse(stopping())
	}
	l.looks.Wait()
	l.plans.Wait()
}

func (l *Loop) refuseQueued() {
	for {
		select {
		case r := <-l.requests:
			r.refuse(stopping())
		default:
			return
		}
	}
}

// refuse answers with err as every reply type: the reply function takes the one
// of its own.
func (r request) refuse(err *api.Error) {
	for _, body := range [...]any{api.RegisterReply{}, api.EventsReply{}, api.HelloReply{}, api.ControlReply{},
		api.PlanReply{}, api.Changes{}} {
		r.reply(refusal(body, err))
	}
}

func (l *Loop) nextTicket() Ticket {
	l.tickets++
	return l.tickets
}

func (l *Loop) take(r request) {
	ticket := l.nextTicket()
	event := r.event(ticket)
	if text := l.storeErr.Load(); text != nil && promises(event) {
		r.refuse(readOnly(errors.New(*text)))
		return
	}
	if _, ok := event.(Status); !ok {
		l.waiting[ticket] = r
	}
	l.step(event)
}

// drain takes what else is queued, so that it shares the store's sync.
func (l *Loop) drain() {
	for range batchLimit {
		select {
		case r := <-l.requests:
			l.take(r)
		default:
			return
		}
	}
}

func (l *Loop) step(event Event) {
	l.turn.Take(l.engine.Step(l.now(), event))
	for _, c := range l.engine.Changes() {
		l.observe(c)
	}
}

func (l *Loop) now() units.Instant { return units.Instant(l.start.UnixNano()).Add(time.Since(l.start)) }

// tell tells those who read the changes of what happened outside the engine.
func (l *Loop) tell(fact ledger.Fact) { l.observe(ledger.Change{At: l.now(), Fact: fact}) }

// flush ends the turn.
func (l *Loop) flush() {
	actions, err := l.turn.End(l.store.Apply)
	if err == nil {
		if l.storeErr.Swap(nil) != nil {
			l.tell(ledger.StoreWorks{})
		}
	} else if text := err.Error(); l.storeErr.Swap(&text) == nil {
		l.tell(ledger.StoreFailed{Err: err})
	}
	for _, action := range actions {
		switch a := action.(type) {
		case PublishPlan:
			if err := l.pub.PublishPlan(a.Plan); err != nil {
				l.tell(ledger.PublishFailed{To: a.Plan.Node, Err: err})
			}
		case PublishDirective:
			if err := l.pub.PublishDirective(a.App, a.Directive); err != nil {
				l.tell(ledger.PublishFailed{To: string(a.App), Err: err})
			}
		case Reply:
			if r, ok := l.waiting[a.To]; ok {
				delete(l.waiting, a.To)
				r.reply(a.Body)
			}
		case Answer:
			if r, ok := l.waiting[a.To]; ok {
				delete(l.waiting, a.To)
				l.asked = append(l.asked, asking{r, a, time.Now()})
			}
		case Dropped:
			l.tell(ledger.RecordLost{Err: a.Err})
		}
	}
}

// asking is a question that was asked at a moment.
type asking struct {
	request
	answer Answer
	since  time.Time
}

// spacing is by how many times as long as it took to cut a snapshot the next one is later: no
// questions, however many, take more of the loop's time than that.
const spacing = 10

// later is when questions that wait may be handed over; never, without any.
func (l *Loop) later() <-chan time.Time {
	if len(l.asked) == 0 {
		return nil
	}
	return time.After(time.Until(l.due))
}

// handOver has the questions that wait answered in their lanes, all from one snapshot.
func (l *Loop) handOver() {
	began := time.Now()
	if len(l.asked) == 0 || began.Before(l.due) {
		return
	}
	view := l.engine.View().Snapshot()
	l.due = time.Now().Add(spacing * time.Since(began))
	for _, q := range l.asked {
		q.lane.Run(q.login, func() { l.answer(q, view) })
	}
	l.asked = nil
}

// answer answers a question, on a goroutine of its lane.
func (l *Loop) answer(q asking, view ledger.View) {
	select {
	case <-l.done:
		q.refuse(stopping())
		return
	default:
	}
	if time.Since(q.since) > answerWithin {
		q.refuse(api.Errorf(api.KindTransient, "others' questions are answered first: try again in a moment"))
		return
	}
	var kept *report.Kept
	if q.lane == &l.looks {
		kept = &l.kept
	}
	q.reply(q.answer.Work(view, kept))
}
