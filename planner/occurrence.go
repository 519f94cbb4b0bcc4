package planner

import (
	"fmt"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Occurrence is something that happened, for logs and counters. It is one of the
// types of this file.
type Occurrence interface {
	// Name is the same for all occurrences of the type, as in "stage planned".
	Name() string
	// String says it on one line.
	String() string
	// Trouble reports whether an operator should see it without asking.
	Trouble() bool
}

// usual and trouble say how much an occurrence matters.
type (
	usual   struct{}
	trouble struct{}
)

// Trouble returns false.
func (usual) Trouble() bool { return false }

// Trouble returns true.
func (trouble) Trouble() bool { return true }

// AppRegistered: an application has got its verdict and its executors.
type AppRegistered struct {
	usual
	App       api.AppID
	AppName   string
	Verdict   api.Verdict
	Reason    string
	Executors int
}

// AppQueued: an application waits for memory.
type AppQueued struct {
	usual
	App     api.AppID
	AppName string
	Verdict api.Verdict
	Reason  string
}

// AppStarted: an application that has waited has got its executors.
type AppStarted struct {
	usual
	App       api.AppID
	Waited    time.Duration
	Reason    string
	Executors int
}

// NodeRevoked: the credentials of a node were revoked, and it counts as lost.
type NodeRevoked struct {
	trouble
	Node string
}

// AppKilled: somebody wants an application to end. Queued says that it waited and is out of
// the queue.
type AppKilled struct {
	usual
	App    api.AppID
	By     string
	Queued bool
}

// NodeShrunk: a node gives less than is promised there. Hit are the applications for which
// what is left does not reach, those last in the queue's order; the others keep theirs.
type NodeShrunk struct {
	trouble
	Node string
	What string
	Hit  []api.AppID
}

// DecisionRefused: what a decider decided cannot be true, and was left out.
type DecisionRefused struct {
	trouble
	Err error
}

// AppRefused: a registration was turned down.
type AppRefused struct {
	trouble
	AppName string
	Err     error
}

// AppStopped: an application's context has stopped; its driver goes on to its exit.
type AppStopped struct {
	usual
	App          api.AppID
	At, Deadline units.Seconds
}

// AppEnded: an application is over, and what there is to know of it is known. By says
// what its duration is taken from.
type AppEnded struct {
	usual
	App                api.AppID
	State              api.AppState
	Duration, Deadline units.Seconds
	By                 api.EndedBy
	Reason             string
	// ErrorPct is Eq 4, nil where there is none.
	ErrorPct *float64
}

// ExitReported: an application that seemed to have finished has failed.
type ExitReported struct {
	usual
	App  api.AppID
	Code int
}

// PacingChanged: an application runs with all cores from now on, or is paced
// again.
type PacingChanged struct {
	usual
	App    api.AppID
	Pacing string
	Why    string
}

// DeadlineChanged: somebody gave an application another deadline.
type DeadlineChanged struct {
	usual
	App      api.AppID
	Deadline units.Seconds
	Verdict  api.Verdict
}

// CapChanged: somebody gave an application a most of cores on a node, 0 for none.
type CapChanged struct {
	usual
	App     api.AppID
	Cores   units.Cores
	Verdict api.Verdict
}

// StagePlanned: a stage was given its deadline (Eq 1) and its cores (Eq 6).
type StagePlanned struct {
	usual
	App       api.AppID
	Stage     api.StageKey
	Deadline  units.Seconds
	Cores     units.Cores
	Executors int
}

// StageEnded: a stage attempt is over. Deadline is 0 when it had none.
type StageEnded struct {
	usual
	App                api.AppID
	Stage              api.StageKey
	Duration, Deadline units.Seconds
	Failed             bool
}

// ExecutorGone: an executor of a running application exited or was lost.
type ExecutorGone struct {
	trouble
	App      api.AppID
	Executor api.ExecutorID
	Node     string
	Reason   string
}

// ExecutorLeft: an executor has gone that was asked to, because its node drains.
type ExecutorLeft struct {
	usual
	App      api.AppID
	Executor api.ExecutorID
	Node     string
}

// ExecutorReplaced: another one was asked for in its place.
type ExecutorReplaced struct {
	usual
	App      api.AppID
	Executor api.ExecutorID
	Node     string
}

// ReplacementEnded: too many executors were replaced, no more will be.
type ReplacementEnded struct {
	trouble
	App    api.AppID
	Count  int
	Window time.Duration
}

// NodeJoined: a node has said hello.
type NodeJoined struct {
	usual
	Node    string
	Offered units.Cores
	Memory  units.Bytes
}

// DivisionChanged: an operator wants cores divided otherwise.
type DivisionChanged struct {
	usual
	Where, How string
}

// NodeDraining: somebody wants a node empty.
type NodeDraining struct {
	usual
	Node string
}

// AppGrown: a running application gets executors on a node that has come.
type AppGrown struct {
	usual
	App       api.AppID
	Node      string
	Executors int
}

// TailHandedOver: what is left of a running stage was divided anew, because some
// executors cannot finish their shares in time.
type TailHandedOver struct {
	usual
	App   api.AppID
	Stage api.StageKey
	// Moved is the weight that changes hands, Late how much later than the
	// deadline the stage would have ended.
	Moved float64
	Late  units.Seconds
}

// NodeLeft: a node controller has stopped in good order.
type NodeLeft struct {
	usual
	Node string
}

// NodeLost: a node has been silent for too long.
type NodeLost struct {
	trouble
	Node   string
	Silent time.Duration
}

// NodeClash: two node controllers use one name.
type NodeClash struct {
	trouble
	Node, Incarnation string
}

// AppReclaimed: an application was taken over that another planner has started, or this one
// before it lost its state.
type AppReclaimed struct {
	trouble
	App       api.AppID
	AppName   string
	Executors int
}

// ClockCorrected: what the planner made of an application's deadline clock was behind what the
// driver's shows, or with a negative Ahead before it.
type ClockCorrected struct {
	trouble
	App   api.AppID
	Ahead units.Seconds
}

// NodeClaimed: this planner is in the place of the one that a node follows.
type NodeClaimed struct {
	trouble
	Node, Planner string
}

// NodeForeign: a node runs executors for another planner and obeys that one.
type NodeForeign struct {
	trouble
	Node, Planner string
}

// ProfileChanged: a profile was recorded, merged, replaced, put or removed; How
// says which.
type ProfileChanged struct {
	usual
	Profile string
	How     string
	App     api.AppID
}

// RunNotRecorded: a run could not become a profile.
type RunNotRecorded struct {
	usual
	App api.AppID
	Err error
}

// MessageRefused: a message was not understood, of a node without a reply or of a driver.
type MessageRefused struct {
	trouble
	From string
	Err  error
}

// PublishFailed: a Plan or a Directive could not be sent; it will be again.
type PublishFailed struct {
	trouble
	To  string
	Err error
}

// StoreFailed: the state cannot be stored. Said once until it can again.
type StoreFailed struct {
	trouble
	Err error
}

// StoreWorks: the state can be stored again, and is.
type StoreWorks struct{ usual }

// RecordLost: a record could not be read at the start, could not be encoded, or will never be
// taken by the store. All others are there.
type RecordLost struct {
	trouble
	Err error
}

// Name and String of each type.

func (AppRegistered) Name() string    { return "application registered" }
func (AppQueued) Name() string        { return "application queued" }
func (AppStarted) Name() string       { return "application started" }
func (NodeRevoked) Name() string      { return "node revoked" }
func (AppKilled) Name() string        { return "application killed" }
func (NodeShrunk) Name() string       { return "node shrunk" }
func (DecisionRefused) Name() string  { return "decision refused" }
func (AppRefused) Name() string       { return "application refused" }
func (AppStopped) Name() string       { return "context stopped" }
func (AppEnded) Name() string         { return "application ended" }
func (ExitReported) Name() string     { return "exit code reported" }
func (PacingChanged) Name() string    { return "pacing changed" }
func (DeadlineChanged) Name() string  { return "deadline changed" }
func (CapChanged) Name() string       { return "cap changed" }
func (StagePlanned) Name() string     { return "stage planned" }
func (StageEnded) Name() string       { return "stage ended" }
func (ExecutorGone) Name() string     { return "executor gone" }
func (ExecutorLeft) Name() string     { return "executor left" }
func (ExecutorReplaced) Name() string { return "executor replaced" }
func (ReplacementEnded) Name() string { return "replacement ended" }
func (NodeJoined) Name() string       { return "node joined" }
func (NodeDraining) Name() string     { return "node draining" }
func (DivisionChanged) Name() string  { return "division changed" }
func (AppGrown) Name() string         { return "application grown" }
func (TailHandedOver) Name() string   { return "tail handed over" }
func (NodeLeft) Name() string         { return "node left" }
func (NodeLost) Name() string         { return "node lost" }
func (NodeClash) Name() string        { return "node clash" }
func (NodeForeign) Name() string      { return "node of another planner" }
func (AppReclaimed) Name() string     { return "application taken over" }
func (ClockCorrected) Name() string   { return "clock corrected" }
func (NodeClaimed) Name() string      { return "node taken over" }
func (ProfileChanged) Name() string   { return "profile changed" }
func (RunNotRecorded) Name() string   { return "run not recorded" }
func (MessageRefused) Name() string   { return "message refused" }
func (PublishFailed) Name() string    { return "publish failed" }
func (StoreFailed) Name() string      { return "store failed" }
func (StoreWorks) Name() string       { return "store works" }
func (RecordLost) Name() string       { return "record lost" }

func (o AppRegistered) String() string {
	return fmt.Sprintf("%s (%q) registered: %s; %d executors", o.App, o.AppName, o.Reason, o.Executors)
}

func (o AppQueued) String() string { return fmt.Sprintf("%s (%q) %s", o.App, o.AppName, o.Reason) }

func (o AppStarted) String() string {
	return fmt.Sprintf("%s started after %v in the queue: %s; %d executors", o.App, o.Waited.Round(time.Second), o.Reason, o.Executors)
}

func (o NodeRevoked) String() string {
	return fmt.Sprintf("the credentials of node %s were revoked: it counts as lost", o.Node)
}

func (o AppKilled) String() string {
	if o.Queued {
		return fmt.Sprintf("%s was killed by %s while it was queued", o.App, o.By)
	}
	return fmt.Sprintf("%s was killed by %s: its driver is to end", o.App, o.By)
}

func (o NodeShrunk) String() string {
	var hit []string
	for _, id := range o.Hit {
		hit = append(hit, string(id))
	}
	return fmt.Sprintf("node %s %s: this hits %s", o.Node, o.What, strings.Join(hit, ", "))
}

func (o DecisionRefused) String() string { return "a decision was left out: " + o.Err.Error() }

func (o AppRefused) String() string { return fmt.Sprintf("%q refused: %v", o.AppName, o.Err) }

func (o ExitReported) String() string {
	return fmt.Sprintf("%s failed: %s", o.App, sayExit(o.Code))
}

func (o AppStopped) String() string {
	text := fmt.Sprintf("%s stopped its context after %s", o.App, o.At)
	if o.Deadline > 0 {
		text += fmt.Sprintf(" of %s", o.Deadline)
	}
	return text
}

func (o AppEnded) String() string {
	how := string(o.State)
	if o.State == api.AppUnknown {
		how = "ended, nobody knows how,"
	}
	text := fmt.Sprintf("%s %s after %s", o.App, how, o.Duration)
	if o.Deadline > 0 {
		text += fmt.Sprintf(" of %s", o.Deadline)
	}
	if !o.By.Known() {
		text += fmt.Sprintf(" (%s; its exit is not known)", o.By)
	}
	if o.Reason != "" {
		text += ": " + o.Reason
	}
	return text
}

func (o PacingChanged) String() string { return fmt.Sprintf("%s is %s: %s", o.App, o.Pacing, o.Why) }

func (o DeadlineChanged) String() string {
	return fmt.Sprintf("%s has a deadline of %s, %s", o.App, o.Deadline, o.Verdict)
}

func (o CapChanged) String() string {
	if o.Cores == 0 {
		return fmt.Sprintf("%s has no cap any more, %s", o.App, o.Verdict)
	}
	return fmt.Sprintf("%s has at most %s cores on a node, %s", o.App, o.Cores, o.Verdict)
}

func (o StagePlanned) String() string {
	return fmt.Sprintf("%s stage %d.%d: %s on %s cores, %d executors", o.App, o.Stage.Stage, o.Stage.Attempt, o.Deadline, o.Cores, o.Executors)
}

func (o StageEnded) String() string {
	how := "done"
	if o.Failed {
		how = "failed"
	}
	text := fmt.Sprintf("%s stage %d.%d %s after %s", o.App, o.Stage.Stage, o.Stage.Attempt, how, o.Duration)
	if o.Deadline > 0 {
		text += fmt.Sprintf(" of %s", o.Deadline)
	}
	return text
}

func (o ExecutorGone) String() string {
	return fmt.Sprintf("%s executor %s on %s is gone: %s", o.App, o.Executor, o.Node, o.Reason)
}

func (o ExecutorLeft) String() string {
	return fmt.Sprintf("%s executor %s has left %s", o.App, o.Executor, o.Node)
}

func (o ExecutorReplaced) String() string {
	return fmt.Sprintf("%s gets executor %s on %s in place of a lost one", o.App, o.Executor, o.Node)
}

func (o ReplacementEnded) String() string {
	return fmt.Sprintf("%s lost %d executors in %v: no more are replaced", o.App, o.Count, o.Window)
}

func (o NodeJoined) String() string {
	return fmt.Sprintf("node %s offers %s cores and %s", o.Node, o.Offered, o.Memory)
}

func (o NodeDraining) String() string { return fmt.Sprintf("node %s drains", o.Node) }
func (o DivisionChanged) String() string {
	return fmt.Sprintf("%s: cores are divided %s", o.Where, o.How)
}

func (o AppGrown) String() string {
	return fmt.Sprintf("%s gets %d executors on node %s, which has come", o.App, o.Executors, o.Node)
}

func (o TailHandedOver) String() string {
	return fmt.Sprintf("%s stage %d.%d would end %s late: the work of %.1f tasks goes to other executors", o.App, o.Stage.Stage, o.Stage.Attempt, o.Late, o.Moved)
}

func (o NodeLeft) String() string { return fmt.Sprintf("node %s has stopped its controller", o.Node) }

func (o NodeLost) String() string {
	return fmt.Sprintf("node %s has been silent for %v", o.Node, o.Silent)
}

func (o NodeClash) String() string {
	return fmt.Sprintf("node %s: another node controller (%s) uses this name", o.Node, o.Incarnation)
}

func (o ClockCorrected) String() string {
	return fmt.Sprintf("%s: its deadline clock is %v ahead of what was made of it: this planner's clock was set", o.App, o.Ahead)
}
func (o AppReclaimed) String() string {
	return fmt.Sprintf("application taken over: %s (%s) goes on with %d executors, all cores", o.App, o.AppName, o.Executors)
}

func (o NodeClaimed) String() string {
	return fmt.Sprintf("node taken over: %s followed planner %s, which does not serve any more", o.Node, o.Planner)
}

func (o NodeForeign) String() string {
	return fmt.Sprintf("node %s runs executors for planner %s: it gets none of ours until they have ended", o.Node, o.Planner)
}

func (o ProfileChanged) String() string {
	if o.App == "" {
		return fmt.Sprintf("profile %q %s", o.Profile, o.How)
	}
	return fmt.Sprintf("profile %q %s from %s", o.Profile, o.How, o.App)
}

func (o RunNotRecorded) String() string { return fmt.Sprintf("%s is not recorded: %v", o.App, o.Err) }

func (o MessageRefused) String() string { return fmt.Sprintf("message from %s: %v", o.From, o.Err) }

func (o PublishFailed) String() string { return fmt.Sprintf("publish to %s: %v", o.To, o.Err) }

func (o StoreFailed) String() string {
	return fmt.Sprintf("the planner is read-only, for its state cannot be stored: %v", o.Err)
}

func (StoreWorks) String() string { return "the state can be stored again" }

func sayExit(code int) string { return fmt.Sprintf("spark-submit ended with exit code %d", code) }

func (o RecordLost) String() string { return fmt.Sprintf("a record of the state is lost: %v", o.Err) }
