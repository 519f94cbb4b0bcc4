package planner

import (
	"maps"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// occasion is when the agenda is asked: what kind of event the step in progress is of.
type occasion uint8

const (
	onDriver   occasion = 1 << iota // A driver has sent a batch.
	onRegister                      // A driver has registered.
	onNode                          // A node has sent a status.
	onDeadline                      // Somebody gives an application a deadline or a most of cores.
	onDrain                         // Somebody drains a node.
	onRequest                       // Somebody asks for something else.
	onSettle                        // A decision that was left for several steps at once is due.
	onTick                          // Time passes.

	onAny occasion = 1<<iota - 1
)

// said is what the event at hand says beside facts, for the rows of the agenda.
type said struct {
	on occasion
	// ready are the stages that have become ready, idle says that the driver has told all that it knows.
	ready []*ledger.Stage
	idle  bool
	// newcomer is the application that has come, "" for none.
	newcomer api.AppID
	// driver is the node on which the newcomer's driver starts, "" for none, group are those of its core components.
	driver string
	group  []string
	// given is the deadline or most of cores that an application was given, nil for none; released says that it was let go
	// before, redue that it is a deadline.
	given           ledger.Fact
	released, redue bool
	// node is the one that speaks, and stood how it stood before.
	node  string
	stood standing
	// passed is how much time has passed in which others could be heard, busy that the queue waits for a later tick.
	passed time.Duration
	busy   bool
	packed []byte // Control.Packed.
	// ground is what changes of attached executors go by until they are settled, nil before the first; walks counts the
	// walks over nodes or over an application's executors that were done for them.
	ground *ground
	walks  uint64
	// last is the mark of the row that is asked as it was before, later says that it cannot be answered yet, again when it
	// is to be asked again at the latest (later, askAt).
	last  mark
	later bool
	again units.Instant
}

// matter is what a mark is of: a row of the agenda, and the application, user or node that it is about, "" for all
// there is.
type matter struct {
	row string
	app api.AppID
	of  string
}

// mark is all that is remembered of a matter: when it was asked about last, 0 for never, by which version of all
// that is known, and how often.
type mark struct {
	at      units.Instant
	version uint64
	times   uint64
	// again is when it is to be asked again at the latest, 0 for no such time; since is since when it has had the same
	// answer, as far as its row says that, 0 for not.
	again, since units.Instant
}

// core is what all that decides and takes in has in common: the ledger, and what the step in
// progress says.
type core struct {
	cfg    Config
	ledger *ledger.Ledger
	// How a run is estimated, where its executors go and how it is judged, by cfg.
	estimates estimate.Policy
	places    placement.Policy
	verdicts  verdict.Policy
	// line says who starts, by the policy in force.
	line queue.Policy

	view    ledger.View
	outlook *estimate.Outlook // Of the step.
	now     units.Instant

	said    said
	memory  memory
	marks   map[matter]*mark
	replies []func() Reply
	answers []Action
	// moved are the deadlines of applications that wait which were given since the queue was asked, settled
	// the replies that tell what came of that; holds is Engine.Hold.
	moved   []ledger.DeadlineGiven
	settled []func() Reply
	holds   bool
}

// markOf is the mark of a matter.
func markOf(c *core, of matter) *mark {
	m := c.marks[of]
	if m == nil {
		m = new(mark)
		c.marks[of] = m
	}
	return m
}

// later says that the row at hand cannot be answered yet: it counts as not asked.
func later(c *core) { c.said.later = true }

// askAt says when the row at hand is to be asked again at the latest.
func askAt(c *core, at units.Instant) { c.said.again = at }

// forgetEvery is how often marks are forgotten of applications that are not there any more.
const forgetEvery = time.Minute

func forget(c *core) {
	maps.DeleteFunc(c.marks, func(of matter, _ *mark) bool { return of.app != "" && c.view.App(of.app) == nil })
}

func newCore(cfg Config, l *ledger.Ledger) core {
	v, estimates := l.View(), cfg.estimates()
	return core{cfg: cfg, ledger: l, view: v, outlook: estimates.Outlook(v), estimates: estimates, places: cfg.places(),
		verdicts: cfg.verdicts(), line: cfg.line(cfg.PolicyIn(v)), memory: newMemory(), marks: map[matter]*mark{}}
}

// record has the ledger know a fact, and reports whether it can be true. That it cannot is
// a fault of a decider, and harms nothing else.
func (c *core) record(f ledger.Fact) bool {
	if err := c.ledger.Record(f); err != nil {
		c.refused(err)
		return false
	}
	return true
}

// refused has it known that a decision was left out.
func (c *core) refused(err error) { c.record(ledger.DecisionRefused{Err: err}) }

// say tells an application's user a line, "" for none.
func (c *core) say(id api.AppID, text string) {
	if text != "" {
		c.record(ledger.Noticed{App: id, Text: text})
	}
}

// reply answers a request once the step is over, so that body sees its outcome.
func (c *core) reply(to Ticket, body func() any) {
	if to != 0 {
		c.replies = append(c.replies, func() Reply { return Reply{To: to, Body: body()} })
	}
}

// show is reply for what promises nothing.
func (c *core) show(to Ticket, body any) {
	if to != 0 {
		c.replies = append(c.replies, func() Reply { return Reply{To: to, Body: body, Reads: true} })
	}
}
