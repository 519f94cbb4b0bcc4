package ledger

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// Mode is how an application runs. It moves from Paced to another one, and never back.
type Mode string

// The modes of an application.
const (
	Paced     Mode = "paced"     // each stage has its deadline, gated (App.Gated)
	Recording Mode = "recording" // ungated, no profile or no deadline
	Released  Mode = "released"  // ungated, somebody let it go
	Unpaced   Mode = "unpaced"   // ungated, cannot be paced (streaming)
	Off       Mode = "off"       // ungated, not recorded either: its user's wish
)

// App is a running application, or one that has ended and waits for its final figures.
// It is one tenant with one promise.
type App struct {
	ID      api.AppID
	Name    string
	Tenant  Tenant
	Promise Promise
	Outcome Outcome

	// Notice is the line for the user that its Directive carries, Notices are all.
	Notice    string
	Notices   []string
	Directive api.Directive // In force.
	Marks     Marks
	// Profile is its own copy of the profile that it is matched to, nil without one.
	Profile *Profile

	// Folded has the stage attempts that were folded while it ran, which Stages lacks; nil for none. It is not changed.
	Folded *profiles.Recorder
	Stages map[api.StageKey]*Stage
	Order  []*Stage // In order of the ready event.
	opened []*Stage // Stages that are not done, in order of id and attempt.

	Clocks Clocks
	// held is what facets keep of it.
	held facets
	// told says that a reply has carried the notice in force.
	told     bool
	versions versions
	// kept is the launch as it is saved, nil when that is to be made.
	kept   *api.Launch
	copies copies
}

// Tenant is who runs on the nodes: the driver, its executors and their memory.
type Tenant struct {
	Submission string     `json:"submission"`
	Owner      Owner      `json:"owner,omitzero"`
	Class      api.Class  `json:"class,omitempty"`
	Launch     api.Launch `json:"launch"`
	// Watched says that a pacer submit will report the driver's exit.
	Watched   bool `json:"watched,omitempty"`
	UTCOffset int  `json:"utc_offset_s,omitempty"`
	// Nodes are on how many it starts at least and has executors at most, by its user's wish.
	Nodes api.NodeRange `json:"nodes,omitzero"`

	// Began is when it got its first executors, on the deadline clock; 0 while it is queued.
	Began units.Seconds `json:"began_s,omitempty"`
	// Crowded says that it would have had more executors where others' take the memory.
	Crowded bool `json:"crowded,omitempty"`

	// Cores are offered by the nodes it has executors on, while it is queued by those that
	// it could have some on; Slots and Pool are what it was told, and what has come since.
	Cores units.Cores `json:"cores"`
	Slots int         `json:"slots"`
	Pool  int         `json:"pool"`
	// PerNode is how many of its stages were to run side by side on a node when it registered,
	// if these have executors of their own.
	PerNode   int         `json:"per_node,omitempty"`
	Executors []*Executor `json:"executors"` // In order of id, gone ones included.
	NextID    int         `json:"next_id"`
	// Pending are the nodes whose executors are to be replaced and whose memory is kept for
	// that; "" where nothing is kept.
	Pending []string `json:"pending,omitempty"`
	// Replaced is when executors were replaced since a task ended last.
	Replaced []units.Instant `json:"replaced,omitempty"`
	GaveUp   bool            `json:"gave_up,omitempty"`
	// Cap is the most cores that it gets on a node, 0 for no cap.
	Cap units.Cores `json:"cap_cores,omitempty"`
	// Resized says that nodes came or were drained while it ran, or that it was capped: its
	// durations are not those of Cores.
	Resized bool `json:"resized,omitempty"`
	// Beside is the CPU time that other applications used on its nodes while its stages
	// could run.
	Beside units.Work `json:"beside_core_seconds,omitempty"`
	// BesideStart is the same until its first task was launched.
	BesideStart units.Work `json:"beside_start_core_seconds,omitempty"`
	// Lost is what it asked for and was not granted, by who had it; App is its own id.
	Lost []api.Loss `json:"lost,omitempty"`
	// Short is when it had less cores than it asked for, the first one first.
	Short []api.AppShortage `json:"short,omitempty"`
}

// Owner is whose application it is.
type Owner struct {
	// User is the name of the user that has registered it.
	User string `json:"user,omitempty"`
	// Key is the public key of the secret by which its driver connects as the application, "" for
	// one that stays its user. An earlier release has kept a hash.
	Key string `json:"key,omitempty"`
	// Context is which SparkContext of its submission's driver it is, from 0; Before is how much of
	// the submission's time had passed when its deadline clock started.
	Context int           `json:"context,omitempty"`
	Before  units.Seconds `json:"before_s,omitempty"`
	// Shares says that its deadline is its submission's, or a part of that; Moved is by how much
	// the submission's was moved, by its contexts so far.
	Shares bool          `json:"shares_deadline,omitempty"`
	Moved  units.Seconds `json:"deadline_moved_s,omitempty"`
	// Seen is the greatest number of an executor that its driver had when it came: no other one gets one up to it.
	Seen int `json:"seen,omitempty"`
	// UI is where its driver shows Spark's UI, of http or https; "" where it has none.
	UI string `json:"ui_web_url,omitempty"`
}

// Claim is what each executor of t takes of its node's memory.
func (t *Tenant) Claim() units.Bytes { return t.Launch.Claim() }

// MostOf is how many cores x can use, one of t's executors, where its node offers so many.
func (t *Tenant) MostOf(x *Executor, offered units.Cores) units.Cores {
	if x.Attached == nil {
		return offered
	}
	most := units.Cores(max(1, x.Attached.Cores))
	if x.Attached.Ceiling > 0 {
		most = min(most, x.Attached.Ceiling)
	}
	if x.Node != "" {
		most = min(most, offered)
	}
	return most
}

// Next is the id of the executor that t gets next.
func (t *Tenant) Next() api.ExecutorID { return api.ExecutorID(strconv.Itoa(t.NextID)) }

// count has ids go on after number: of executors with those up to it nothing is known.
func (t *Tenant) count(number int) {
	for t.NextID <= number {
		unknown := &Executor{ID: t.Next(), State: api.ExecutorExited, Gone: true, Exit: unknownExecutor}
		t.Executors = append(t.Executors, unknown)
		t.NextID++
	}
}

// Beyond reports whether nobody can believe that a has an executor of that number: too many up to it would be there of
// which nobody has told, beside those that it had when it came.
func (a *App) Beyond(number int) bool {
	t := &a.Tenant
	if number-t.NextID < 1 {
		return false
	}
	more := number - t.NextID // That are neither told of nor this one.
	for _, x := range t.Executors[min(t.Owner.Seen, len(t.Executors)):] {
		if x.Unknown() && !x.Named {
			more++
		} else {
			more--
		}
	}
	return more > api.MostUntold
}

// Promise is what an application was promised and how that goes.
type Promise struct {
	Profile  string        `json:"profile"`
	Start    units.Instant `json:"start"` // Of the deadline clock.
	Deadline units.Seconds `json:"deadline_s,omitempty"`
	// Shared is what was left of its submission's deadline when that was divided, Deadline being
	// its part; Followers is over how many contexts after it. 0 where it has the whole.
	Shared    units.Seconds `json:"shared_deadline_s,omitempty"`
	Followers int           `json:"followers,omitempty"`
	// ByMoment says that the deadline was given as a moment.
	ByMoment bool `json:"by_moment,omitempty"`
	Judgement
	Mode Mode `json:"mode"`
	// Required says that its user wants it refused when its deadline cannot be kept.
	Required bool `json:"required,omitempty"`
	// Reclaimed says that its executors were another planner's, or this one's before it lost
	// its state.
	Reclaimed bool `json:"reclaimed,omitempty"`
	// Queries are the numbers of the SQL queries that have ended and left out stages of its profile.
	Queries []int64 `json:"ended_queries,omitempty"`
	// Targeted says that some stage has had a target: durations are not those of
	// all cores.
	Targeted bool `json:"targeted,omitempty"`
	// Held says that an experiment, which is not saved, holds executors.
	Held      bool          `json:"held,omitempty"`
	Forgotten int           `json:"forgotten,omitempty"` // Stage attempts dropped from the record.
	Launched  bool          `json:"launched,omitempty"`  // First is known.
	First     units.Seconds `json:"first_launch_s,omitempty"`
}

// Judgement is what is thought of an application's deadline.
type Judgement struct {
	Verdict  api.Verdict   `json:"verdict"`
	Reason   string        `json:"reason"`
	Earliest units.Seconds `json:"earliest_s,omitempty"`
	Gate
}

// Gate is what takes the targets of a paced application away, and its gate; another
// deadline may clear it. Unpaced says that its deadline leaves no room for stages that take
// turns, Unheard that its driver has been silent for long while its executors run; Late that
// its deadline has passed, Overdue that this was long ago.
type Gate struct {
	Infeasible bool `json:"infeasible,omitempty"`
	Late       bool `json:"late,omitempty"`
	Overdue    bool `json:"lost,omitempty"`
	Unpaced    bool `json:"open,omitempty"`
	Unheard    bool `json:"unheard,omitempty"`
}

// Outcome is how an application ended.
type Outcome struct {
	// State at the end follows from the rest (Settled).
	State api.AppState `json:"state"`
	// Ended is the duration once State is final, EndedBy where that is from; Stopped is
	// when the driver said that its context stops, if it did (DriverEnd).
	Ended     units.Seconds `json:"ended_s,omitempty"`
	EndedBy   api.EndedBy   `json:"ended_by,omitempty"`
	Stopped   units.Seconds `json:"stopped_s,omitempty"`
	DriverEnd bool          `json:"driver_end,omitempty"`
	// Suspended is for how long its driver's machine was, which Ended includes and
	// Stopped does not.
	Suspended units.Seconds `json:"suspended_s,omitempty"`
	Reason    string        `json:"reason,omitempty"`
	// Next names the profile of the context that its driver has made since (EndedByNext).
	Next string `json:"next,omitempty"`
	// Killed is who asked for its end, "" for nobody.
	Killed string `json:"killed_by,omitempty"`
	// Revoked is when the credentials of its user were revoked, 0 while they are taken.
	Revoked units.Instant `json:"revoked_ns,omitempty"`
	// Clean says that the driver has proved that its exit code is 0; ExitCode is that of
	// spark-submit, with EndedByExit.
	Clean    bool `json:"clean,omitempty"`
	ExitCode int  `json:"exit_code,omitempty"`
}

// Settled is how an application stands at its end that stood otherwise before, by what is
// known of its driver's exit: where that is from, whether the driver has proved that the code
// is 0, and the code. A failure stays one.
func Settled(was api.AppState, by api.EndedBy, clean bool, code int) api.AppState {
	switch {
	case was == api.AppFailed || was == api.AppRefused:
		return was
	case by == api.EndedByExit && code != 0:
		return api.AppFailed
	case by == api.EndedByExit || clean:
		return api.AppFinished
	}
	return api.AppUnknown
}

// KillReason is the line about an application that was killed.
func (o *Outcome) KillReason() string { return "killed by " + o.Killed }

// Exiting reports whether the driver has said that it stops and its exit is not known. Where no
// pacer submit watches for that, the driver's last word stands for it. A driver that has gone on to
// another context exits for that one.
func (o *Outcome) Exiting(watched bool) bool {
	return o.DriverEnd && o.State != api.AppRunning && o.EndedBy != api.EndedByExit && o.EndedBy != api.EndedByNext &&
		(o.EndedBy != api.EndedByLastWord || watched)
}

// Marks are the last event of a driver that was applied, and what it left.
type Marks struct {
	// AckedSeq is the newest event of the driver, Revs the newest target's.
	AckedSeq uint64        `json:"acked_seq"`
	Revs     uint64        `json:"revs"`
	LastTask units.Seconds `json:"last_finish_s,omitempty"`
	// Least is the Aim.Least of the stage that was last given targets, 0 where none was.
	Least units.Cores `json:"least_cores,omitempty"`
	// Behind says that it comes after the others of its band: not all of them can be in time.
	Behind bool `json:"behind,omitempty"`
}

// Clocks are what passes with time and is not kept.
type Clocks struct {
	// Silent is for how long the driver has not been heard, EndWait how long the
	// end has been waited with, or the driver of one that was killed; both counted in
	// ticks, so that a planner that was stopped for a while accuses nobody.
	Silent, EndWait time.Duration
	// Read says that its driver has shown its deadline clock since this planner started.
	Read bool
	// Fewer is the version of PartSeats by which it kept fewer executors last, 0 for not since the planner's start.
	Fewer uint64
	// Changes counts the facts that have changed it: what was found of it is so until there is another one.
	Changes uint64
	// unsaved is for how long figures of nodes may not have been saved.
	unsaved time.Duration
}

// fewer says that an application keeps fewer executors than before.
func (c *Clocks) fewer(changed *news) {
	changed.touch(PartSeats)
	c.Fewer = changed.version(PartSeats)
}

// copies are what snapshots share of an application until it changes: nil where that has to be
// copied. Whatever changes an executor or the profile's matches drops them (change).
type copies struct {
	executors []*Executor
	profile   *Profile
}

// Version is that of the ledger when a changed last: it grows from change to change of whatever application, and is 0
// of one that has not changed since the planner's start.
func (a *App) Version() uint64 { return a.versions.batch }

// Running reports whether a has started and not ended.
func (a *App) Running() bool { return a.Outcome.State == api.AppRunning }

// Queued reports whether a waits for memory.
func (a *App) Queued() bool { return a.Outcome.State == api.AppQueued }

// Over reports whether a has ended.
func (a *App) Over() bool { return !a.Running() && !a.Queued() }

// Paced reports whether stages that become ready get targets.
func (a *App) Paced() bool { return a.Running() && a.Gated() }

// Gated reports whether running stages own their executors.
func (a *App) Gated() bool {
	return a.Promise.Mode == Paced && a.Promise.Gate == Gate{} && (!a.Profile.Suspected() || a.Observed())
}

// Band says whether a comes first where cores are short: with a deadline that can be kept,
// as far as is known, or that has passed only now, or with a reservation.
func (a *App) Band() api.Band {
	p := &a.Promise
	if a.held.cores > 0 || p.Mode == Paced && p.Deadline > 0 && !p.Gate.Infeasible && !p.Gate.Overdue {
		return api.BandPromised
	}
	return api.BandShared
}

// Reserved are the cores that facets reserve for a (Facet.Cores).
func (a *App) Reserved() units.Cores { return a.held.cores }

// Observed reports whether a is only watched: it is planned as if it were paced,
// and runs with all cores.
func (a *App) Observed() bool {
	return a.Tenant.Launch.Mode == api.ModeObserve || a.held.observed != ""
}

// Unmanaged reports whether quotas of its executors are nobody's to write, but for the bounds of its user.
func (a *App) Unmanaged() bool { return a.Tenant.Launch.Mode.Unmanaged() || a.Observed() }

// Pacing is the word for how a runs.
func (a *App) Pacing() string {
	switch {
	case a.Promise.Mode == Paced && !a.Gated():
		return string(Released)
	case a.Promise.Mode == Paced && a.Observed():
		return "observed"
	case a.Promise.Mode == Paced && a.held.pacing != "":
		return a.held.pacing
	}
	return string(a.Promise.Mode)
}

// MayBorrow reports whether executors that a gets, whose promise p is, may be lent their memory, as those of a batch
// application without a deadline that is managed. All other applications are promised theirs, and a is while a node is
// to start its driver: executors that no node has started yet cannot give memory back.
func (p *Promise) MayBorrow(a *App) bool {
	t := &a.Tenant
	return t.Class == api.ClassBatch && p.Deadline == 0 && t.Launch.Attach == nil && !t.Launch.Mode.Unmanaged() &&
		!a.held.awaits && (t.Nodes.Driver == 0 || len(t.Executors) > 0)
}

// At returns now on a's deadline clock.
func (a *App) At(now units.Instant) units.Seconds {
	return units.FromDuration(now.Sub(a.Promise.Start))
}

// Instant returns the moment s of a's deadline clock.
func (a *App) Instant(s units.Seconds) units.Instant { return a.Promise.Start.Add(s.Duration()) }

// Elapsed is a's duration so far, or in all.
func (a *App) Elapsed(now units.Instant) units.Seconds {
	if a.Over() {
		return a.Outcome.Ended
	}
	return max(0, a.At(now))
}

// Executor is that of the id, nil for none. Ids count from 1 and stay when executors
// are gone.
func (a *App) Executor(id api.ExecutorID) *Executor {
	n := Number(id)
	if n == 0 || n > len(a.Tenant.Executors) || a.Tenant.Executors[n-1].ID != id {
		return nil
	}
	return a.Tenant.Executors[n-1]
}

// Alive returns the executors that are not gone, in order of id.
func (a *App) Alive() []*Executor {
	var alive []*Executor
	for _, x := range a.Tenant.Executors {
		if !x.Gone {
			alive = append(alive, x)
		}
	}
	return alive
}

// Seats names the nodes of a's executors that are not gone, each once, in order of executor.
func (a *App) Seats() (nodes []string) {
	for _, x := range a.Tenant.Executors {
		if !x.Gone && x.Node != "" && !slices.Contains(nodes, x.Node) {
			nodes = append(nodes, x.Node)
		}
	}
	return nodes
}

// Opened returns the stages that are not done, in order of id and attempt.
// Stages that come and go leave what it has returned as it is.
func (a *App) Opened() []*Stage { return a.opened }

// begin takes a stage that has become ready among the open ones.
func (a *App) begin(s *Stage) {
	i, _ := slices.BinarySearchFunc(a.opened, s, CompareStages)
	a.opened = slices.Insert(slices.Clone(a.opened), i, s)
}

// finish takes one that is done out.
func (a *App) finish(s *Stage) {
	a.opened = slices.DeleteFunc(slices.Clone(a.opened), func(o *Stage) bool { return o == s })
}

// Bound reports whether a running stage has the executor.
func (a *App) Bound(id api.ExecutorID) bool {
	return slices.ContainsFunc(a.opened, func(s *Stage) bool {
		return slices.ContainsFunc(s.Ready.Bindings, func(b api.Binding) bool { return b.Executor == id })
	})
}

// Waits reports whether s has no executor that lives.
func (a *App) Waits(s *Stage) bool {
	return !slices.ContainsFunc(s.Ready.Bindings, func(b api.Binding) bool {
		x := a.Executor(b.Executor)
		return x != nil && !x.Gone
	})
}

// LastExit is how the executor ended that was lost last.
func (a *App) LastExit() string {
	exit := "unknown causes"
	for _, x := range a.Tenant.Executors {
		if x.Gone && x.Exit != "" {
			exit, _, _ = strings.Cut(x.Exit, "\n")
		}
	}
	return exit
}

// Dead says why a is to end: its user wants it to, or it has no executor and will get
// none; "" while it has hope.
func (a *App) Dead() string {
	if a.Running() && a.Outcome.Killed != "" {
		return a.Outcome.KillReason()
	}
	if !a.Tenant.GaveUp || !a.Running() || len(a.Alive()) > 0 || a.Elsewhere() {
		return ""
	}
	return "no executor lives and no more are started: " + a.LastExit()
}

// Held reports whether a step response holds executors of a.
func (a *App) Held() bool { return len(a.held.holds) > 0 }

// maxNotices bounds what is kept of the lines said to a user.
const maxNotices = 50

// CompareStages orders stage attempts by id and attempt.
func CompareStages(a, b *Stage) int {
	return cmp.Or(cmp.Compare(a.Ready.Stage, b.Ready.Stage), cmp.Compare(a.Ready.Attempt, b.Ready.Attempt))
}
