package api

import (
	"time"

	"github.com/sparkpacer/pacer/units"
)

// AppState is where an application stands; it only moves forward.
type AppState string

const (
	// AppQueued has registered and waits for memory; it has no executors.
	AppQueued AppState = "queued"
	// AppRunning has registered and not ended.
	AppRunning AppState = "running"
	// AppEnding stopped its SparkContext; its driver has not exited as far as is known.
	AppEnding AppState = "ending"
	// AppFinished has ended with exit code 0: pacer submit saw it, or its driver has proved
	// it.
	AppFinished AppState = "finished"
	// AppFailed has ended with another exit code, or with an error, or its driver is gone.
	AppFailed AppState = "failed"
	// AppUnknown has ended, and nobody knows with which exit code. It was neither in time
	// nor late, and teaches no profile.
	AppUnknown AppState = "unknown"
	// AppRefused asked for a feasible deadline and had none.
	AppRefused AppState = "refused"
)

// EndedBy says what an application's end, and with it its duration, is taken from.
type EndedBy string

const (
	// EndedByExit is the exit of spark-submit as pacer submit saw it.
	EndedByExit EndedBy = "exit"
	// EndedByLastWord is the last word of the driver's shutdown hook, some
	// milliseconds before the exit.
	EndedByLastWord EndedBy = "last word"
	// EndedByStop is the stop of the SparkContext: the driver's exit is not known.
	EndedByStop EndedBy = "stop"
	// EndedByKill is the moment in which the planner took its executors away, because its
	// driver did not follow a user's request to end (VerbKill).
	EndedByKill EndedBy = "kill"
	// EndedByNext is the start of the next context of the same driver.
	EndedByNext EndedBy = "next context"
	// EndedBySilence is the moment in which the planner gave a driver up.
	EndedBySilence EndedBy = "silence"
)

// Known reports whether the end is that of the driver's process, or that of the driver's time for
// this application.
func (b EndedBy) Known() bool {
	return b == EndedByExit || b == EndedByLastWord || b == EndedByNext
}

// AppSummary is a row of `pacer apps`.
type AppSummary struct {
	ID      AppID    `json:"id"`
	Name    string   `json:"name"`
	Profile string   `json:"profile"`
	User    string   `json:"user"`
	State   AppState `json:"state"`
	// Pacing says how it runs: "paced", "observed", "recording", "released",
	// "unpaced", "off".
	Pacing  string  `json:"pacing"`
	Verdict Verdict `json:"verdict"`
	// Headline says in one sentence how it stands; Risk what that means for its deadline.
	Headline string `json:"headline,omitempty"`
	Risk     Risk   `json:"risk,omitempty"`
	// Deadline is 0 without one. Duration is the time so far or, at the end, in
	// all; both on the deadline clock.
	Deadline units.Seconds `json:"deadline_s"`
	Duration units.Seconds `json:"duration_s"`
	// EndedBy says of which moment Duration and ErrorPct are; "" until it has ended.
	EndedBy EndedBy `json:"ended_by,omitempty"`
	// Submitted is when the deadline clock started. FirstLaunch is when its first task
	// was launched, on the deadline clock; 0 until then.
	Submitted   time.Time     `json:"submitted_at,omitzero"`
	FirstLaunch units.Seconds `json:"first_launch_s"`
	// Predicted is the predicted Duration at the end; 0 when not known.
	Predicted units.Seconds `json:"predicted_finish_s"`
	// ErrorPct is Eq 4, set once it has finished and had a deadline: early is positive,
	// late is negative. A failed application has none, nor one whose end is not known.
	ErrorPct *float64 `json:"error_pct"`
	// Unrecorded says why its run, which has ended, is in no profile; "" where it is in one
	// or was not to be.
	Unrecorded string `json:"unrecorded,omitempty"`
	// CoreSeconds is what its executors used from the first task's launch to
	// the last task's end; MeanCores is that over the time between.
	CoreSeconds  units.Work  `json:"core_seconds"`
	MeanCores    units.Cores `json:"mean_cores"`
	QuotaChanges int         `json:"quota_changes"`
	// WouldCores is not nil where quotas were not written (ModeObserve): QuotaChanges and the samples'
	// grants are what they would have been, and it is the mean grant while stages ran under a target.
	WouldCores *units.Cores `json:"would_cores,omitempty"`
	// Submission is the key given by pacer submit, "" for others than its user and operators: who
	// knows it may have its executors. Context is the number of its driver's SparkContext
	// that this is, from 0; Before is how much of the submission's time had passed at Submitted.
	Submission string        `json:"submission"`
	Context    int           `json:"context,omitempty"`
	Before     units.Seconds `json:"before_s,omitempty"`
	// Queue says where it waits while State is AppQueued, nil otherwise.
	Queue *Queue `json:"queue,omitempty"`
	// ExitCode is that of the application's spark-submit under pacer submit; 0 when it
	// did not fail, or where EndedBy says that nobody saw it.
	ExitCode int `json:"exit_code,omitempty"`
}

// Reserve is what an application with a deadline keeps for what nobody foresees.
type Reserve struct {
	// Time is how long before its deadline it is aimed at its start, Runs the earlier runs that this rests on, Certainty
	// how likely it is to be enough.
	Time      units.Seconds  `json:"reserve_s"`
	Runs      int            `json:"runs"`
	Certainty units.Fraction `json:"certainty"`
}

// AppDetail is what `pacer apps show` prints.
type AppDetail struct {
	AppSummary
	// Reason explains the verdict; Notices are the lines said since, in order.
	Reason    string        `json:"reason"`
	Notices   []string      `json:"notices"`
	Earliest  units.Seconds `json:"earliest_s"`
	Executors []AppExecutor `json:"executors"`
	Stages    []AppStage    `json:"stages"`
	// Cap is the most cores that it gets on a node, 0 for no cap.
	Cap units.Cores `json:"cap_cores,omitempty"`
	// Losses are what it asked for and was not granted, on all nodes, the most first.
	Losses []Loss `json:"losses,omitempty"`
	// Shortages are when it had less cores than it asked for, the first one first.
	Shortages []AppShortage `json:"shortages,omitempty"`
	// UIWebURL is where its driver shows Spark's UI, "" where it has none.
	UIWebURL string `json:"ui_web_url,omitempty"`
}

// AppShortage is a time in which an application had less cores on a node than it asked for.
type AppShortage struct {
	Node string `json:"node"`
	// Begin and End are on the deadline clock, as the planner has heard of it: to the second.
	// End is 0 while it lasts.
	Begin units.Seconds `json:"begin_s"`
	End   units.Seconds `json:"end_s"`
	// Shortage is as it was when most cores were lacking, and GivenUp if it ever was.
	Shortage
}

// AppExecutor is an executor of an application as the planner knows it.
type AppExecutor struct {
	ID    ExecutorID    `json:"id"`
	Node  string        `json:"node"`
	State ExecutorState `json:"state"`
	// Registered says that the driver has it or, of one that has ended, had it.
	Registered bool   `json:"registered"`
	Exit       string `json:"exit,omitempty"`
	// Host and Container are where one runs that another cluster manager has started, and Cores what it has there; of
	// it too are Ceiling, Unguarded and Unpaced (ExecutorStatus).
	Host      string      `json:"host,omitempty"`
	Container string      `json:"container,omitempty"`
	Cores     int         `json:"cores,omitempty"`
	Ceiling   units.Cores `json:"ceiling_cores,omitempty"`
	Unguarded bool        `json:"unguarded,omitempty"`
	Unpaced   string      `json:"unpaced,omitempty"`
	// Memory is what it was last known to have, within a minute.
	Memory ExecutorMemory `json:"memory,omitzero"`
}

// AppStage is a stage attempt of an application.
type AppStage struct {
	StageKey
	Name string `json:"name"`
	// State is "running", "done", "failed", "gone" (Match), or "coming": a stage of the profile that is still
	// to come, with the number -1. Its Start, Deadline, Duration and Cores are those that are planned now.
	State string `json:"state"`
	Tasks int    `json:"tasks"`
	// Job is the number of the first job that needs it, of one that is coming or gone that in the profile; nil in a
	// record of before.
	Job *int `json:"job,omitempty"`
	// Parents are the numbers of the stages that it reads from; of one that is coming or gone those in the
	// profile (Match.Stage).
	Parents []int `json:"parents,omitempty"`
	// Cores is what one that is coming is to have by Eq 6, 0 where no deadline bounds it.
	Cores units.Cores `json:"cores,omitempty"`
	// Start is when it was ready; Deadline and Duration count from there.
	// Deadline is the first one given to it, 0 for none.
	Start    units.Seconds `json:"start_s"`
	Deadline units.Seconds `json:"deadline_s"`
	Duration units.Seconds `json:"duration_s"`
	// FirstLaunch is when its first task was launched, on the scale of Start; it
	// is known, and not 0, once the stage has ended.
	FirstLaunch units.Seconds `json:"first_launch_s"`
	// ErrorPct is Eq 5, set when it has ended and had a deadline.
	ErrorPct       *float64     `json:"error_pct"`
	Records        int64        `json:"records"`
	RecordsWritten int64        `json:"records_written"`
	CoreSeconds    units.Work   `json:"core_seconds"`
	Executors      []ExecutorID `json:"executors"`
	QuotaChanges   int          `json:"quota_changes"`
	// Match is what the profile knows of it, nil without a profile. A stage of the profile that does not
	// come has the number -1 and the state "gone".
	Match *StageMatch `json:"match,omitempty"`
	// Samples are cores, set point and progress over time, per executor.
	Samples []AppSample `json:"samples"`
}

// AppSample is one tick of a stage on one executor, on the deadline clock.
type AppSample struct {
	At       units.Seconds  `json:"at_s"`
	Executor ExecutorID     `json:"executor"`
	SetPoint units.Fraction `json:"set_point"`
	Progress units.Fraction `json:"progress"`
	// Grant is Unknown (-1) for no quota; of an observed application it is what
	// would have been granted.
	Grant units.Cores `json:"grant_cores"`
	Used  units.Cores `json:"used_cores"`
	// Request is what its controller asked for; 0 too where a record of before has not kept it.
	Request units.Cores `json:"request_cores,omitempty"`
}

// PlanRequest asks what a deadline would mean for a profile (`pacer plan`).
type PlanRequest struct {
	V       int    `json:"v"`
	Profile string `json:"profile"`
	// Body is used instead of a stored profile when it is set.
	Body     *Profile      `json:"body,omitempty"`
	Deadline units.Seconds `json:"deadline_s"`
	// Cores replaces what the nodes offer when > 0.
	Cores units.Cores `json:"cores,omitempty"`
	// Certainty is api.Launch.Certainty.
	Certainty units.Fraction `json:"certainty,omitempty"`
	// Empty asks as if nothing else ran.
	Empty bool `json:"empty,omitempty"`
}

// PlanReply answers a PlanRequest.
type PlanReply struct {
	V        int           `json:"v"`
	Error    *Error        `json:"error,omitempty"`
	Verdict  Verdict       `json:"verdict"`
	Reason   string        `json:"reason"`
	Earliest units.Seconds `json:"earliest_s"`
	// Cores are those that it would be seated on, Needed the least with which it would be in time, more than
	// there are where that is infeasible; 0 without a deadline.
	Cores  units.Cores     `json:"cores"`
	Needed units.Cores     `json:"needed_cores"`
	Stages []PlanReplyLine `json:"stages"`
	// Reserve is that of an application; nil for none.
	Reserve *Reserve `json:"reserve,omitempty"`
}

// PlanReplyLine is one stage of a PlanReply.
type PlanReplyLine struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
	// Start and Deadline are on the deadline clock's scale and from the stage's
	// start; Cores is Eq 6.
	Start    units.Seconds `json:"start_s"`
	Deadline units.Seconds `json:"deadline_s"`
	Cores    units.Cores   `json:"cores"`
	// Binds is what its least time hangs on: cores, its longest task, or a device of a node; "" without rates.
	Binds string `json:"binds,omitempty"`
}

// NodeSummary is a node as the planner knows it.
type NodeSummary struct {
	Node    string      `json:"node"`
	Host    string      `json:"host"`
	State   string      `json:"state"`
	Offered units.Cores `json:"offered_cores"`
	Total   units.Cores `json:"total_cores"`
	Memory  units.Bytes `json:"memory_bytes"`
	Epoch   uint64      `json:"epoch"`
	// Pressure and Lacks are as in Kernel.
	Pressure Pressure `json:"pressure,omitzero"`
	Lacks    string   `json:"lacks,omitempty"`
	// NodeRates are those of its devices.
	NodeRates
	// Executors is how many run there.
	Executors int `json:"executors"`
	// Attach says that it starts none, and finds those of other cluster managers.
	Attach bool `json:"attach,omitempty"`
	// NodeCores are who has its cores now; nil where that is not known.
	*NodeCores
	// Version is the release of its node controller.
	Version string `json:"version"`
	// Division is how it divides its cores; SetBy is "operator" where that is not by its
	// own configuration.
	Division Division `json:"division"`
	SetBy    string   `json:"division_set_by,omitempty"`
	// Lends is what it lends of its memory, nil where nothing is lent (planner.lend).
	Lends *NodeLends `json:"lends,omitempty"`
}

// NodeLends is what executors on a node leave of their claims and may be lent, and what is lent there in all; Not says
// why it lends nothing.
type NodeLends struct {
	Lendable units.Bytes `json:"lendable_bytes"`
	Lent     units.Bytes `json:"lent_bytes"`
	Not      string      `json:"not,omitempty"`
}

// NodeCores are who has a node's cores: what its executors use of them and are granted, an executor without a quota
// what it uses, and what anything else uses.
type NodeCores struct {
	Used    units.Cores `json:"used_cores"`
	Granted units.Cores `json:"granted_cores"`
	Others  units.Cores `json:"others_cores"`
}

// ControlRequest is the body of every control request but plan and profile put.
type ControlRequest struct {
	V int `json:"v"`
	// App, Profile and Node name what the request is about.
	App     AppID  `json:"app,omitempty"`
	Profile string `json:"profile,omitempty"`
	Node    string `json:"node,omitempty"`
	// Extend is added to the deadline (`pacer deadline ID +10m`); Deadline
	// replaces it.
	Extend   units.Seconds `json:"extend_s,omitempty"`
	Deadline units.Seconds `json:"deadline_s,omitempty"`
	// Cap is the most cores that App is to have on a node, 0 for no cap (VerbCap).
	Cap units.Cores `json:"cap_cores,omitempty"`
	// User is who asks: for App's end (VerbKill), for its own profiles.
	User string   `json:"user,omitempty"`
	Body *Profile `json:"body,omitempty"`
	// Owner is whose profile is meant, Shared that it is the one that is everybody's.
	Owner  string `json:"owner,omitempty"`
	Shared bool   `json:"shared,omitempty"`
	// Operates says that who asks operates. No message can say it.
	Operates bool  `json:"-"`
	Step     *Step `json:"step,omitempty"`
	// Division is what Node, or with "" every node, is to divide by from now on (VerbDivide);
	// nil is as it is configured.
	Division *Division `json:"division,omitempty"`
	// Policy is how the queue is to be served from now on (VerbPolicySet); nil is as the planner is configured.
	Policy *QueuePolicy `json:"policy,omitempty"`
	// Backup is the piece that is wanted of a backup, nil for a new one (VerbBackup).
	Backup *BackupPiece `json:"backup,omitempty"`
	// Submission is whose spark-submit has ended with ExitCode (VerbExit); Elapsed is
	// when, on the deadline clock, 0 for now.
	Submission string        `json:"submission,omitempty"`
	ExitCode   int           `json:"exit_code,omitempty"`
	Elapsed    units.Seconds `json:"elapsed_s,omitempty"`
	// Suspended is the part of Elapsed in which the machine was suspended: the driver's
	// clock stood still then.
	Suspended units.Seconds `json:"suspended_s,omitempty"`
	// Issue is the credential to be taken (VerbIssue, VerbTicket), Login whose credentials are to be
	// taken no more (VerbRevoke), Log the piece of a log of Node that is wanted (VerbLogs).
	Issue *Issue      `json:"issue,omitempty"`
	Login string      `json:"login,omitempty"`
	Log   *LogRequest `json:"log,omitempty"`
	// Page is the part that is wanted of an answer that may be long, nil for all of it.
	Page *Page `json:"page,omitempty"`
	// Query is what is wanted of a report or of the cores' history, which token is (VerbToken), or what is submitted
	// (VerbUpload, VerbSubmit).
	Query *Query `json:"query,omitempty"`
}

// Page is a part of an answer that may be larger than one message: of about a megabyte, and of Most entries where that
// is not 0. It begins after the ControlReply.More of the part before, or with "" at the beginning.
type Page struct {
	After string `json:"after,omitempty"`
	Most  int    `json:"most,omitempty"`
}

// Step is a step response of a running stage (`pacer identify`): each of its
// executors is held at Low and then at High times what it asked for, for Each.
type Step struct {
	// Stage is the stage's id, -1 for the only one that runs.
	Stage int           `json:"stage"`
	Low   float64       `json:"low"`
	High  float64       `json:"high"`
	Each  units.Seconds `json:"each_s"`
	// At is when it began, on the deadline clock; the planner says it.
	At units.Seconds `json:"at_s,omitempty"`
}

// BackupPiece is a part of the backup that ID names: Data is what there is from Offset on, at
// most MostBackupPiece bytes. A request has no Data.
type BackupPiece struct {
	ID     string `json:"id"`
	Offset int64  `json:"offset"`
	// Size is that of the whole backup.
	Size int64  `json:"size,omitempty"`
	Data []byte `json:"data,omitempty"`
}

// ControlReply is the body of every control reply but plan; the field that the
// request asked for is set.
type ControlReply struct {
	V        int          `json:"v"`
	Error    *Error       `json:"error,omitempty"`
	Apps     []AppSummary `json:"apps,omitempty"`
	App      *AppDetail   `json:"app,omitempty"`
	Why      *Why         `json:"why,omitempty"`
	Profiles []Profile    `json:"profiles,omitempty"`
	// Listed are profiles without their bodies, History the versions of one.
	Listed  []ProfileSummary `json:"listed,omitempty"`
	History *ProfileHistory  `json:"history,omitempty"`
	Knee    *Knee            `json:"knee,omitempty"`
	Nodes   []NodeSummary    `json:"nodes,omitempty"`
	// Policy is how the queue is served; with it Apps are those that wait, in their order.
	Policy *QueueDetail `json:"policy,omitempty"`
	// Step is what was begun, with the stage's id.
	Step *Step `json:"step,omitempty"`
	// Backup is a piece of a backup of the planner's store; of a new one it is empty.
	Backup *BackupPiece `json:"backup,omitempty"`
	// Principals are those with credentials.
	Principals []PrincipalSummary `json:"principals,omitempty"`
	// Log is the piece of a log.
	Log *LogReply `json:"log,omitempty"`
	// Web is a code for a session on the page.
	Web *WebCode `json:"web,omitempty"`
	// Token is one to ask by HTTP with; of VerbProve it says until when the token is good.
	Token *HTTPToken `json:"token,omitempty"`
	// Report adds up runs, Cores is who had the cores.
	Report *Report       `json:"report,omitempty"`
	Cores  *CoresHistory `json:"cores,omitempty"`
	// Estimated is which part of what is left of the work of a running application is estimated, of those of which
	// some is; on no Page.
	Estimated map[AppID]units.Fraction `json:"estimated,omitempty"`
	// More says, of a Page, that there is more, and where it begins.
	More string `json:"more,omitempty"`
	// Piece is what is there of a file (VerbUpload).
	Piece *FilePiece `json:"piece,omitempty"`
	// Message is one line for the user.
	Message string `json:"message,omitempty"`
	// Release is the planner's version.
	Release string `json:"release,omitempty"`
}

// Verb names a control request.
type Verb string

// The verbs of control requests. Each takes an api.ControlRequest and answers
// with an api.ControlReply.
const (
	VerbApps       Verb = "apps"
	VerbApp        Verb = "app"
	VerbWhy        Verb = "why"
	VerbRelease    Verb = "release"
	VerbDeadline   Verb = "deadline"
	VerbCap        Verb = "cap"
	VerbKill       Verb = "kill"
	VerbStep       Verb = "step"
	VerbProfiles   Verb = "profiles"
	VerbProfile    Verb = "profile"
	VerbProfilePut Verb = "profile-put"
	VerbProfileRm  Verb = "profile-rm"
	// VerbVersions asks for the versions of a profile, and with a Query for what has changed between two of them.
	VerbVersions   Verb = "profile-versions"
	VerbKnee       Verb = "profile-knee"
	VerbPin        Verb = "profile-pin"
	VerbUnpin      Verb = "profile-unpin"
	VerbNodes      Verb = "nodes"
	VerbDrain      Verb = "node-drain"
	VerbUndrain    Verb = "node-undrain"
	VerbDivide     Verb = "node-divide"
	VerbEmpty      Verb = "node-consolidate"
	VerbSpare      Verb = "node-spare" // The answer of VerbEmpty, without doing it.
	VerbPolicy     Verb = "policy"
	VerbPolicySet  Verb = "policy-set"
	VerbReport     Verb = "report"
	VerbCores      Verb = "cores"
	VerbExit       Verb = "exit"
	VerbBackup     Verb = "backup"
	VerbPing       Verb = "ping"
	VerbLogs       Verb = "logs"
	VerbIssue      Verb = "auth-issue"
	VerbPrincipals Verb = "auth-list"
	VerbRevoke     Verb = "auth-revoke"
	VerbWeb        Verb = "web"
	VerbTicket     Verb = "ticket"
	VerbToken      Verb = "auth-token"
	// VerbProve asks for a node or a planner that stands by whether a token may look at metrics.
	VerbProve  Verb = "auth-prove"
	VerbUpload Verb = "upload"
	VerbSubmit Verb = "submit"
)

// Verbs are all of them.
func Verbs() []Verb {
	return []Verb{VerbApps, VerbApp, VerbWhy, VerbRelease, VerbDeadline, VerbCap, VerbKill, VerbStep, VerbProfiles,
		VerbProfile, VerbProfilePut,
		VerbProfileRm, VerbVersions, VerbKnee, VerbPin, VerbUnpin,
		VerbNodes, VerbDrain, VerbUndrain, VerbDivide, VerbEmpty, VerbSpare, VerbPolicy,
		VerbPolicySet, VerbReport,
		VerbCores, VerbExit, VerbBackup, VerbPing,
		VerbLogs, VerbIssue, VerbPrincipals, VerbRevoke, VerbWeb, VerbTicket, VerbToken, VerbProve,
		VerbUpload, VerbSubmit}
}
