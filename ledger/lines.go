package ledger

import (
	"fmt"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// The table of what facts say. Who reads the changes goes by it: logs, the simulator, an audit. A
// fact without a row does not compile.

// Applications.

func (f Registered) Line() Line {
	executors := 0
	if f.Seats != nil {
		executors = len(f.Seats.Nodes)
	}
	switch p := f.Promise; {
	case f.Queued:
		return usual("application queued", ofApp(f.ID), "%s (%q) %s", f.ID, f.Name, p.Reason)
	case p.Reclaimed:
		return takenOver(f.ID, f.Name, f.Executors)
	default:
		return usual("application registered", ofApp(f.ID), "%s (%q) registered: %s; %d executors",
			f.ID, f.Name, p.Reason, executors)
	}
}

func (f Anew) Line() Line {
	return usual("application begun again", ofApp(f.App), "%s begins again: its driver was lost", f.App)
}

func (f DriverCame) Line() Line {
	return usual("driver registered", ofApp(f.App), "the driver of %s (%q) has registered", f.App, f.Name)
}

func (f Reclaimed) Line() Line {
	if f.Name == "" {
		return quiet("executors taken over")
	}
	return takenOver(f.App, f.Name, len(f.Executors))
}

func takenOver(id api.AppID, name string, executors int) Line {
	return trouble("application taken over", ofApp(id),
		"application taken over: %s (%s) goes on with %d executors, all cores", id, name, executors)
}

func (f Started) Line() Line {
	return usual("application started", ofApp(f.App), "%s started after %v in the queue: %s; %d executors",
		f.App, f.Waited.Round(time.Second), f.Reason, len(f.Nodes))
}

func (f TurnedDown) Line() Line {
	var about []any
	if f.App != "" {
		about = ofApp(f.App)
	}
	return trouble("application refused", about, "%q refused: %v", f.Name, f.Err)
}

func (f KillAsked) Line() Line {
	if f.Queued {
		return usual("application killed", ofApp(f.App), "%s was killed by %s while it was queued", f.App, f.By)
	}
	return usual("application killed", ofApp(f.App), "%s was killed by %s: its driver is to end", f.App, f.By)
}

func (f ContextStopped) Line() Line {
	return usual("context stopped", ofApp(f.App), "%s stopped its context after %s%s",
		f.App, f.At, ofDeadline(f.Deadline))
}

func (f Archived) Line() Line { return ended(f.App, &f.Detail, f.Account) }

func (f RunArchived) Line() Line { return ended(f.Detail.ID, &f.Detail, f.Account) }

// ended says how the application or the run of that id came to its end.
func ended(id api.AppID, d *api.AppDetail, account Account) Line {
	how := string(d.State)
	if d.State == api.AppUnknown {
		how = "ended, nobody knows how,"
	}
	text := fmt.Sprintf("%s %s after %s%s", id, how, d.Duration, ofDeadline(d.Deadline))
	if !d.EndedBy.Known() {
		text += fmt.Sprintf(" (%s; its exit is not known)", d.EndedBy)
	}
	if account.Reason != "" {
		text += ": " + account.Reason
	}
	return usual("application ended", ofApp(id), "%s", text)
}

// ofDeadline says what a duration is one of.
func ofDeadline(deadline units.Seconds) string {
	if deadline <= 0 {
		return ""
	}
	return fmt.Sprintf(" of %s", deadline)
}

func (f EndedAmended) Line() Line {
	if !f.Failed {
		return quiet("history amended")
	}
	return usual("exit code reported", ofApp(f.Detail.ID), "%s failed: %s", f.Detail.ID, ExitReason(f.Detail.ExitCode))
}

// ExitReason is the line about an application whose spark-submit has ended with that code.
func ExitReason(code int) string { return fmt.Sprintf("spark-submit ended with exit code %d", code) }

func (f PacingChanged) Line() Line {
	return usual("pacing changed", ofApp(f.App), "%s is %s: %s", f.App, f.Pacing, f.Why)
}

func (f Judged) Line() Line {
	switch after := f.After.(type) {
	case DeadlineGiven:
		return usual("deadline changed", ofApp(f.App), "%s has a deadline of %s, %s", f.App, after.Deadline, f.Verdict)
	case Capped:
		if after.Cores == 0 {
			return usual("cap changed", ofApp(f.App), "%s has no cap any more, %s", f.App, f.Verdict)
		}
		return usual("cap changed", ofApp(f.App), "%s has at most %s cores on a node, %s",
			f.App, after.Cores, f.Verdict)
	}
	return quiet("application judged")
}

func (f ClockRead) Line() Line {
	if f.Ahead == 0 {
		return quiet("clock read")
	}
	return trouble("clock corrected", ofApp(f.App),
		"%s: its deadline clock is %v ahead of what was made of it: this planner's clock was set", f.App, f.Ahead)
}

func (f PutBehind) Line() Line {
	if f.Why == "" {
		return usual("in order again", ofApp(f.App), "%s has its place by its deadline again", f.App)
	}
	return usual("put behind others", ofApp(f.App), "%s comes behind the others on its nodes: %s", f.App, f.Why)
}

func (f RunNotRecorded) Line() Line {
	return usual("run not recorded", ofApp(f.App), "%s is not recorded: %v", f.App, f.Err)
}

func (SerialTaken) Line() Line    { return quiet("number taken") }
func (Refused) Line() Line        { return quiet("refusal kept") }
func (Heard) Line() Line          { return quiet("driver heard") }
func (NoticeTold) Line() Line     { return quiet("notice told") }
func (Noticed) Line() Line        { return quiet("notice given") }
func (EventTaken) Line() Line     { return quiet("event taken") }
func (DeadlineGiven) Line() Line  { return quiet("deadline given") }
func (GateSet) Line() Line        { return quiet("gate set") }
func (ModeSet) Line() Line        { return quiet("mode set") }
func (RunBegan) Line() Line       { return quiet("run begun") }
func (Capped) Line() Line         { return quiet("cap given") }
func (TargetsDropped) Line() Line { return quiet("targets dropped") }
func (OwnerRevoked) Line() Line   { return quiet("owner revoked") }
func (RunEnded) Line() Line       { return quiet("run ended") }
func (Exited) Line() Line         { return quiet("driver exited") }
func (StateUnknown) Line() Line   { return quiet("state outdated") }
func (LaunchTold) Line() Line     { return quiet("launch told") }
func (QueueLearnt) Line() Line    { return quiet("queue taught") }

// Stages.

func (f StageAimed) Line() Line {
	return usual("stage planned", ofStage(f.App, f.Stage), "%s stage %d.%d: %s on %s cores, %d executors",
		f.App, f.Stage.Stage, f.Stage.Attempt, f.Left, f.Cores, len(f.Targets))
}

func (f StageEnded) Line() Line {
	how, s := "done", f.Done.StageKey
	if f.Done.Failed {
		how = "failed"
	}
	return usual("stage ended", ofStage(f.App, s), "%s stage %d.%d %s after %s%s",
		f.App, s.Stage, s.Attempt, how, max(0, f.At-f.ReadyAt), ofDeadline(f.First))
}

func (f StageShared) Line() Line {
	if f.Moved == 0 {
		return usual("last task late", ofStage(f.App, f.Stage),
			"%s stage %d.%d would end %s late: its last task may be copied", f.App, f.Stage.Stage, f.Stage.Attempt, f.Late)
	}
	return usual("tail handed over", ofStage(f.App, f.Stage),
		"%s stage %d.%d would end %s late: the work of %.1f tasks goes to other executors",
		f.App, f.Stage.Stage, f.Stage.Attempt, f.Late, f.Moved)
}

func (f StageAdded) Line() Line {
	return usual("stage added", ofStage(f.App, f.Stage),
		"%s stage %d.%d is not in the profile: %.1f core-seconds, estimated by %s", f.App, f.Stage.Stage, f.Stage.Attempt,
		float64(f.Extra.Stage.CoreSeconds), f.Extra.By)
}

func (f VariantTaken) Line() Line {
	return usual("variant taken", ofStage(f.App, f.Stage),
		"%s is of another variant of its profile, as stage %d.%d shows", f.App, f.Stage.Stage, f.Stage.Attempt)
}

func (f QueryEnded) Line() Line {
	if !f.Left {
		return quiet("query ended")
	}
	return usual("query ended", ofApp(f.App), "%s: query %d has ended, and stages of it do not come", f.App, f.Execution)
}

func (StageReady) Line() Line    { return quiet("stage ready") }
func (StageMatched) Line() Line  { return quiet("stage matched") }
func (StagesFolded) Line() Line  { return quiet("stages folded") }
func (StageTargeted) Line() Line { return quiet("stage targeted") }
func (StageRebound) Line() Line  { return quiet("stage rebound") }

// Executors.

func (f ExecutorLost) Line() Line {
	switch about := ofExecutor(f.App, f.ID, f.Node); {
	case f.Node == "":
		return quiet("executor ended")
	case f.Leaving:
		return usual("executor left", about, "%s executor %s has left %s", f.App, f.ID, f.Node)
	default:
		return trouble("executor gone", about, "%s executor %s on %s is gone: %s", f.App, f.ID, f.Node, f.Reason)
	}
}

func (f ExecutorLeaving) Line() Line {
	if f.For == "" {
		return quiet("executor leaving")
	}
	return usual("executor given back", ofExecutor(f.App, f.ID, f.Node),
		"%s gives its executor %s on %s back for %s, which waits",
		f.App, f.ID, f.Node, f.For)
}

func (f ExecutorTaken) Line() Line {
	return usual("executor taken", ofExecutor(f.App, f.ID, f.Node),
		"the memory that %s executor %s on %s was lent is taken back: %s", f.App, f.ID, f.Node, f.Why)
}

func (f ClaimKept) Line() Line {
	return usual("memory kept", ofExecutor(f.App, f.ID, f.Node),
		"%s executor %s on %s keeps its memory", f.App, f.ID, f.Node)
}

func (f ExecutorAttached) Line() Line {
	where := "node " + f.Node
	if f.Node == "" {
		where = "host " + f.Host + ", where no node is"
	}
	return usual("executor attached", ofExecutor(f.App, f.ID, f.Node), "%s has executor %s of %d cores on %s", f.App,
		f.ID, f.Cores, where)
}

func (f ExecutorRefused) Line() Line {
	return trouble("executor refused", ofExecutor(f.App, f.ID, f.Node), "%s does not get executor %s on %s: %s", f.App,
		f.ID, f.Node, f.Why)
}

func (f ReplacementSent) Line() Line {
	return usual("executor replaced", ofExecutor(f.App, f.ID, f.Node),
		"%s gets executor %s on %s in place of a lost one", f.App, f.ID, f.Node)
}

func (f ReplacementStopped) Line() Line {
	return trouble("replacement ended", ofApp(f.App), "%s lost %d executors in %v: no more are replaced",
		f.App, f.Lost, f.Window)
}

func (f Seated) Line() Line {
	node := f.Nodes[0] // A planner grows on one node at a time.
	return usual("application grown", append(ofApp(f.App), ofNode(node)...),
		"%s gets %d executors on node %s, which has come", f.App, len(f.Nodes), node)
}

func (Resized) Line() Line        { return quiet("application resized") }
func (SeatsLooked) Line() Line    { return quiet("seats looked at") }
func (PlaceGivenBack) Line() Line { return quiet("place given back") }
func (ExecutorUp) Line() Line     { return quiet("executor up") }
func (ExecutorUnseen) Line() Line { return quiet("executor unseen") }
func (ExecutorIdle) Line() Line   { return quiet("executor idle") }
func (ExecutorNamed) Line() Line  { return quiet("executor named") }

// Nodes.

func (f NodeJoined) Line() Line {
	if !f.News {
		return quiet("node heard")
	}
	return joined(f.Node, f.Offered, f.Memory)
}

func joined(node string, offered units.Cores, memory units.Bytes) Line {
	return usual("node joined", ofNode(node), "node %s offers %s cores and %s", node, offered, memory)
}

func (f NodeSaid) Line() Line {
	if !f.Status.Leaving {
		return quiet("node said")
	}
	return usual("node left", ofNode(f.Status.Node), "node %s has stopped its controller", f.Status.Node)
}

func (f NodeLost) Line() Line {
	if f.Revoked {
		return trouble("node revoked", ofNode(f.Node), "the credentials of node %s were revoked: it counts as lost",
			f.Node)
	}
	return trouble("node lost", ofNode(f.Node), "node %s has been silent for %v", f.Node, f.Silent)
}

func (f NodesForgotten) Line() Line {
	return usual("nodes forgotten", nil, "what was learnt of executors that share nodes is learnt anew: %s", f.Why)
}

func (f NodeDrained) Line() Line {
	if !f.Draining {
		return joined(f.Node, f.Offered, f.Memory)
	}
	return usual("node draining", ofNode(f.Node), "node %s drains", f.Node)
}

func (f NodeShrunk) Line() Line {
	hit := make([]string, len(f.Hit))
	for i, id := range f.Hit {
		hit[i] = string(id)
	}
	return trouble("node shrunk", ofNode(f.Node), "node %s %s: this hits %s", f.Node, f.What, strings.Join(hit, ", "))
}

func (f NodeClash) Line() Line {
	return trouble("node clash", ofNode(f.Node), "node %s: another node controller (%s) uses this name",
		f.Node, f.Incarnation)
}

func (f MachineDisputed) Line() Line {
	return trouble("machine disputed", ofNode(f.Node),
		"node %s gets no executors there: %s say that they are one machine", f.Node, f.Nodes)
}

func (f NodeForeign) Line() Line {
	return trouble("node of another planner", ofNode(f.Node),
		"node %s runs executors for planner %s: it gets none of ours until they have ended", f.Node, f.Planner)
}

func (f NodeClaimed) Line() Line {
	return trouble("node taken over", ofNode(f.Node),
		"node taken over: %s followed planner %s, which does not serve any more", f.Node, f.From)
}

func (f DivisionSet) Line() Line {
	where, about, how := "all nodes", []any(nil), "as configured there"
	if f.Node != "" {
		where, about = "node "+f.Node, ofNode(f.Node)
	}
	if d := f.Division; d != nil {
		how = fmt.Sprintf("by %s, gamma %v", d.Strategy, d.Gamma)
	}
	return usual("division changed", about, "%s: cores are divided %s", where, how)
}

func (f QueuePolicySet) Line() Line {
	p := f.Policy
	if p == nil {
		return usual("policy changed", nil, "the queue is served as configured")
	}
	var set []string
	for _, part := range [...][2]string{{"rule", p.Rule}, {"order", p.Order}, {"size", p.Size},
		{"admission", p.Admission}, {"late", p.Late}} {
		if part[1] != "" {
			set = append(set, part[0]+" "+part[1])
		}
	}
	return usual("policy changed", nil, "the queue is served by %s, and else as configured", strings.Join(set, ", "))
}

func (NodeChallenged) Line() Line { return quiet("node challenged") }
func (NodeCleared) Line() Line    { return quiet("node cleared") }
func (NodeSilent) Line() Line     { return quiet("node silent") }
func (NodeForgotten) Line() Line  { return quiet("node forgotten") }
func (PlanRepeated) Line() Line   { return quiet("plan repeated") }

// Profiles.

func (f ProfileSaved) Line() Line {
	about := ofProfile(f.Body.Name)
	if f.By == "" {
		return usual("profile changed", about, "profile %q %s", f.Body.Name, f.How)
	}
	return usual("profile changed", append(about, ofApp(f.By)...), "profile %q %s from %s", f.Body.Name, f.How, f.By)
}

func (f ProfileRemoved) Line() Line {
	return usual("profile changed", ofProfile(f.Name), "profile %q removed", f.Name)
}

func (f RunTakenBack) Line() Line {
	return usual("profile changed", append(ofProfile(f.Name), ofApp(f.App)...), "profile %q put back from %s",
		f.Name, f.App)
}

// The planner, its store and its bus.

func (f DecisionRefused) Line() Line {
	return trouble("decision refused", nil, "a decision was left out: %v", f.Err)
}

func (f MessageRefused) Line() Line {
	return trouble("message refused", []any{"from", f.From}, "message from %s: %v", f.From, f.Err)
}

func (f PublishFailed) Line() Line {
	return trouble("publish failed", []any{"to", f.To}, "publish to %s: %v", f.To, f.Err)
}

func (f StoreFailed) Line() Line {
	return trouble("store failed", nil, "the planner is read-only, for its state cannot be stored: %v", f.Err)
}

func (f RecordLost) Line() Line {
	return trouble("record lost", nil, "a record of the state is lost: %v", f.Err)
}

func (StoreWorks) Line() Line { return usual("store works", nil, "the state can be stored again") }
func (Passed) Line() Line     { return quiet("time passed") }
func (Waited) Line() Line     { return quiet("time waited") }
