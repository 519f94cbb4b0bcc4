package api

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/sparkpacer/pacer/units"
)

// Version is the protocol version that this build speaks.
const Version = 1

// Unknown marks a count that nobody knows.
const Unknown = -1

// ExecutorID is Spark's executor id: decimal, unique in its application and
// never used twice there.
type ExecutorID string

// CompareExecutors orders executor ids as numbers: they are decimal without leading zeros.
func CompareExecutors(a, b ExecutorID) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// StageKey names one attempt of a stage of an application.
type StageKey struct {
	Stage   int `json:"stage"`
	Attempt int `json:"attempt"`
}

// Verdict is the planner's answer to a deadline.
type Verdict string

const (
	// VerdictFeasible can be met.
	VerdictFeasible Verdict = "feasible"
	// VerdictTight can be met, but all cores would end after 0.9 of the deadline.
	VerdictTight Verdict = "tight"
	// VerdictInfeasible cannot be met with all cores of the nodes.
	VerdictInfeasible Verdict = "infeasible"
	// VerdictUnknown has no profile to judge by.
	VerdictUnknown Verdict = "unknown"
	// VerdictNone has no deadline to judge.
	VerdictNone Verdict = "none"
)

// Mode says how much Pacer may do to an application (spark.pacer.mode).
type Mode string

const (
	// ModeControl paces it: the default, also written as "".
	ModeControl Mode = "control"
	// ModeObserve works everything out and holds nothing back: no quota and no
	// weight is written for it, but for the bounds of its user.
	ModeObserve Mode = "observe"
	// ModeOff gives it executors and nothing else.
	ModeOff Mode = "off"
	// ModeEndless is what a driver says of a session without an end, a shell or a server, and no user sets:
	// it runs unpaced whatever its deadline is, and teaches no profile.
	ModeEndless Mode = "endless"
)

// Unmanaged reports whether quotas and weights of its executors are nobody's to
// write, but for the bounds of its user.
func (m Mode) Unmanaged() bool { return m == ModeObserve || m == ModeOff }

// RegisterRequest introduces an application. Sent by the driver when its
// scheduler back end starts, and again, with the same Submission, after its
// connection came back: the reply is then that of the running application.
type RegisterRequest struct {
	V int `json:"v"`
	// Submission is a UUID that the driver (or pacer submit) made: the key that
	// makes a repeated registration harmless.
	Submission string `json:"submission"`
	// Context numbers the SparkContexts of the submission's driver from 0: each is an application.
	// A JVM has one at a time, so one that registers says that those before it are over.
	Context int `json:"context,omitempty"`
	// Before is how much of the submission's time had passed when this context's deadline clock
	// started; 0 for the first one, whose clock is the submission's.
	Before units.Seconds `json:"before_s,omitempty"`
	// Shared says that Deadline is what is left of the submission's: contexts that come after this
	// one are to end by then, too.
	Shared bool `json:"deadline_shared,omitempty"`
	// Name is the application's name; Profile names its profile, Name if empty.
	Name    string `json:"name"`
	Profile string `json:"profile,omitempty"`
	User    string `json:"user,omitempty"`
	// Deadline is the whole time allowed, from the start of the deadline clock;
	// 0 means none. Elapsed is how much of it has passed already.
	Deadline units.Seconds `json:"deadline_s,omitempty"`
	Elapsed  units.Seconds `json:"elapsed_s"`
	// RequireFeasible asks for a refusal (KindInfeasible) instead of a warning.
	RequireFeasible bool `json:"require_feasible,omitempty"`
	// NoWait asks for a refusal (KindConflict) instead of a place in the queue.
	NoWait bool `json:"no_wait,omitempty"`
	// Nodes bounds on how many nodes it has executors, nil for what the planner's configuration says.
	Nodes *NodeRange `json:"nodes,omitempty"`
	// Mode is ModeControl where it is "", Class ClassDeadline.
	Mode   Mode   `json:"mode,omitempty"`
	Class  Class  `json:"class,omitempty"`
	Launch Launch `json:"launch"`
	// AppID is set when the application registers again: the id that a planner gave it. A planner
	// that does not know it believes it where the id or a node says that it is this submission's
	// (AppID.Of), and gives another one otherwise. Executors is the greatest number of
	// those that have registered with its driver: a planner that does not know them gives none
	// of their ids.
	AppID     AppID `json:"app_id,omitempty"`
	Executors int   `json:"executors,omitempty"`
	// Planner is who has answered the application's last registration (RegisterReply.Planner).
	Planner string `json:"planner,omitempty"`
	// Key is the public key of the secret with which the driver will connect as the application
	// (ValidKey); "" for a driver that stays its user.
	Key string `json:"key,omitempty"`
	// Watched says that a pacer submit runs the driver, and reports its exit (VerbExit).
	Watched bool `json:"watched,omitempty"`
	// UTCOffset is the driver's local time less UTC when its deadline is due, in seconds: what
	// is said to its user of times of day is said in it.
	UTCOffset int `json:"utc_offset_s,omitempty"`
	// Program is what runs, as pacer submit knows it: a file, a class, a script of SQL; "" for
	// unknown. By it the profile of an application is found that nobody has given a name.
	Program string `json:"program,omitempty"`
	// ByMoment says that Deadline was given as a moment, and is to be told as one.
	ByMoment bool `json:"by_moment,omitempty"`
	// UIWebURL is where the driver shows Spark's UI (SparkContext.uiWebUrl), "" where it has none; what is not of http
	// or https is not kept.
	UIWebURL string `json:"ui_web_url,omitempty"`
}

// WebURL is text where a page may link to it: a URL of http or https; "" for anything else.
func WebURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		len(text) > MostName {
		return ""
	}
	return text
}

// NodeRange says on how many nodes an application has executors (spark.pacer.nodes.least and spark.pacer.nodes.most).
// It starts where Least have room, 0 counting as 1, and gets no more than Most, 0 for as many as the planner gives.
// HeapAuto says that there the planner chooses executors' heap by earlier runs where it knows some: Launch.Heap is what
// that begins with (spark.pacer.memory.heap).
type NodeRange struct {
	Least    int  `json:"least,omitempty"`
	Most     int  `json:"most,omitempty"`
	HeapAuto bool `json:"heap_auto,omitempty"`
	// Driver is the memory of its driver, which one of the nodes has room for beside executors; 0 where it runs elsewhere.
	Driver units.Bytes `json:"driver_bytes,omitempty"`
	// Group is what components beside these take, nil for none, and Told what a Plan has of them and of the driver: bytes
	// as JSON. The planner says both.
	Group *GroupRoom `json:"group,omitempty"`
	Told  int        `json:"told_bytes,omitempty"`
}

// Launch says how an executor of an application is started: what is the same
// for all of them.
type Launch struct {
	// DriverURL is the driver's RPC address, as in
	// "spark://CoarseGrainedScheduler@127.0.0.1:40123".
	DriverURL string `json:"driver_url"`
	// SparkHome and JavaHome are the driver's; a node's own settings win.
	SparkHome string `json:"spark_home,omitempty"`
	JavaHome  string `json:"java_home,omitempty"`
	// SparkVersion is the driver's, as in "4.3.0": a node whose Spark differs refuses.
	SparkVersion string `json:"spark_version,omitempty"`
	// Cores is the number of task slots; 0 asks for as many as the node offers
	// cores, rounded up.
	Cores int `json:"cores,omitempty"`
	// TaskCPUs is how many slots a task takes, which is how many cores it says that it uses
	// (spark.task.cpus); 0 counts as 1.
	TaskCPUs float64 `json:"task_cpus,omitempty"`
	// Heap and Overhead are what the user asked for. OffHeap is 0 until the
	// planner has chosen it, or what the user set.
	Heap     units.Bytes `json:"heap_bytes"`
	Overhead units.Bytes `json:"overhead_bytes"`
	OffHeap  units.Bytes `json:"offheap_bytes"`
	// OffHeapFixed says that the user set OffHeap (0 included: none).
	OffHeapFixed bool `json:"offheap_fixed,omitempty"`
	// OffHeapFloor is the least of it that the user wants an executor to have, where it is
	// not fixed; OffHeapWeight is the application's part of what is shared, 0 counts as 1.
	OffHeapFloor  units.Bytes `json:"offheap_floor_bytes,omitempty"`
	OffHeapWeight float64     `json:"offheap_weight,omitempty"`
	// Certainty is how likely the application wants to be in time, LeastCertainty to MostCertainty: where it is more than
	// the least, time is kept for what nobody foresees. 0 is a driver that does not say.
	Certainty units.Fraction `json:"certainty,omitempty"`
	// JobMost is the longest that a job, or a SQL query, may take (spark.pacer.job.most), 0 for no bound.
	JobMost units.Seconds `json:"job_most_s,omitempty"`
	// OffHeapPage is what a task takes of it at once, where the user set that.
	OffHeapPage units.Bytes `json:"offheap_page_bytes,omitempty"`
	// JavaOptions are appended to the JVM's options, ClassPath to its class
	// path, Env to its environment.
	JavaOptions []string          `json:"java_options,omitempty"`
	ClassPath   []string          `json:"class_path,omitempty"`
	Env         map[string]string `json:"env,omitempty"`
	// Mode is the application's, set by the planner: with one that is Unmanaged
	// the node leaves the groups of its executors as they were made, unless it is Bounded.
	Mode Mode `json:"mode,omitempty"`
	// Bounded says that its user has bounds on cores or memory, set by the planner. They hold in every mode, so that its
	// executors have a memory limit, and a quota where the Plan has a Cap.
	Bounded bool `json:"bounded,omitempty"`
	// Image has Spark and Java for executors in containers; "" is the node's choice.
	Image string `json:"image,omitempty"`
	// User is who has submitted the application, set by the planner where it has made sure of
	// that; "" is nobody that a node could start processes as.
	User string `json:"user,omitempty"`
	// Owner is OwnerOf the application's context of its submission, set by the planner: by it a planner that
	// has lost its state knows whose driver may have the executors back.
	Owner string `json:"owner,omitempty"`
	// Attach says that a cluster manager starts the executors, nil where Pacer does.
	Attach *Attach `json:"attach,omitempty"`
	// Withheld is how many bytes it lacks: the values of its secrets, which no store has (Kept).
	// No executor is started by it before these are there (Complete).
	Withheld int `json:"withheld_bytes,omitempty"`
}

// Attach is an application whose executors another cluster manager starts and ends. Nodes find them
// by their command lines and hold those that show Secret; planner and nodes only bound what they use.
type Attach struct {
	// Manager is ManagerYARN or ManagerKubernetes.
	Manager string `json:"manager"`
	// App is Spark's id of the application, as the executors' command lines have it after --app-id.
	App string `json:"app"`
	// Least and Most bound how many executors the driver asks the manager for; Most 0 is no bound.
	Least int `json:"least,omitempty"`
	Most  int `json:"most,omitempty"`
	// Secret is the driver's own: a node holds an executor that shows a hash of it (Proof), and none where it is "".
	// A Plan has it as On makes it for the node.
	Secret string `json:"secret,omitempty"`
}

// The cluster managers to which Pacer attaches.
const (
	ManagerYARN       = "yarn"
	ManagerKubernetes = "k8s"
)

// ContextOf names one context of a submission. The first one is the submission itself.
func ContextOf(submission string, context int) string {
	if context == 0 {
		return submission
	}
	return fmt.Sprintf("%s#%d", submission, context)
}

// OwnerOf is a digest of a submission, or of a further context of one (ContextOf), which says nothing
// of it: who knows a submission may command its applications.
func OwnerOf(submission string) string {
	sum := sha256.Sum256([]byte("pacer owner " + submission))
	return hex.EncodeToString(sum[:8])
}

// TaskCores is how many cores a task says that it uses, 1 at least.
func (l *Launch) TaskCores() units.Cores { return max(1, units.Cores(l.TaskCPUs)) }

// AtOnce is how many tasks run side by side in so many slots: 1 at least, and no more than these.
func (l *Launch) AtOnce(slots int) int {
	if l.TaskCPUs <= 0 {
		return slots
	}
	return max(1, int(min(float64(slots), float64(slots)/l.TaskCPUs)))
}

// Claim is what each executor takes of its node's memory: its heap, what it needs beside that, and what it has off the
// heap in any case. The memory of an attached one is its cluster manager's to count.
func (l *Launch) Claim() units.Bytes {
	if l.Attach != nil {
		return 0
	}
	return l.Heap + l.Overhead + l.OffHeap
}

// Bytes is how many bytes l takes as JSON, or would with what is withheld.
func (l *Launch) Bytes() int {
	body, err := json.Marshal(l)
	if err != nil {
		return 0 // It has nothing that JSON cannot have.
	}
	return len(body) + l.Withheld
}

// MostFixedPart is the most that RegisterReply.FixedPart has: so much is left of what sizes say that
// a run can still tell how CPU time goes with them. The jar knows it too (TaskWeights).
const MostFixedPart units.Fraction = 0.99

// RegisterReply answers a RegisterRequest. With Error set the rest is empty.
type RegisterReply struct {
	V     int    `json:"v"`
	Error *Error `json:"error,omitempty"`
	AppID AppID  `json:"app_id,omitempty"`
	// Planner is the name of the planner's store, "" for one without.
	Planner string `json:"planner,omitempty"`
	// Own says that the driver is to connect as the application from now on: with its id for
	// a login and the secret of RegisterRequest.Key.
	Own bool `json:"own,omitempty"`

	Verdict Verdict `json:"verdict,omitempty"`
	// Reason is one line for the user: the verdict and why.
	Reason string `json:"reason,omitempty"`
	// Earliest is the earliest deadline that is feasible, where this one is not; 0 when not known.
	Earliest units.Seconds `json:"earliest_s,omitempty"`
	// Executors is how many the driver should wait for before its first stage; 0 while it
	// is queued: when it starts, as many as its Directive has.
	Executors int `json:"executors"`
	// Slots is how many tasks run side by side on the cores offered, of all nodes while it
	// is queued; the driver's default parallelism.
	Slots int `json:"slots"`
	// OffHeap is each executor's off-heap memory, 0 for none.
	OffHeap units.Bytes `json:"offheap_bytes"`
	// FixedPart has ProfileStage.FixedPart by signature where it is enough to matter; the mean where
	// several stages have the same.
	FixedPart map[string]units.Fraction `json:"fixed_part,omitempty"`
	Directive Directive                 `json:"directive"`
	// Recall says that the planner knows the application by its AppID, and nothing else of it:
	// epochs begin anew, and the driver is to tell what is true now.
	Recall bool `json:"recall,omitempty"`
	// AckedSeq is the newest driver event the planner has taken.
	AckedSeq uint64 `json:"acked_seq"`
}

// Directive is what a driver has to follow: a whole value, newest Epoch wins.
type Directive struct {
	Epoch uint64 `json:"epoch"`
	// Gated says that a running stage owns its executors. Ungated, all stages run on the
	// first ones of each node as in stock Spark, as many as one stage has there.
	Gated bool `json:"gated"`
	// Executors are those that the planner has asked nodes for, in id order.
	Executors []DirectiveExecutor `json:"executors"`
	// Shares are the hand-overs of running stages, in order of stage and attempt.
	Shares []StageShares `json:"shares,omitempty"`
	// Pool is the fair scheduler's pool that the deadline hangs on, "" for all: a stage of another one is bound to all
	// executors, beside those that own them.
	Pool string `json:"pool,omitempty"`
	// Queued says where the application waits for memory, nil once it has started: it has
	// no executors until then.
	Queued *Queue `json:"queued,omitempty"`
	// Wanted is how many executors the driver of an attached application asks its manager for in
	// all, 0 for what it has asked for; WantedOn are hosts where they would be best.
	Wanted   int      `json:"wanted,omitempty"`
	WantedOn []string `json:"wanted_on,omitempty"`
	// Notice is one line for the user when something changed ("" for nothing).
	Notice string `json:"notice,omitempty"`
	// Dead says in one line why the application is to end: there is no executor and none
	// will come, or its user wants it to. The driver ends it, as a standalone master does.
	Dead string `json:"dead,omitempty"`
}

// Queue is where an application waits for memory.
type Queue struct {
	// Place counts from 1, Of is how many wait.
	Place int `json:"place"`
	Of    int `json:"of"`
	// Start is when it is expected to start, Latest when it has to in order to be in time;
	// both on its deadline clock, 0 when not known.
	Start  units.Seconds `json:"start_s,omitempty"`
	Latest units.Seconds `json:"latest_s,omitempty"`
	// Why is one line: what it waits for.
	Why string `json:"why,omitempty"`
}

// DirectiveExecutor is one executor of the pool as the driver needs to know it.
type DirectiveExecutor struct {
	ID   ExecutorID `json:"id"`
	Node string     `json:"node"`
	// Cores is what the node offers to a stage there, for each executor that the stage has: its
	// weight when tasks are divided.
	Cores units.Cores `json:"cores"`
	// PerStage is how many executors of its node one stage has, 0 for one.
	PerStage int `json:"per_stage,omitempty"`
	// Leaving says that the executor is to be decommissioned: no stage is bound
	// to it any more, its running tasks end, its blocks move to others.
	Leaving bool `json:"leaving,omitempty"`
	// Taken says that the memory that it is lent is taken back: its node stops it in a moment, whatever it does, and that
	// is no fault of the application's.
	Taken bool `json:"taken,omitempty"`
	// NodeLost says that the planner hears nothing of the node any more. The driver gives the
	// executor up once it has not heard it for a while either: one whose node controller alone
	// is away goes on.
	NodeLost bool `json:"node_lost,omitempty"`
}

// StageShares divides a running stage anew over its executors. The driver obeys
// each Rev once: what is not launched yet goes to each executor in proportion to
// what its Weight still lacks. It answers with EventStageBound. Where all is launched the stage
// is late for what runs: the driver may start its last task a second time.
type StageShares struct {
	StageKey
	Rev    uint64          `json:"rev"`
	Shares []ExecutorShare `json:"shares"`
}

// ExecutorShare is one executor's part of a stage, what it has done included, in
// the unit of Binding.Weight.
type ExecutorShare struct {
	Executor ExecutorID `json:"executor"`
	Weight   float64    `json:"weight"`
}

// EventType names a driver event.
type EventType string

const (
	// EventExecutorUp says that an executor registered with the driver.
	EventExecutorUp EventType = "executor_up"
	// EventExecutorGone says that the driver lost an executor.
	EventExecutorGone EventType = "executor_gone"
	// EventStageReady says that a stage's tasks were submitted and bound.
	EventStageReady EventType = "stage_ready"
	// EventStageBound says that a running stage's bindings or shares changed.
	EventStageBound EventType = "stage_bound"
	// EventStageDone says that a stage attempt ended.
	EventStageDone EventType = "stage_done"
	// EventQueryEnded says that a SQL query that had stages has ended, whichever way.
	EventQueryEnded EventType = "query_ended"
	// EventPartBegan says that a part of a session has begun, EventPartOver that all its jobs are over. With
	// Failed the last of them has failed.
	EventPartBegan EventType = "part_began"
	EventPartOver  EventType = "part_over"
	// EventUnpaced says that the application cannot be paced (streaming).
	EventUnpaced EventType = "unpaced"
	// EventEnd says that the SparkContext stopped. The driver goes on to its exit.
	EventEnd EventType = "end"
	// EventExit is the driver's last word, said as its JVM shuts down.
	EventExit EventType = "exit"
)

// Events is a batch of driver events in order of Seq; an empty batch is the
// driver's heartbeat, sent at least every 2 s.
type Events struct {
	V          int     `json:"v"`
	AppID      AppID   `json:"app_id"`
	Submission string  `json:"submission"`
	Events     []Event `json:"events"`
	// Planner is who has answered the application's last registration: the numbers of events
	// are between its driver and that one.
	Planner string `json:"planner,omitempty"`
}

// Event is one thing that happened in the driver. The pointer that belongs to
// Type is set, the others are nil.
type Event struct {
	Seq uint64 `json:"seq"`
	// At is when it happened, on the application's deadline clock.
	At   units.Seconds `json:"at_s"`
	Type EventType     `json:"type"`

	Executor *ExecutorEvent `json:"executor,omitempty"`
	Stage    *StageReady    `json:"stage,omitempty"`
	Bound    *StageBound    `json:"bound,omitempty"`
	Done     *StageDone     `json:"done,omitempty"`
	Query    *QueryEnded    `json:"query,omitempty"`
	Part     *SessionPart   `json:"part,omitempty"`
	// Reason says why (EventUnpaced, EventEnd with Failed).
	Reason string `json:"reason,omitempty"`
	Failed bool   `json:"failed,omitempty"`
	// Clean says that the driver proves that its exit code is 0 (EventExit). Without it
	// the code is not known: a JVM is not told with which code it ends.
	Clean bool `json:"clean,omitempty"`
}

// ExecutorEvent goes with EventExecutorUp and EventExecutorGone.
type ExecutorEvent struct {
	ID     ExecutorID `json:"id"`
	Reason string     `json:"reason,omitempty"`
	// Host, Cores and Memory are the executor's as Spark tells them, Container its container's or
	// pod's name ("" for unknown): said of executors that another manager has started.
	Host      string      `json:"host,omitempty"`
	Cores     int         `json:"cores,omitempty"`
	Memory    units.Bytes `json:"memory_bytes,omitempty"`
	Container string      `json:"container,omitempty"`
	// Machine is the id of the boot of the machine that it runs on, as the executor itself reads it, "" for unknown:
	// a pod's host is an address of its own.
	Machine string `json:"machine,omitempty"`
}

// StageReady goes with EventStageReady.
type StageReady struct {
	StageKey
	Job int `json:"job"`
	// Name is the stage's call site as Spark shows it.
	Name string `json:"name"`
	// Signature identifies the stage's code from run to run: a hash over its
	// lineage that knows neither ids nor line numbers.
	Signature string `json:"signature"`
	// Lineage is a Signature that does not know where the action was called: PySpark tells that
	// of one thread at a time. "" where the driver does not say.
	Lineage string `json:"lineage,omitempty"`
	// Query is its place in the SQL query that it is of; nil where it is of none, or the driver does not say.
	Query *QueryStage `json:"query,omitempty"`
	// Parents are the stage ids it reads from.
	Parents []int `json:"parents"`
	Tasks   int   `json:"tasks"`
	// Records and Bytes are what the parents wrote for it, or what its input
	// holds; Unknown when nobody knows.
	Records int64 `json:"records"`
	Bytes   int64 `json:"bytes"`
	// Pool is the pool of a fair scheduler (spark.scheduler.pool) that its job was submitted in, "" where jobs go in
	// order.
	Pool string `json:"pool,omitempty"`
	// Repeats is the id of an earlier stage whose lost output this one writes again:
	// a driver gives it an id of its own where a later job needs that. nil otherwise.
	Repeats *int `json:"repeats,omitempty"`
	// Weighted says that Bindings' weights come from partition sizes; otherwise
	// every task weighs 1.
	Weighted bool      `json:"weighted,omitempty"`
	Bindings []Binding `json:"bindings"`
}

// QueryStage is the place of a stage in a SQL query. It is the same in a run in which adaptive execution
// plans the stage otherwise: a hash of the query's plan before that, and what of it the stage writes.
type QueryStage struct {
	// Execution is Spark's number of the query in its run; 0 in a profile.
	Execution int64 `json:"execution,omitempty"`
	// Shape is a hash over the operators of the query's plan, as a tree (profiles.PlanNode).
	Shape string `json:"shape"`
	// Nth is how many queries of that shape came before it in the application, in the order of their
	// first stages.
	Nth int `json:"nth"`
	// Exchange is the ordinal, in the plan's order, of the operator whose output the stage hands on
	// within the query: by a shuffle, a broadcast, or as the result of a subquery. It is -1 where that
	// is what the query returns.
	Exchange int `json:"exchange"`
}

// QueryEnded goes with EventQueryEnded: no stage of the query comes any more.
type QueryEnded struct {
	// Execution is Spark's number of the query, as QueryStage has it.
	Execution int64 `json:"execution"`
}

// StageBound goes with EventStageBound.
type StageBound struct {
	StageKey
	Bindings []Binding `json:"bindings"`
}

// Binding gives an executor to a stage with its share of the tasks. The weights
// of a stage's tasks sum up to their number, so that the mean task weighs 1.
type Binding struct {
	Executor ExecutorID `json:"executor"`
	// Weight is the sum of the weights of the tasks meant for the executor,
	// finished ones included; Tasks is about how many they are.
	Weight float64 `json:"weight"`
	Tasks  int     `json:"tasks"`
}

// StageDone goes with EventStageDone.
type StageDone struct {
	StageKey
	// Failed says that the attempt did not complete (Reason says why).
	Failed bool   `json:"failed,omitempty"`
	Reason string `json:"reason,omitempty"`
	Tasks  int    `json:"tasks"`
	// The data that its tasks really read and wrote, shuffle and input/output together.
	RecordsRead    int64 `json:"records_read"`
	RecordsWritten int64 `json:"records_written"`
	BytesRead      int64 `json:"bytes_read"`
	BytesWritten   int64 `json:"bytes_written"`
	// BytesRemote are those of BytesRead that came from other hosts, nil where that is not known; BytesCached are those
	// that came from blocks in memory. The rest is of the disks of the tasks' hosts.
	BytesRemote *int64 `json:"bytes_remote,omitempty"`
	BytesCached int64  `json:"bytes_cached,omitempty"`
	// TaskCPU is the CPU time that its tasks report, TaskTime their run time.
	TaskCPU  units.Seconds `json:"task_cpu_s"`
	TaskTime units.Seconds `json:"task_time_s"`
	// LongestTask is the CPU time of its longest task; of a stage that Python workers compute the
	// time for which it ran, since their CPU time is not in its thread's.
	LongestTask units.Seconds `json:"longest_task_s"`
	// FirstLaunch and LastFinish are on the deadline clock.
	FirstLaunch units.Seconds `json:"first_launch_s"`
	LastFinish  units.Seconds `json:"last_finish_s"`
	// FixedPart is the part of TaskCPU that was the same for each task, whatever it read: by the
	// line of least squares through the tasks' CPU times over their sizes. Where sizes are
	// not known or alike it is what RegisterReply has of the stage.
	FixedPart units.Fraction `json:"fixed_part,omitempty"`
	// TaskCost is what a task took whatever it read: by the line of least squares through the
	// times of the later half of the tasks, when code is compiled, over their sizes. A task's
	// time is midway between its thread's CPU time, which leaves out the JVM's other threads,
	// and the time for which it held its slot, which has waiting in it. 0 where sizes are not
	// known or alike, the tasks are few, or one of them weighs more than four mean ones: what
	// is left beside such a task is in doubt.
	TaskCost units.Seconds `json:"task_cost_s,omitempty"`
}

// EventsReply acknowledges Events. KindNotFound asks the driver to register
// again.
type EventsReply struct {
	V         int       `json:"v"`
	Error     *Error    `json:"error,omitempty"`
	AckedSeq  uint64    `json:"acked_seq"`
	Directive Directive `json:"directive"`
}
