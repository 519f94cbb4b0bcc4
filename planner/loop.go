package planner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/infra/async"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

const (
	// batchLimit bounds how many requests share one store sync, turnLimit from what time on another one
	// waits for the next, so that the first of them does not wait for ever.
	batchLimit = 256
	turnLimit  = 10 * time.Millisecond
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
// An event that has entered waits in one queue per principal, and these take turns, statuses of nodes and heartbeats
// first. A principal is charged what its requests take of the loop's time (line). An event that waits for too long, or
// is too much, is refused with KindTransient.
//
// Questions hold nobody up: the loop cuts a snapshot for all that have come, which takes a tenth of
// its time at most, and two goroutines answer, one those about what there is, one those about what a deadline would
// mean, each principal's in turn. A third one packs profiles. A principal that has too many under way is refused with
// KindTransient before the loop hears of it.
//
// A turn drains the queue, steps the engine through all of it, syncs the store
// once, then publishes and replies. Changes that could not be stored are neither published nor acknowledged: requests
// are answered with KindTransient, and the changes are tried again at the next turn. Until then the planner is
// read-only: what asks for a promise is refused at once, what shows something is answered, and drivers and nodes are
// heard.
type Loop struct {
	// Turned hears on the loop's goroutine how long each turn has taken, if it is not nil; it is set before Run.
	Turned func(took time.Duration)
	// Owner is the login of the user that a login is of, if it is not nil; it is set before anything is handed over.
	Owner func(login string) string

	engine  *Engine
	pub     Publisher
	store   Store
	observe func(ledger.Change)

	arrived chan struct{}
	done    chan struct{}
	start   time.Time

	mu      sync.Mutex
	line    line
	stopped bool

	// The fields below belong to the loop's goroutine. The queue of applications may be asked again at askAt: it takes a
	// tenth of the loop's time at most.
	askAt   time.Duration
	tickets Ticket
	waiting map[Ticket]request
	turn    Turn
	parts   map[string]part // Of the turn, by login.

	// asked are the questions that wait for a snapshot: the next one may be cut at due.
	asked []asking
	due   time.Time

	// looks and plans are of questions, packing of profiles, by login; kept belongs to who answers in looks.
	looks, plans, packing async.Lane[string]
	kept                  report.Kept

	ended    atomic.Int64 // When the last turn ended, in ns since start.
	storeErr atomic.Pointer[string]
}

// NewLoop returns the loop around e. observe is called for every change, the engine's and what
// the loop itself has to tell, on the loop's goroutine; it keeps none. nil discards them.
func NewLoop(e *Engine, pub Publisher, store Store, observe func(ledger.Change)) *Loop {
	if observe == nil {
		observe = func(ledger.Change) {}
	}
	e.Hold()
	return &Loop{
		engine: e, pub: pub, store: store, observe: observe,
		arrived: make(chan struct{}, 1), done: make(chan struct{}), start: time.Now(), line: newLine(),
		waiting: make(map[Ticket]request), parts: make(map[string]part),
		looks:   async.Lane[string]{Each: looksEach, All: looksAll},
		plans:   async.Lane[string]{Each: plansEach, All: plansAll},
		packing: async.Lane[string]{Each: plansEach, All: plansAll},
	}
}

// Run runs the loop until ctx ends and returns nil. Call it once. Requests that
// it has not taken by then are answered with KindTransient.
func (l *Loop) Run(ctx context.Context) error {
	defer l.stop()
	ticker := time.NewTicker(TickInterval)
	defer ticker.Stop()
	var credit time.Duration // After how long one in debt may be served.
	for {
		var began time.Duration
		select {
		case <-ctx.Done():
			return nil
		case <-l.arrived:
			began = l.elapsed()
		case <-ticker.C:
			began = l.elapsed()
			l.ask(Tick{Deaf: l.pub.Deaf(), Busy: l.elapsed() < l.askAt})
		case <-l.later(credit):
			began = l.elapsed()
		}
		credit = l.drain()
		if l.engine.Due() && l.elapsed() >= l.askAt {
			l.ask(Settle{})
		}
		l.flush()
		l.handOver()
		l.ended.Store(int64(l.elapsed()))
		if l.Turned != nil {
			l.Turned(l.elapsed() - began)
		}
	}
}

// elapsed is the time since the loop's start.
func (l *Loop) elapsed() time.Duration { return time.Since(l.start) }

// ask steps with an event that may ask the queue of applications, which is not asked again before ten times as
// long has passed as that took.
func (l *Loop) ask(event Event) {
	asked, began := l.engine.Asked(), l.elapsed()
	l.step(event)
	l.parts[own] = l.parts[own].and(part{took: l.elapsed() - began})
	if l.engine.Asked() != asked {
		l.askAt = l.elapsed() + spacing*(l.elapsed()-began)
	}
}

// ErrReadOnly is of a loop that cannot store its state.
var ErrReadOnly = errors.New("planner: read-only, for its state cannot be stored")

// Alive returns an error when the loop has stalled or cannot store its state.
// Safe for concurrent use.
func (l *Loop) Alive() error {
	if text := l.storeErr.Load(); text != nil {
		return fmt.Errorf("%w: %s", ErrReadOnly, *text)
	}
	if idle := time.Since(l.start) - time.Duration(l.ended.Load()); idle > stalled {
		return fmt.Errorf("planner: the loop has not turned for %v", idle.Round(time.Millisecond))
	}
	return nil
}

// Register hands a driver's registration over.
func (l *Loop) Register(by api.Principal, r api.RegisterRequest, reply func(api.RegisterReply)) {
	send(l, by, 1+r.Launch.Size()/weightBytes, func(t Ticket) Event { return Register{To: t, By: by, Request: r} }, reply)
}

// Events hands a driver's events over.
func (l *Loop) Events(b api.Events, reply func(api.EventsReply)) {
	by := api.Principal{Kind: api.PrincipalApplication, Name: string(b.AppID)}
	size := 0
	for i := range b.Events {
		size += max(weightBytes/4, b.Events[i].Size())
	}
	r := asked(func(t Ticket) Event { return DriverEvents{To: t, Batch: b} }, by.Login(), 1+size/weightBytes, reply)
	r.urgent = len(b.Events) == 0
	l.enqueue(r)
}

// Hello hands a node's first status over.
func (l *Loop) Hello(s api.NodeStatus, reply func(api.HelloReply)) {
	hears(l, s.Node, func(t Ticket) Event { return Hello{To: t, Status: s} }, reply)
}

// Status hands a node's status over.
func (l *Loop) Status(s api.NodeStatus) {
	hears(l, s.Node, func(Ticket) Event { return Status{Status: &s} }, func(struct{}) {})
}

// hears queues what a node says.
func hears[T any](l *Loop, node string, event func(Ticket) Event, reply func(T)) {
	r := asked(event, api.Principal{Kind: api.PrincipalNode, Name: node}.Login(), mostWeight/16, reply)
	r.urgent = true
	l.enqueue(r)
}

// Silence hands over what was heard of nodes before the loop runs.
func (l *Loop) Silence(s Silence) {
	send(l, api.Principal{}, 1, func(Ticket) Event { return s }, func(struct{}) {})
}

// Standing hands over that the credentials of p were revoked, or that it has some again.
func (l *Loop) Standing(p api.Principal, revoked bool) {
	send(l, api.Principal{}, 1, func(Ticket) Event { return Standing{Principal: p, Revoked: revoked} }, func(struct{}) {})
}

// Control hands a request of the command line over. An unknown verb is answered
// with KindInvalid.
func (l *Loop) Control(by api.Principal, verb api.Verb, r api.ControlRequest, reply func(api.ControlReply)) {
	event := func(t Ticket) Event { return Control{To: t, By: by, Verb: verb, Request: r} }
	if questions[verb] == nil {
		if r.Body == nil {
			send(l, by, 1, event, reply)
			return
		}
		var body []byte // It takes longer to pack it than a turn may.
		put := func(t Ticket) Event { return Control{To: t, By: by, Verb: verb, Request: r, Packed: body} }
		ask(l, &l.packing, by, put, func() { body = packed(by, r) }, reply)
		return
	}
	ask(l, &l.looks, by, event, nil, reply)
}

// Plan hands a plan request over.
func (l *Loop) Plan(by api.Principal, r api.PlanRequest, reply func(api.PlanReply)) {
	ask(l, &l.plans, by, func(t Ticket) Event { return PlanQuery{To: t, By: by, Request: r} }, nil, reply)
}

// Look asks what has changed since a version, 0 for all there is.
func (l *Loop) Look(since uint64, reply func(api.Changes)) {
	ask(l, &l.looks, api.Principal{}, func(t Ticket) Event { return Look{To: t, Since: since} }, nil, reply)
}

// DriverOf asks l for the driver of an application that a node is to run.
func DriverOf(node string, app api.AppID, l *Loop, reply func(DriverAnswer)) {
	ask(l, &l.looks, api.Principal{Kind: api.PrincipalNode, Name: node},
		func(t Ticket) Event { return Driver{To: t, Node: node, App: app} }, nil, reply)
}

// Configure hands another configuration over; reply is told what is wrong with it.
func (l *Loop) Configure(cfg Config, reply func(api.ControlReply)) {
	send(l, api.Principal{}, 1, func(t Ticket) Event { return Configure{To: t, Config: cfg} }, reply)
}

// ask queues a question that is answered in lane, or a request that is made ready there, unless too many are under way.
func ask[T any](l *Loop, lane *async.Lane[string], by api.Principal, event func(Ticket) Event, ready func(),
	reply func(T)) {
	login := by.Login()
	if !lane.Enter(login) {
		asked(nil, "", 0, reply).refuse(api.Errorf(api.KindTransient,
			"the planner answers as many questions as it can at once, of you or of all: try again in a moment"))
		return
	}
	r := asked(event, login, 1, func(body T) {
		lane.Leave(login)
		reply(body)
	})
	if ready == nil {
		r.lane = lane
		l.enqueue(r)
		return
	}
	r.weight = mostWeight / 4
	lane.Run(login, func() {
		ready()
		l.enqueue(r)
	})
}

func asked[T any](event func(Ticket) Event, login string, weight int, reply func(T)) request {
	return request{event: event, login: login, weight: weight, reply: func(body any) {
		if v, ok := body.(T); ok {
			reply(v)
		}
	}}
}

// send queues a request of by's.
func send[T any](l *Loop, by api.Principal, weight int, event func(Ticket) Event, reply func(T)) {
	l.enqueue(asked(event, by.Login(), weight, reply))
}

// enqueue queues a request, or refuses it.
func (l *Loop) enqueue(r request) {
	if r.since, r.owner = l.elapsed(), r.login; l.Owner != nil {
		r.owner = l.Owner(r.login)
	}
	l.mu.Lock()
	err := error(stopping())
	if !l.stopped {
		err = l.line.add(r, r.since)
	}
	l.mu.Unlock()
	if err != nil {
		r.refuse(api.ToWire(err))
		return
	}
	l.wake()
}

// wake has the loop turn.
func (l *Loop) wake() {
	select {
	case l.arrived <- struct{}{}:
	default:
	}
}

func stopping() *api.Error { return api.Errorf(api.KindTransient, "the planner is stopping") }

// stop answers whatever the loop will not answer any more.
func (l *Loop) stop() {
	close(l.done)
	l.mu.Lock()
	l.stopped = true
	waiting := l.line.all()
	l.mu.Unlock()
	for _, r := range waiting {
		r.refuse(stopping())
	}
	for _, r := range l.waiting {
		r.refuse(stopping())
	}
	clear(l.waiting)
	for _, q := range l.asked {
		q.refuse(stopping())
	}
	l.looks.Wait()
	l.plans.Wait()
	l.packing.Wait()
}

func (l *Loop) nextTicket() Ticket {
	l.tickets++
	return l.tickets
}

// take steps with a request and reports whether the turn answers it.
func (l *Loop) take(r request) (answers bool) {
	ticket := l.nextTicket()
	event := r.event(ticket)
	if text := l.storeErr.Load(); text != nil && promises(event) {
		r.refuse(readOnly(errors.New(*text)))
		return false
	}
	if _, ok := event.(Status); !ok {
		l.waiting[ticket], answers = r, true
	}
	l.step(event)
	return answers
}

// drain takes what is queued, so that it shares the store's sync, and returns after how long one in debt may be
// served. Its end comes earlier by what the answers may take.
func (l *Loop) drain() (credit time.Duration) {
	began, answers := l.elapsed(), time.Duration(0)
	for range batchLimit {
		now := l.elapsed()
		if now-began+answers > turnLimit {
			break
		}
		l.mu.Lock()
		r, ok, wait := l.line.next(now)
		l.mu.Unlock()
		if !ok {
			return wait
		}
		if now-r.since > answerWithin && !r.urgent {
			r.refuse(api.Errorf(api.KindTransient, "others' requests are taken first: try again in a moment"))
			continue
		}
		answered := l.take(r)
		took := l.elapsed() - now
		l.mu.Lock()
		l.line.spend(r.login, now+took, took)
		answer := l.line.answer(r.login)
		l.mu.Unlock()
		l.parts[r.login] = l.parts[r.login].and(part{took: took})
		if answered {
			answers += answer
		}
	}
	l.wake() // There may be more.
	return 0
}

func (l *Loop) step(event Event) {
	l.turn.Take(l.engine.Step(l.now(), event))
	changes := l.engine.Changes()
	for _, c := range changes {
		l.observe(c)
	}
	for _, pack := range unpacked(l.engine.View(), changes) {
		l.packing.Run(own, func() {
			if f, ok := pack(); ok {
				send(l, api.Principal{}, 1, func(Ticket) Event { return Packed{f} }, func(struct{}) {})
			}
		})
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
	began, answers := l.elapsed(), time.Duration(0) // The disk is waited for by all alike.
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
				at := l.elapsed()
				r.reply(a.Body)
				took := l.elapsed() - at
				l.parts[r.login] = l.parts[r.login].and(part{took: took, answers: took, answer: took})
				answers += took
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
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line.charge(l.parts, l.elapsed(), l.elapsed()-began-answers)
	clear(l.parts)
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

// later is when questions that wait may be handed over, the queue be asked, or a principal in debt be served
// after credit, 0 for none; never, without any.
func (l *Loop) later(credit time.Duration) <-chan time.Time {
	if len(l.asked) > 0 {
		if due := max(0, time.Until(l.due)); credit == 0 || due < credit {
			return time.After(due)
		}
	}
	if credit == 0 {
		return nil
	}
	return time.After(credit)
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
