package ledger

import (
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Config bounds what a Ledger keeps.
type Config struct {
	// Beta weighs stages in the nominal rate of an application (dag.Graph.Rate).
	Beta float64
	// Identity is the name of a store that has none yet; "" leaves it without.
	Identity string
	// History is how many ended applications are kept, DetailHistory how many of them
	// keep all their samples.
	History, DetailHistory int
	// HistoryBytes is how many bytes all of them take as they are stored, but for the newest one;
	// 0 is no bound.
	HistoryBytes int
	// RunAge is for how long a Run is kept, RunBytes how many bytes all of them take as they are stored.
	RunAge   time.Duration
	RunBytes int
	// Profiles and ProfileBytes bound the stored profiles: those that were used longest ago go; of
	// one owner there are a quarter of that at most. A profile that is not used for ProfileAge goes when
	// another one is stored. Profiles 0 is no bound, and so is ProfileAge 0.
	Profiles, ProfileBytes int
	ProfileAge             time.Duration
	// Samples bounds the samples kept of a stage, AllSamples those of all running
	// applications, Stages the stage attempts of one.
	Samples, AllSamples, Stages int
	// Lend is how nodes foretell what may be lent, zero where nothing is.
	Lend api.Lending
}

// Fact is one thing that has happened or that was decided. Most facts are exported types of this package with the
// unexported method apply. A fact of a capability's package embeds OfApp, OfNode or OfProfile. Its method
// Apply(View, T, *S) error changes the value of a Facet of S that an App, Node or Profile T has, or says what cannot be
// true. Facts are values; what they point to must not change once they are recorded.
type Fact interface {
	// apply makes the ledger know it. Where the fact cannot be true it returns an error and changes nothing.
	apply(l *Ledger) error
	// Line is its row in the table of what facts say (lines.go).
	Line() Line
}

// Change is a fact that was recorded.
type Change struct {
	// Seq grows by one from change to change of a Ledger; 0 is of what no Ledger has recorded.
	Seq uint64
	// At is when it was recorded, on the planner's clock.
	At   units.Instant
	Fact Fact
}

// Line is what c says.
func (c Change) Line() Line { return c.Fact.Line() }

// Ledger is what a planner knows. It changes by Record alone, and is not safe for
// concurrent use. Ledgers that began alike, and record the same facts at the same times
// and close at the same facts, are alike.
type Ledger struct {
	cfg Config
	now units.Instant
	// changed is which parts changed last by which fact.
	changed news

	// epoch is the newest one given to a Plan or a Directive, serial the newest
	// number given to an application.
	epoch, serial uint64
	identity      string
	term          uint64
	// uptime is how much time has passed, as far as anybody could be heard.
	uptime time.Duration
	wishes wishes

	apps   map[api.AppID]*App
	lineup []*App // In order of id; nil when applications have come or gone.
	// history are the applications that are over.
	history  history
	nodes    map[string]*Node
	ordered  []*Node // In order of name; nil when they have to be listed anew.
	drains   []*Node // Those of ordered that drain, listed with them.
	profiles profileShelf
	// waiting are those that are queued, in order of id; nil when one has come or gone.
	waiting []*App
	// learnt is what policies of the queue have learnt, by key.
	learnt map[string][]byte
	// taught is when each was last learnt, 0 before this planner's start.
	taught map[string]uint64
	// claims is the memory that executors of each node, and those that are to replace lost
	// ones there, take; freed is when some of it was given back last.
	claims map[string]claims
	freed  units.Instant
	// allocations is who has executors on each node, in order of application.
	allocations map[string][]*Allocation

	batch batch
}

// wishes are what an operator wants, nil for nothing: of all nodes, and of the queue.
type wishes struct {
	division *api.Division
	policy   *api.QueuePolicy
}

// batch is what Close has to look at.
type batch struct {
	number   uint64
	saved    counterRecord // The ledger's own record that was saved last.
	subject  subject       // Of the fact that is being recorded.
	changes  []Change
	pairs    []api.Pair
	again    []string        // Nodes that are to be told their Plans again.
	nodes    map[string]bool // Nodes whose Plans have to be compared.
	apps     []*App          // Applications that have changed; the room is kept.
	faults   []error
	directed []api.DirectiveExecutor // Scratch of direct.
}

// Begin says that what follows is at now, which does not decrease from call to call (an
// earlier now counts as the latest one).
func (l *Ledger) Begin(now units.Instant) { l.now = max(l.now, now) }

// app is the application that a fact is about, which changes these parts of it if it can be true.
func (l *Ledger) app(id api.AppID, what parts) (*App, error) {
	a := l.apps[id]
	if a == nil {
		return nil, fmt.Errorf("application %s is not there", id)
	}
	l.batch.subject.app, l.batch.subject.parts = a, what
	return a, nil
}

// executor is the executor that a fact is about, which changes these parts of its application.
func (l *Ledger) executor(id api.AppID, x api.ExecutorID, what parts) (*App, *Executor, error) {
	a, err := l.app(id, what)
	if err != nil {
		return nil, nil, err
	}
	if found := a.Executor(x); found != nil {
		return a, found, nil
	}
	return nil, nil, fmt.Errorf("executor %s of %s is not there", x, id)
}

// stage is the stage attempt that a fact is about, which changes it and these parts of its
// application.
func (l *Ledger) stage(id api.AppID, key api.StageKey, what parts) (*App, *Stage, error) {
	a, err := l.app(id, what)
	if err != nil {
		return nil, nil, err
	}
	if s := a.Stages[key]; s != nil {
		l.batch.subject.stage = s
		return a, s, nil
	}
	return nil, nil, fmt.Errorf("stage %v of %s is not there", key, id)
}

// node is the node that a fact is about, which changes these parts of it if it can be true.
func (l *Ledger) node(name string, what nodeParts) (*Node, error) {
	if n := l.nodes[name]; n != nil {
		l.batch.subject.node, l.batch.subject.of = n, what
		return n, nil
	}
	return nil, fmt.Errorf("node %s is not there", name)
}

// subject is what a fact that is being recorded is about, and which parts of it it changes.
type subject struct {
	app   *App
	parts parts
	stage *Stage
	node  *Node
	of    nodeParts
	// profile is a stored one, why the reason that a fact of a facet has for what it says of an application.
	profile profileID
	why     string
}

// relist has the nodes listed anew: one has come, gone, or begun or ceased to drain.
func (l *Ledger) relist() { l.ordered = nil }
