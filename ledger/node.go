package ledger

import (
	"cmp"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Presence is whether a node is there.
type Presence int

// The presences of a node.
const (
	Here Presence = iota // It is heard.
	Lost                 // It has been silent for too long.
	Left                 // It said that it leaves.
)

// NodeRecord is what is stored of a node.
type NodeRecord struct {
	Node    string      `json:"node"`
	Host    string      `json:"host"`
	Offered units.Cores `json:"offered_cores"`
	Total   units.Cores `json:"total_cores"`
	Memory  units.Bytes `json:"memory_bytes"`
	Release string      `json:"release,omitempty"`
	// Machine is the id of its machine's boot, where it starts no executors and finds those of other cluster managers,
	// and UntoldMachine where it has not said that; "" of a node that starts its own.
	Machine string `json:"attach_machine,omitempty"`
	// Drained says that an operator wants it empty.
	Drained bool `json:"draining,omitempty"`
	// Division is what an operator wants of this node alone, nil for nothing.
	Division *api.Division `json:"division,omitempty"`
	// Epoch is that of the Plan in force, or of an earlier one with the same
	// executors: see Executor.planEpoch.
	Epoch uint64 `json:"epoch"`
	// Over is who has nothing there any more, until the node has said so.
	Over []api.AppID `json:"over,omitempty"`
}

// Node is a node as the planner knows it.
type Node struct {
	NodeRecord
	Presence    Presence
	Incarnation string
	Seq         uint64
	Acked       uint64 // The epoch that its last status said.
	Executors   int
	Others      units.Cores // The cores that others than executors last used of it.
	Dividing    Dividing
	// Heard is View.Uptime when it was last heard, Published when its Plan was
	// last sent, 0 while nobody tells a lost node what has changed.
	Heard, Published time.Duration
	Clash            Clash
	Allegiance       Allegiance

	plan content // Of the Plan in force.
	book nodeBook
}

// Tenants are who has executors on n, in order of application.
func (n *Node) Tenants() []*Allocation { return n.book.tenants }

// Kernel is what n's kernel does for memory, and how short of it the node is, by its newest status that says so.
func (n *Node) Kernel() api.Kernel { return n.book.kernel }

// lodge says who has executors on n, nil for a node that is not known.
func (n *Node) lodge(tenants []*Allocation) {
	if n != nil {
		n.book.tenants = tenants
	}
}

// nodeBook is the batch in which a node's record changed last, and the one since which there is to be a new Plan though
// its content is the same. It has the ledger's claims and allocations of the node: each registration looks at all
// nodes. Facets keep their values of the node in held.
type nodeBook struct {
	changed, renewed uint64
	gave             units.Cores // Cores that it gives, as of the newest fact about it.
	claims           claims
	lend             api.Lending // As its Plan says, that in force or one of before.
	tenants          []*Allocation
	kernel           api.Kernel
	// lodgers is of whom it runs a component, in order of application.
	lodgers []*App
	held    facets
}

// claims are what is claimed of a node: promised, also to executors that are to replace lost ones, and lent; spare is
// what executors there are foretold to leave.
type claims struct{ promised, lent, spare units.Bytes }

// Clash is what is known of a node's name that two want: Challenger is the incarnation that came later, Confirmed says
// that the present one has spoken since.
type Clash struct {
	Challenger string
	Confirmed  bool
}

// Allegiance is whom a node follows, and whom it runs executors for.
type Allegiance struct {
	// Follows is the other planner whose Plan it follows, "" for none, since View.Uptime was
	// Since; Ours says that it has followed this one since its start. Succeeds is the planner
	// in whose place this one was put for it.
	Follows  string
	Since    time.Duration
	Ours     bool
	Succeeds string
	// Foreign says that it runs executors which this planner does not have there: Theirs, by
	// application. Its Plan leaves these applications out until they are taken over, for it
	// would end what it does not name.
	Foreign bool
	Theirs  []UnknownExecutors
}

// UnknownExecutors is an application of which a node runs executors that the planner does not know.
// Owner is api.OwnerOf its submission, "" where that is not known.
type UnknownExecutors struct {
	App       api.AppID         `json:"app"`
	Owner     string            `json:"owner,omitempty"`
	Executors []UnknownExecutor `json:"executors"` // In order of id.
}

func (o UnknownExecutors) equal(p UnknownExecutors) bool {
	return o.App == p.App && o.Owner == p.Owner && slices.Equal(o.Executors, p.Executors)
}

// UnknownExecutor is one of them, which lives.
type UnknownExecutor struct {
	ID    api.ExecutorID    `json:"id"`
	State api.ExecutorState `json:"state"`
	Lent  bool              `json:"lent,omitempty"`
}

// Dividing is how a node's incarnation said last that it divides its cores, and what came
// of it.
type Dividing struct {
	api.Division
	losses []api.Loss
}

// content is what makes a node's Plan new or not.
type content struct {
	entries  []*planEntry
	exiting  []api.AppID
	division *api.Division
	lend     api.Lending
}

func (c content) equal(o content) bool {
	return c.division == o.division && c.lend == o.lend && slices.Equal(c.exiting, o.exiting) &&
		slices.EqualFunc(c.entries, o.entries, (*planEntry).equal)
}

// Here reports whether its controller is there.
func (n *Node) Here() bool { return n.Presence == Here }

// Spoken reports whether n has said what it runs since this planner's start. Of one that has not
// that is as old as the planner before.
func (n *Node) Spoken() bool { return n.Incarnation != "" }

// Draining reports whether somebody wants n empty: an operator, or a facet (Facet.Drains).
func (n *Node) Draining() bool { return n.Drained || n.book.held.drains }

// Live reports whether new executors may be put on n.
func (n *Node) Live() bool {
	return n.Here() && !n.Draining() && !n.Allegiance.Foreign && !n.Attaches()
}

// gives is how many cores n gives to executors that may come.
func (n *Node) gives() units.Cores {
	if !n.Live() {
		return 0
	}
	return n.Offered
}

// Attaches reports whether n starts no executors and finds those of other cluster managers.
func (n *Node) Attaches() bool { return n.Machine != "" }

// UntoldMachine stands for the machine of a node of an earlier release.
const UntoldMachine = "untold"

// known strikes executors that are not strange any more.
func (w *Allegiance) known(id api.AppID, executors []UnknownExecutor) {
	for i := range w.Theirs {
		if o := &w.Theirs[i]; o.App == id {
			o.Executors = slices.DeleteFunc(slices.Clone(o.Executors), func(x UnknownExecutor) bool {
				return slices.Contains(executors, x)
			})
		}
	}
	w.Theirs = slices.DeleteFunc(w.Theirs, func(o UnknownExecutors) bool { return len(o.Executors) == 0 })
}

// UnknownExecutors is what n runs of the application that this planner does not know, nil for nothing.
func (n *Node) UnknownExecutors(id api.AppID) *UnknownExecutors {
	at := slices.IndexFunc(n.Allegiance.Theirs, func(o UnknownExecutors) bool { return o.App == id })
	if at < 0 {
		return nil
	}
	return &n.Allegiance.Theirs[at]
}

// Planned reports whether its Plan has applications.
func (n *Node) Planned() bool { return len(n.plan.entries) > 0 }

// Unsaid stands for the memory of a node that does not say what it has.
const Unsaid = units.Bytes(1 << 60)

// Room is the memory that n gives to executors, Unsaid where it does not say.
func (n *Node) Room() units.Bytes {
	if n.Memory == 0 {
		return Unsaid
	}
	return n.Memory
}

// Slots is how many task slots an executor started by launch has on n: as asked, else as
// many as n offers cores, rounded up.
func (n *Node) Slots(launch api.Launch) int {
	if launch.Cores > 0 {
		return launch.Cores
	}
	return max(1, int(n.Offered.CeilTo(1)))
}

// PerStage is how many executors started by launch one stage has on n: as many as fill its cores,
// one at least. Of attached ones a stage has all that there are.
func (n *Node) PerStage(launch api.Launch) int {
	switch {
	case launch.Attach != nil:
		return api.MostExecutorID
	case launch.Cores <= 0:
		return 1
	}
	return max(1, int(n.Offered.CeilTo(1))/launch.Cores)
}

// StageSlots is how many task slots one stage has on n, where so many executors are started by launch.
func (n *Node) StageSlots(launch api.Launch, executors int) int {
	return n.Slots(launch) * min(n.PerStage(launch), executors)
}

// Allocation is what an application has on one node: its executors that are not gone,
// in order of id. Allocations are kept by node, so that neither a Plan nor a status makes
// anybody walk all applications.
type Allocation struct {
	App       *App
	Executors []*Executor
	entry     *planEntry // Its part of the node's Plan, nil when that is to be made.
	// since is the epoch of the first Plan that told the node how to start its executors, 0
	// for none.
	since  uint64
	launch *api.Launch // How they are started on the node, nil when that is to be made; Plans share it.
	bytes  int         // What launch takes in a Plan, 0 when that is not known.
	used   units.Work  // What the status at hand says that they used since the one before.
}

func (t *Allocation) compare(id api.AppID) int { return cmp.Compare(t.App.ID, id) }

// Full reports whether t, which may be nil, has as many executors as a node holds of an application.
func (t *Allocation) Full() bool { return t != nil && len(t.Executors) >= api.MostOnHost }

// Stays reports whether t, which may be nil, has executors that are not asked to leave.
func (t *Allocation) Stays() bool {
	return t != nil && slices.ContainsFunc(t.Executors, func(x *Executor) bool { return !x.Leaving })
}

// Cores are those that t's application can use of its node, which offers so many: all, or what its executors can that
// another cluster manager has started and that stay.
func (t *Allocation) Cores(offered units.Cores) units.Cores {
	if t.App.Tenant.Launch.Attach == nil {
		return offered
	}
	var all units.Cores
	for _, x := range t.Executors {
		if !x.Leaving {
			all += t.App.Tenant.MostOf(x, offered)
		}
	}
	return min(all, offered)
}
