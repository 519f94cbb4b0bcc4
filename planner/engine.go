package planner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Engine is the planner's mind: it takes Events and returns Actions. It is
// synchronous, reads no clock and is not safe for concurrent use; Loop is its
// shell. The same Config, records and Events give the same Actions.
type Engine struct {
	cfg    Config
	now    units.Instant
	ticked units.Instant // When the last Tick was; 0 before the first.
	// uptime is how much time ticks have counted, silence what it will be at least when
	// the next node is lost or forgotten.
	uptime, silence time.Duration
	// epoch is the newest one given to a Plan or a Directive, serial the newest
	// number given to an application.
	epoch, serial uint64
	// identity and term are what Plans carry; see Config.Identity.
	identity string
	term     uint64

	apps     map[api.AppID]*app
	lineup   []*app      // In order of id; nil when applications have come or gone.
	ended    []*endedApp // Oldest first.
	nodes    map[string]*node
	ordered  []*node // In order of name; nil when they have to be listed anew.
	drains   []*node // Those of ordered that drain, listed with them.
	profiles map[string]*annotated
	newest   map[string]recorded // By profile; not saved.
	// tenants is who has executors on each node, in order of application.
	tenants map[string][]*tenant
	// growth counts what may let running applications have more executors.
	growth uint64

	// What the step in progress has to do.
	changes  []Change
	publish  []Action
	replies  []func() Reply
	log      []Action
	dirty    map[string]bool         // Nodes whose Plans have to be compared.
	concerns []*app                  // Applications that the step may have changed; its room is kept.
	counters bool                    // epoch, serial or term changed.
	flushes  int                     // How many applications may still flush in this tick.
	parts    []part                  // Scratch of rebalance.
	directed []api.DirectiveExecutor // Scratch of direct.
}

// New returns an engine that goes on from what an earlier one saved: all records
// whose keys begin with one of Prefixes. It returns an error when cfg is not
// valid or a record cannot be read.
func New(cfg Config, records []Record) (*Engine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	e := &Engine{cfg: cfg, apps: make(map[api.AppID]*app), nodes: make(map[string]*node),
		profiles: make(map[string]*annotated), newest: make(map[string]recorded), dirty: make(map[string]bool),
		tenants: make(map[string][]*tenant), growth: 1}
	if err := e.restore(records); err != nil {
		return nil, fmt.Errorf("planner state: %w", err)
	}
	e.identity = cmp.Or(e.identity, cfg.Identity)
	if e.identity != "" {
		e.term, e.counters = e.term+1, true // Saved before a Plan carries it.
	}
	return e, nil
}

// Step takes one event at now, which does not decrease from call to call (an
// earlier now counts as the latest one). It returns what has to be done: at most
// one Save, which comes first and must be on disk before the rest takes effect.
func (e *Engine) Step(now units.Instant, event Event) []Action {
	e.now = max(e.now, now)
	switch event.(type) {
	case DriverEvents, Hello, Status: // These say themselves whom they concern.
	default:
		e.concern(e.applications()...)
	}
	switch ev := event.(type) {
	case Register:
		e.register(ev)
	case DriverEvents:
		e.driverEvents(ev)
	case Hello:
		e.hello(ev)
	case Status:
		e.status(ev.Status)
	case Control:
		e.control(ev)
	case PlanQuery:
		e.planQuery(ev)
	case Tick:
		e.tick()
	}
	return e.finish()
}

// tick lets time pass: silent drivers and nodes, passed deadlines, applications
// whose final figures have been waited for.
func (e *Engine) tick() {
	dt := min(e.now.Sub(e.ticked), maxTick)
	if e.ticked == 0 {
		dt = 0
	}
	e.ticked = e.now
	e.uptime += dt
	e.nodesTick()
	e.vacate(dt)
	apps := e.applications()
	e.flushes = leastFlushes + len(apps)*int(dt)/int(flushEvery)
	for _, a := range apps {
		e.appTick(a, dt)
	}
	for _, a := range apps {
		e.rebalance(a)
	}
}

// applications returns the applications in order of id; the caller must not change
// it.
func (e *Engine) applications() []*app {
	if e.lineup == nil {
		e.lineup = sorted(e.apps)
	}
	return e.lineup
}

// concern has the step look at apps when it ends: what of them is to be saved and
// told.
func (e *Engine) concern(apps ...*app) {
	for _, a := range apps {
		if !a.concerned {
			a.concerned = true
			e.concerns = append(e.concerns, a)
		}
	}
}

// concerned returns the applications that the step may have changed and that are
// not history, in order of id.
func (e *Engine) concerned() []*app {
	for _, a := range e.concerns {
		a.concerned = false
	}
	concerns := slices.DeleteFunc(e.concerns, func(a *app) bool { return e.apps[a.ID] != a })
	e.concerns = e.concerns[:0]
	slices.SortFunc(concerns, func(a, b *app) int { return cmp.Compare(a.ID, b.ID) })
	return concerns
}

// inOrder returns the nodes in order of name, draining those that drain; the caller
// must not change them.
func (e *Engine) inOrder() []*node {
	e.list()
	return e.ordered
}

func (e *Engine) draining() []*node {
	e.list()
	return e.drains
}

func (e *Engine) list() {
	if e.ordered == nil {
		e.ordered = sorted(e.nodes)
		e.drains = slices.DeleteFunc(slices.Clone(e.ordered), func(n *node) bool { return !n.Draining })
	}
}

// relist has the nodes listed anew: one has come, gone, or begun or ceased to drain.
func (e *Engine) relist() { e.ordered = nil }

// maxTick is the most time that one tick counts for: a planner that was stopped
// for longer has heard nobody, which says nothing about them.
const maxTick = time.Second

// finish turns what the step changed into actions.
func (e *Engine) finish() []Action {
	if len(e.concerns)+len(e.dirty)+len(e.changes)+len(e.publish)+len(e.log)+len(e.replies) == 0 && !e.counters {
		return nil // Most statuses of nodes change nothing.
	}
	concerns := e.concerned()
	var touched []*app
	for _, a := range concerns {
		if a.touched {
			a.touched = false
			touched = append(touched, a)
			e.direct(a)
			for _, x := range a.Executors {
				e.dirty[x.Node] = true
				if t := e.tenant(a, x.Node); t != nil {
					t.entry = nil
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.dirty)) {
		if n := e.nodes[name]; n != nil {
			e.replan(n)
		}
	}
	clear(e.dirty)
	for _, a := range touched {
		if held := a.held(); held != a.Held {
			a.Held, a.dirty = held, true
		}
	}
	for _, a := range concerns {
		e.saveApp(a)
	}
	clear(concerns) // Their room is kept, they are not: some are over.
	e.saveCounters()

	actions := make([]Action, 0, 1+len(e.log)+len(e.publish)+len(e.replies))
	if len(e.changes) > 0 {
		actions = append(actions, Save{Changes: e.changes})
	}
	actions = append(append(actions, e.publish...), e.log...)
	for _, reply := range e.replies {
		actions = append(actions, reply())
	}
	e.changes, e.publish, e.log, e.replies = nil, nil, nil, nil
	return actions
}

// reply answers a request once the step is over, so that body sees its outcome.
func (e *Engine) reply(to Ticket, body func() any) {
	if to != 0 {
		e.replies = append(e.replies, func() Reply { return Reply{To: to, Body: body()} })
	}
}

func (e *Engine) occur(o Occurrence) { e.log = append(e.log, Log{o}) }

// touch marks a as changed: its record, its Directive and its nodes' Plans. What
// changes only targets and shares does not change the record (steer).
func (a *app) touch() { a.dirty, a.touched = true, true }
func (a *app) steer() { a.marked, a.touched = true, true }

// nextEpoch returns an epoch greater than all before.
func (e *Engine) nextEpoch() uint64 {
	e.epoch++
	e.counters = true
	return e.epoch
}

// direct compares a's Directive with what it should be and publishes a new one.
func (e *Engine) direct(a *app) {
	// Mostly only targets have changed, and this is thrown away.
	d := api.Directive{Gated: a.gated(), Executors: e.directed[:0], Notice: a.Notice, Dead: a.dead(), Shares: a.shares()}
	for _, x := range a.Executors {
		if !x.Gone {
			d.Executors = append(d.Executors, api.DirectiveExecutor{ID: x.ID, Node: x.Node, Cores: e.offered(x.Node), Leaving: x.Leaving})
		}
	}
	e.directed = d.Executors
	old := a.Directive
	if old.Gated == d.Gated && old.Notice == d.Notice && old.Dead == d.Dead && slices.Equal(old.Executors, d.Executors) &&
		slices.EqualFunc(old.Shares, d.Shares, sameShares) && old.Epoch > 0 {
		return
	}
	if a.noticeSent && old.Notice == d.Notice {
		// The driver has it; repeating it would say it twice.
		a.Notice, d.Notice = "", ""
	}
	d.Epoch, d.Executors = e.nextEpoch(), append([]api.DirectiveExecutor{}, d.Executors...)
	a.Directive, a.dirty = d, true
	if a.running() {
		e.publish = append(e.publish, PublishDirective{App: a.ID, Directive: d})
	}
}

// named is what sorted puts in order.
type named interface{ name() string }

func (a *app) name() string       { return string(a.ID) }
func (n *node) name() string      { return n.Node }
func (p *annotated) name() string { return p.body.Name }

// sorted returns the values of m in order of name: maps are walked in one order
// only, so that the same events give the same actions.
func sorted[K comparable, V named](m map[K]V) []V {
	return slices.SortedFunc(maps.Values(m), func(a, b V) int { return cmp.Compare(a.name(), b.name()) })
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
