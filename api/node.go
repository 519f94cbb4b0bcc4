package api

import (
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// Plan is all that a node has to do, as one whole value. A node takes a Plan
// only if its Epoch is greater than that of the Plan it follows, and not of an
// older Term. While it runs an executor it takes one of another planner only if that
// Succeeds the one it follows.
type Plan struct {
	V     int    `json:"v"`
	Epoch uint64 `json:"epoch"`
	// Planner is the name of the planner's store, which outlives the planner's
	// process; Term counts the starts on that store. Both are empty where the
	// planner has no name: its Plans are taken by their Epochs alone.
	Planner string `json:"planner,omitempty"`
	Term    uint64 `json:"term,omitempty"`
	// Succeeds is the planner that the node follows and that does not serve any more, as far
	// as this one can tell; "" where the node follows none but this one.
	Succeeds string `json:"succeeds,omitempty"`
	// Sent is when the times left were right, on the planner's clock, which only
	// differences mean something of and only within a term; 0 for unknown.
	Sent units.Instant `json:"sent_ns,omitempty"`
	Node string        `json:"node"`
	// Division is how the node divides its cores; nil is as it is configured.
	Division *Division `json:"division,omitempty"`
	// Lend is how the node foretells what executors leave of their memory; zero where nothing is lent.
	Lend Lending `json:"lend,omitzero"`
	// Apps are the applications with executors on the node, in order of ID; Over are those
	// that have ended: their executors are stopped. Of who is in neither the planner knows
	// nothing: its executors go on without targets for a grace period.
	Apps []PlanApp `json:"apps"`
	Over []AppID   `json:"over,omitempty"`
	// Exiting are those of Over whose drivers have said that they stop, and have not exited as
	// far as is known.
	Exiting []AppID `json:"exiting,omitempty"`
}

// Names reports whether p knows of the application, as one that runs on the node or is over.
func (p *Plan) Names(id AppID) bool {
	return slices.ContainsFunc(p.Apps, func(a PlanApp) bool { return a.ID == id }) || slices.Contains(p.Over, id)
}

// Lending is how a node foretells what executors leave of their memory: By names the forecast, Every is the time
// between two samples.
type Lending struct {
	By    string        `json:"by"`
	Every units.Seconds `json:"every_s"`
}

// PlanApp is one application's part of a Plan.
type PlanApp struct {
	ID   AppID  `json:"id"`
	Name string `json:"name"`
	// HasDeadline says that Remaining (what is left of the application's
	// deadline, negative when passed) counts.
	HasDeadline bool          `json:"has_deadline"`
	Remaining   units.Seconds `json:"remaining_s"`
	// Band says whether it comes first where cores are short, Class how much it has of what
	// is shared.
	Band  Band  `json:"band,omitempty"`
	Class Class `json:"class,omitempty"`
	// Least is the least number of cores of the node with which the deadline could be kept
	// when a stage was last given targets; 0 when unknown, and with BandShared.
	Least units.Cores `json:"least_cores,omitempty"`
	// Reserved says that it has Least without targets: nobody knows what it needs, and what is reserved is that.
	Reserved bool `json:"reserved,omitempty"`
	// Cap is the most cores that its executors on the node get together, whatever they do and
	// in every mode; 0 is no cap.
	Cap units.Cores `json:"cap_cores,omitempty"`
	// NominalRate is the average over its stages (anr of the source, section 6.2);
	// 0 when unknown.
	NominalRate units.Rate `json:"nominal_rate,omitempty"`
	// Launch is how its executors are started; nil where the node has taken a Plan that
	// said so, and it has not changed since.
	Launch *Launch `json:"launch,omitempty"`
	// Component is how the driver is started that Executors have by its name, Components are how others are that have
	// names; nil is of one that leaves.
	Component  *Component                `json:"component,omitempty"`
	Components map[ExecutorID]*Component `json:"components,omitempty"`
	// Executors are those that should run on the node, in order of id. The node
	// starts what is missing once and stops what is not listed; one that exited
	// stays exited until the planner lists a new id.
	Executors []ExecutorID `json:"executors"`
	// Loans are those of Executors whose memory is lent, Taken those of them from which it is taken back: the node stops
	// them when their driver has had the time to hear of it.
	Loans []ExecutorID `json:"lent,omitempty"`
	Taken []ExecutorID `json:"taken,omitempty"`
	// Stages are the paced stages bound to executors of the node, in order of
	// stage, attempt and executor. An executor without a target has no quota.
	Stages []StageTarget `json:"stages"`
}

// StageTarget is what one stage executor has to reach.
type StageTarget struct {
	StageKey
	Executor ExecutorID `json:"executor"`
	// Rev grows whenever the planner changes this target. The node anchors
	// Remaining on its own clock when it first sees a Rev, less the time for which
	// the Plan was held up on its way, and keeps that anchor.
	Rev uint64 `json:"rev"`
	// Remaining is the time left until the stage's deadline; <= 0 means all the
	// cores it can use.
	Remaining units.Seconds `json:"remaining_s"`
	// Weight and Tasks are the executor's share: the Do of Eq 9-10 in the unit
	// of the progress page (the mean task weighs 1).
	Weight float64 `json:"weight"`
	Tasks  int     `json:"tasks"`
	// Work is the CPU time that the share is predicted to take; 0 when unknown.
	Work units.Work `json:"core_seconds"`
	// Records is how many records the share is expected to read; 0 when unknown.
	Records float64 `json:"records"`
	// LongestTask is the CPU time that the longest task of the stage is predicted
	// to take, wherever it runs; 0 when unknown.
	LongestTask units.Seconds `json:"longest_task_s,omitempty"`
	// TaskCores is how many cores one task can use, as far as is known before; 0 counts as 1.
	TaskCores units.Cores `json:"task_cores,omitempty"`
	// Reading is the part of a large or long task's CPU time in which it reads its records,
	// as measured before; 0 when unknown.
	Reading units.Fraction `json:"reading,omitempty"`
	// FixedPart is the part of the weights that is the same for each task, whatever it reads;
	// below 1.
	FixedPart units.Fraction `json:"fixed_part,omitempty"`
	// TaskCost is what a task takes whatever it reads, as measured before; 0 when unknown.
	TaskCost units.Work `json:"task_cost_core_seconds,omitempty"`
	// InitCores is Eq 7.
	InitCores units.Cores `json:"init_cores"`
	// Hold overrides the control law for as long as it is there, HoldFor from the
	// Plan's sending on at most: the request is this, within the usual bounds. 0 for
	// none.
	Hold    units.Cores   `json:"hold_cores,omitempty"`
	HoldFor units.Seconds `json:"hold_s,omitempty"`
	// Last says that no stage follows: it may not end late.
	Last bool `json:"last,omitempty"`
}

// Sized is what tasks of that weight together are to read, the mean task's part being 1.
func (t *StageTarget) Sized(weight, tasks float64) float64 {
	fixed := float64(t.FixedPart)
	return max(0, (weight-fixed*tasks)/(1-fixed))
}

// ExecutorState is where an executor stands; it only moves forward.
type ExecutorState string

const (
	// ExecutorStarting was launched and has not shown a progress page yet.
	ExecutorStarting ExecutorState = "starting"
	// ExecutorRunning has a live progress page.
	ExecutorRunning ExecutorState = "running"
	// ExecutorExited is gone.
	ExecutorExited ExecutorState = "exited"
)

// NodeStatus is all that a node has to tell, as one whole value.
type NodeStatus struct {
	V    int    `json:"v"`
	Node string `json:"node"`
	// Incarnation is new with each start of the node controller; Seq grows
	// inside it.
	Incarnation string `json:"incarnation"`
	Seq         uint64 `json:"seq"`
	// Release is the version of the node controller.
	Release string `json:"release,omitempty"`
	// Epoch is that of the Plan in force: the acknowledgement. Planner is whose it
	// is, "" without a Plan or where the planner has no name.
	Epoch   uint64 `json:"epoch"`
	Planner string `json:"planner,omitempty"`
	// Host is the name or address under which its executors are reached.
	Host string `json:"host"`
	// Attach says that the node finds executors of other managers and starts none. Machine is the id of its
	// machine's boot, by which executors tell where they are; Hosts are names of it, by which planners of earlier
	// releases went.
	Attach  bool     `json:"attach,omitempty"`
	Hosts   []string `json:"hosts,omitempty"`
	Machine string   `json:"machine,omitempty"`
	// Offered is what the node gives to applications, Total what it has, Others
	// what was last used by anything but Pacer's executors.
	Offered units.Cores `json:"offered_cores"`
	Total   units.Cores `json:"total_cores"`
	Others  units.Cores `json:"others_cores"`
	// Memory is what the node gives to executors.
	Memory units.Bytes `json:"memory_bytes"`
	// Kernel is how the machine's kernel stands.
	Kernel Kernel `json:"kernel,omitzero"`
	// Rates are those of its disks and its network.
	Rates NodeRates `json:"rates,omitzero"`
	// Division is how it divides its cores.
	Division  Division         `json:"division"`
	Executors []ExecutorStatus `json:"executors"`
	Stages    []StageStatus    `json:"stages"`
	// Losses are those of the applications of the Plan since the incarnation started, in
	// order of App and To.
	Losses []Loss `json:"losses,omitempty"`
	// Shortages are those that last, in the order in which they began.
	Shortages []Shortage `json:"shortages,omitempty"`
	// Orphans are the applications with executors here that the Plan in force knows nothing
	// of, in order of App.
	Orphans []Orphan `json:"orphans,omitempty"`
	// Faults are the applications that cannot go on here, in order of App.
	Faults []AppFault `json:"faults,omitempty"`
	// Leaving says that the node controller stops and lets its executors run on.
	Leaving bool `json:"leaving,omitempty"`
}

// Kernel is how a machine's kernel stands. Pressure is how long tasks of the machine wait, zero where it does not tell.
// Lacks says in a line what it cannot do for the memory of executors, "" where it can do all.
type Kernel struct {
	Pressure Pressure `json:"pressure,omitzero"`
	Lacks    string   `json:"lacks,omitempty"`
}

// Pressure is which part of the last ten seconds some task of a machine has waited for a resource.
type Pressure struct {
	CPU    units.Fraction `json:"cpu"`
	Memory units.Fraction `json:"memory"`
	IO     units.Fraction `json:"io"`
}

// NodeRates are bytes a second over a node's disks and its network, 0 where that is not known: what its operator has
// set, and the highest rates that were seen since the node controller started.
type NodeRates struct {
	Disk        units.Bytes `json:"disk_rate,omitempty"`
	Network     units.Bytes `json:"net_rate,omitempty"`
	DiskSeen    units.Bytes `json:"disk_rate_seen,omitempty"`
	NetworkSeen units.Bytes `json:"net_rate_seen,omitempty"`
}

// Orphan is an application that the planner a node follows knows nothing of. Owner is what
// its Launch says.
type Orphan struct {
	App   AppID  `json:"app"`
	Owner string `json:"owner,omitempty"`
}

// Clone returns a copy that shares nothing with s, for who keeps what an engine will
// fill again.
func (s *NodeStatus) Clone() NodeStatus {
	// A list that is empty stays so, and does not become null in JSON.
	c := NodeStatus{Executors: s.Executors[:0:0], Stages: s.Stages[:0:0], Losses: s.Losses[:0:0],
		Shortages: s.Shortages[:0:0],
		Orphans:   s.Orphans[:0:0], Faults: s.Faults[:0:0]}
	c.CopyFrom(s)
	return c
}

// CopyFrom makes s a copy that shares nothing with from, in the memory that s has.
func (s *NodeStatus) CopyFrom(from *NodeStatus) {
	executors, losses := append(s.Executors[:0], from.Executors...), append(s.Losses[:0], from.Losses...)
	shortages, orphans := append(s.Shortages[:0], from.Shortages...), append(s.Orphans[:0], from.Orphans...)
	faults, hosts := append(s.Faults[:0], from.Faults...), append(s.Hosts[:0], from.Hosts...)
	n := len(from.Stages)
	stages := slices.Grow(s.Stages[:0], n)[:n]
	for i := range stages {
		samples := append(stages[i].Samples[:0], from.Stages[i].Samples...)
		stages[i] = from.Stages[i]
		stages[i].Samples = samples
	}
	*s = *from
	s.Executors, s.Stages, s.Losses, s.Shortages, s.Orphans, s.Faults = executors, stages, losses, shortages,
		orphans, faults
	s.Hosts = hosts
}

// AppFault is an application that a node cannot have any longer.
type AppFault struct {
	App AppID `json:"app"`
	// Reason says why in one line, as the end of "node N: ...".
	Reason string `json:"reason"`
}

// MostFaults is how many faults a status has.
const MostFaults = 64

// Signalled and a signal's number are the exit code of a process that the signal has ended.
const Signalled = 128

// ExecutorStatus is one executor as its node sees it.
type ExecutorStatus struct {
	App   AppID         `json:"app"`
	ID    ExecutorID    `json:"id"`
	State ExecutorState `json:"state"`
	// Waiting says that it is not started yet: the node has no memory for it.
	Waiting bool `json:"waiting,omitempty"`
	// Lent says that its memory is lent, Taken that the node takes that back.
	Lent  bool `json:"lent,omitempty"`
	Taken bool `json:"taken,omitempty"`
	// Exit says how it ended: "exit status 1", "killed by signal 9", "start: ...". Refused says that it has not: it is
	// another application's executor, and Exit says whose.
	Exit    string `json:"exit,omitempty"`
	Refused bool   `json:"refused,omitempty"`
	// ExitCode is its exit code, Unknown if nobody knows.
	ExitCode int `json:"exit_code,omitempty"`
	PID      int `json:"pid,omitempty"`
	// Stale says that it runs, and its newest progress page is too old.
	Stale bool `json:"stale,omitempty"`
	// CPU is the CPU time it has used since its start.
	CPU units.Work `json:"core_seconds"`
	// Quota is the quota in force, Unknown (-1) for none.
	Quota units.Cores `json:"quota_cores"`
	// Throttled is how long its group was held back since its start.
	Throttled units.Seconds `json:"throttled_s"`
	// Ceiling is the quota that another manager has given an attached executor, 0 for none. Unguarded
	// says that its node's others may take what it is promised, Unpaced why no quota can be written.
	Ceiling   units.Cores `json:"ceiling_cores,omitempty"`
	Unguarded bool        `json:"unguarded,omitempty"`
	Unpaced   string      `json:"unpaced,omitempty"`
	// Memory is told once a minute, when memory has moved, and at the end; zero otherwise.
	Memory ExecutorMemory `json:"memory,omitzero"`
}

// ExecutorMemory is what an executor has of its node's memory.
type ExecutorMemory struct {
	// Heap is what its JVM has of its heap, OffHeap the size of Spark's off-heap pools, of
	// which OffHeapUsed is in use, and Owed what they are above what the node wants.
	Heap        units.Bytes `json:"heap_bytes"`
	OffHeap     units.Bytes `json:"offheap_bytes"`
	OffHeapUsed units.Bytes `json:"offheap_used_bytes,omitempty"`
	Owed        units.Bytes `json:"offheap_owed_bytes,omitempty"`
	// Fixed says that its pools do not move.
	Fixed bool `json:"offheap_fixed,omitempty"`
	// Resident is its group's anonymous memory, Cache the group's page cache, Limit the limit
	// of both, each 0 where it is not known.
	Resident units.Bytes `json:"resident_bytes,omitempty"`
	Cache    units.Bytes `json:"page_cache_bytes,omitempty"`
	Limit    units.Bytes `json:"limit_bytes,omitempty"`
	// Yields says that it gives memory back first (PlanApp.Yields), Pressure which part of the last ten seconds its tasks
	// have waited for memory; 0 where the kernel does not tell.
	Yields   bool           `json:"lent,omitempty"`
	Pressure units.Fraction `json:"pressure,omitempty"`
	// Spare is what it is foretold to leave of its claim.
	Spare units.Bytes `json:"spare_bytes,omitempty"`
	// Moves is how often its off-heap memory was resized and Moving how long that took in all. Evicted are the bytes of
	// blocks that had to go for that, Spilled what its tasks have spilled, for whatever reason.
	Moves   int           `json:"moves,omitempty"`
	Moving  units.Seconds `json:"moving_s,omitempty"`
	Evicted units.Bytes   `json:"evicted_bytes,omitempty"`
	Spilled units.Bytes   `json:"spilled_bytes,omitempty"`
}

// Add adds what o has to m: for what an application has in all.
func (m *ExecutorMemory) Add(o *ExecutorMemory) {
	m.Heap += o.Heap
	m.OffHeap += o.OffHeap
	m.OffHeapUsed += o.OffHeapUsed
	m.Owed += o.Owed
	m.Resident += o.Resident
	m.Cache += o.Cache
	m.Limit += o.Limit
	m.Spare += o.Spare
	m.Moves += o.Moves
	m.Moving += o.Moving
	m.Evicted += o.Evicted
	m.Spilled += o.Spilled
}

// StageStatus is what one executor did for one stage attempt. It is reported
// until 10 s after the last change.
type StageStatus struct {
	App AppID `json:"app"`
	StageKey
	Executor ExecutorID `json:"executor"`
	// CPU is the CPU time of the executor's group while it worked for the
	// stage, since the stage began there.
	CPU units.Work `json:"core_seconds"`
	// Progress is the done fraction of its share; 0 without a target.
	Progress units.Fraction `json:"progress"`
	// Finished counts the tasks of the stage that have finished there.
	Finished int `json:"finished,omitempty"`
	// QuotaChanges counts the quotas written for it, or that would have been.
	QuotaChanges int `json:"quota_changes"`
	// LargeCPU is the CPU time of the large and long tasks that have finished here (of more than two mean ones' weight, or
	// a core-second). LargeReading is the part of it in which they read their records; 0 without any.
	LargeCPU     units.Work `json:"large_core_seconds,omitempty"`
	LargeReading units.Work `json:"large_reading_core_seconds,omitempty"`
	// Heap is told while no task of the stage runs there; zero otherwise, and where the JVM does not tell.
	Heap HeapUse `json:"heap,omitzero"`
	// Samples are the ticks since the last status, oldest first, at most MostSamples.
	Samples []StageSample `json:"samples,omitempty"`
}

// StageSample is one tick of one stage executor.
type StageSample struct {
	// Age is how long before the status was sent the tick took place.
	Age units.Seconds `json:"age_s"`
	// SetPoint and Progress are a0% and a% of Eq 10 as fractions.
	SetPoint units.Fraction `json:"set_point"`
	Progress units.Fraction `json:"progress"`
	// Request is rc, Grant is cc (Unknown (-1) for no quota; where the mode is
	// ModeObserve what it would be), Used is what the group really used since the
	// tick before.
	Request units.Cores `json:"request_cores"`
	Grant   units.Cores `json:"grant_cores"`
	Used    units.Cores `json:"used_cores"`
	// Running is the number of running tasks of the stage there.
	Running int `json:"running"`
}

// HelloReply answers a node's hello (a NodeStatus sent as a request when the
// node connects).
type HelloReply struct {
	V     int    `json:"v"`
	Error *Error `json:"error,omitempty"`
	Plan  Plan   `json:"plan"`
}

// LogRequest asks a node for a piece of an executor's log.
type LogRequest struct {
	V        int        `json:"v"`
	App      AppID      `json:"app"`
	Executor ExecutorID `json:"executor"`
	// Stream is "stderr" or "stdout".
	Stream string `json:"stream"`
	Offset int64  `json:"offset"`
}

// LogReply carries up to 256 KiB from Offset; Next is where to go on. EOF says
// that there is no more for now.
type LogReply struct {
	V     int    `json:"v"`
	Error *Error `json:"error,omitempty"`
	Data  []byte `json:"data"`
	Next  int64  `json:"next"`
	EOF   bool   `json:"eof"`
}
