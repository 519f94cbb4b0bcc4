package planner

import (
	"cmp"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// mode is how an application runs. It moves from paced to another one, and
// never back.
type mode string

const (
	modePaced     mode = "paced"     // each stage has its deadline, gated (app.gated)
	modeRecording mode = "recording" // ungated, no profile or no deadline
	modeReleased  mode = "released"  // ungated, somebody let it go or it left its profile
	modeUnpaced   mode = "unpaced"   // ungated, cannot be paced (streaming)
	modeOff       mode = "off"       // ungated, not recorded either: its user's wish
)

// appRecord is what is stored of a running application, under app/ID. Its stages,
// its profile and what every event changes (markRecord) have keys of their own, so
// that an event rewrites little.
type appRecord struct {
	V          int           `json:"v"`
	ID         api.AppID     `json:"id"`
	Submission string        `json:"submission"`
	Name       string        `json:"name"`
	Profile    string        `json:"profile"`
	User       string        `json:"user,omitempty"`
	Launch     api.Launch    `json:"launch"`
	Start      units.Instant `json:"start"` // Of the deadline clock.
	Deadline   units.Seconds `json:"deadline_s,omitempty"`
	Verdict    api.Verdict   `json:"verdict"`
	Reason     string        `json:"reason"`
	Earliest   units.Seconds `json:"earliest_s,omitempty"`

	Mode mode `json:"mode"`
	// Infeasible, Late and Open take the targets of a paced application away, and its
	// gate; another deadline may clear them. Open says that its deadline leaves no room
	// for stages that take turns.
	Infeasible bool `json:"infeasible,omitempty"`
	Late       bool `json:"late,omitempty"`
	Open       bool `json:"open,omitempty"`
	// Mismatch says where the run left its profile, "" if it did not.
	Mismatch string `json:"mismatch,omitempty"`
	// Targeted says that some stage has had a target: durations are not those of
	// all cores.
	Targeted bool `json:"targeted,omitempty"`

	// Resized says that nodes came or were drained while it ran: its durations
	// are not those of Cores.
	Resized bool `json:"resized,omitempty"`

	// Beside is the CPU time that other applications used on its nodes while its stages
	// could run.
	Beside units.Work `json:"beside_core_seconds,omitempty"`

	// Held says that an experiment, which is not saved, holds executors.
	Held bool `json:"held,omitempty"`

	// Cores are offered by the nodes it has executors on; Slots and Pool are what
	// it was told, and what has come since.
	Cores units.Cores `json:"cores"`
	Slots int         `json:"slots"`
	Pool  int         `json:"pool"`
	// PerNode is how many executors it was to have on a node when it registered, if
	// its stages have executors of their own; 0 in older records: by its width.
	PerNode   int             `json:"per_node,omitempty"`
	Executors []*executor     `json:"executors"` // In order of id, gone ones included.
	NextID    int             `json:"next_id"`
	Pending   []string        `json:"pending,omitempty"` // Nodes whose executors are to be replaced.
	Replaced  []units.Instant `json:"replaced,omitempty"`
	GaveUp    bool            `json:"gave_up,omitempty"`
	Connected bool            `json:"connected,omitempty"` // Some executor has been up.
	Notice    string          `json:"notice,omitempty"`
	Notices   []string        `json:"notices,omitempty"`
	Directive api.Directive   `json:"directive"`
	Forgotten int             `json:"forgotten,omitempty"` // Stage attempts dropped from the record.
	Launched  bool            `json:"launched,omitempty"`  // FirstLaunch is known.
	First     units.Seconds   `json:"first_launch_s,omitempty"`
	State     api.AppState    `json:"state"`
	// Ended is the duration once State is final, EndedBy where that is from; Stopped is
	// when the driver said that its context stops, if it did (DriverEnd).
	Ended   units.Seconds `json:"ended_s,omitempty"`
	EndedBy api.EndedBy   `json:"ended_by,omitempty"`
	Stopped units.Seconds `json:"stopped_s,omitempty"`
	// Watched says that a pacer submit will report the driver's exit, Clean that the
	// driver has proved that its exit code is 0.
	Watched   bool `json:"watched,omitempty"`
	Clean     bool `json:"clean,omitempty"`
	UTCOffset int  `json:"utc_offset_s,omitempty"`
	// Suspended is for how long its driver's machine was, which Ended includes and
	// Stopped does not.
	Suspended units.Seconds `json:"suspended_s,omitempty"`
	EndReason string        `json:"end_reason,omitempty"`
	DriverEnd bool          `json:"driver_end,omitempty"` // The driver itself said so.
	ExitCode  int           `json:"exit_code,omitempty"`  // Of spark-submit, with EndedByExit.
}

// markRecord is what a stage's event changes of its application, under
// app/ID/marks: the record of the application itself has all its executors.
type markRecord struct {
	V int `json:"v"`
	// AckedSeq is the newest event of the driver, Revs the newest target's.
	AckedSeq uint64        `json:"acked_seq"`
	Revs     uint64        `json:"revs"`
	LastTask units.Seconds `json:"last_finish_s,omitempty"`
	// PlanEpochs are its executors'.
	PlanEpochs []uint64 `json:"plan_epochs,omitempty"`
}

// executor is one executor of an application.
type executor struct {
	ID         api.ExecutorID    `json:"id"`
	Node       string            `json:"node"`
	State      api.ExecutorState `json:"state"`
	Registered bool              `json:"registered,omitempty"`
	Gone       bool              `json:"gone,omitempty"`
	Exit       string            `json:"exit,omitempty"`
	// Leaving says that it was asked to go, because its node drains.
	Leaving bool `json:"leaving,omitempty"`
	// Since is when it was asked for, on the deadline clock. CPU is what it has
	// used, Base the part of that from before the first task (once Based).
	Since units.Seconds `json:"since_s"`
	CPU   units.Work    `json:"core_seconds,omitempty"`
	Base  units.Work    `json:"base_core_seconds,omitempty"`
	Based bool          `json:"based,omitempty"`

	// planEpoch is that of its node's Plan when targets were last changed there for
	// its application: the node's own record is not saved for that.
	planEpoch uint64

	points []usagePoint // Oldest first.
	// leaving is for how long it has been idle since it was asked to go.
	leaving time.Duration
}

// app is a running application, or one that has ended and waits for its final
// figures.
type app struct {
	appRecord
	marks   markRecord
	profile *annotated // nil without one.
	stages  map[api.StageKey]*stage
	order   []*stage // In order of the ready event.
	opened  []*stage // Those that are not done, in order of id and attempt.

	// silent is for how long the driver has not been heard, endWait how long the
	// end has been waited with; both counted in ticks, so that a planner that was
	// stopped for a while accuses nobody.
	silent, endWait time.Duration
	// looked is when its predicted end was last looked at (loosen).
	looked units.Instant
	// grown is the engine's growth that its executors are of.
	grown uint64
	// unsaved is for how long figures of nodes may not have been saved.
	unsaved time.Duration
	// noticeSent says that a reply has carried the notice in force.
	noticeSent bool
	dirty      bool // The record has to be saved.
	aged       bool // It has to be with the next flush, for what nodes tell again.
	marked     bool // The marks have to be.
	touched    bool // Plans and Directive have to be compared.
	concerned  bool // It is looked at when the step ends.
	flush      bool // Figures of nodes have to be saved.
	saved      bool // It has been saved at all, its profile included.
}

func newApp(r appRecord) *app {
	return &app{appRecord: r, stages: make(map[api.StageKey]*stage)}
}

// running reports whether a has not ended.
func (a *app) running() bool { return a.State == api.AppRunning }

// paced reports whether stages that become ready get targets.
func (a *app) paced() bool { return a.running() && a.gated() }

// gated reports whether running stages own their executors.
func (a *app) gated() bool { return a.Mode == modePaced && !a.Infeasible && !a.Late && !a.Open }

// pacing is the word for `pacer apps`.
func (a *app) pacing() string {
	switch {
	case a.Mode == modePaced && !a.gated():
		return string(modeReleased)
	case a.Mode == modePaced && a.observed():
		return "observed"
	}
	return string(a.Mode)
}

// observed reports whether a is only watched: it is planned as if it were paced,
// and runs with all cores.
func (a *app) observed() bool { return a.Launch.Mode == api.ModeObserve }

// at returns now on a's deadline clock.
func (a *app) at(now units.Instant) units.Seconds { return units.FromDuration(now.Sub(a.Start)) }

// instant returns the moment s of a's deadline clock.
func (a *app) instant(s units.Seconds) units.Instant { return a.Start.Add(s.Duration()) }

// elapsed is a's duration so far, or in all.
func (a *app) elapsed(now units.Instant) units.Seconds {
	if !a.running() {
		return a.Ended
	}
	return max(0, a.at(now))
}

// executor is that of the id, nil for none. Ids count from 1 and stay when executors
// are gone (addExecutor).
func (a *app) executor(id api.ExecutorID) *executor {
	n := number(id)
	if n == 0 || n > len(a.Executors) || a.Executors[n-1].ID != id {
		return nil
	}
	return a.Executors[n-1]
}

// alive returns the executors that are not gone, in order of id.
func (a *app) alive() []*executor {
	var alive []*executor
	for _, x := range a.Executors {
		if !x.Gone {
			alive = append(alive, x)
		}
	}
	return alive
}

// open returns the stages that are not done, in order of id and attempt.
// Stages that come and go leave what it has returned as it is.
func (a *app) open() []*stage { return a.opened }

// begin takes a stage that has become ready among the open ones.
func (a *app) begin(s *stage) {
	i, _ := slices.BinarySearchFunc(a.opened, s, compareStages)
	a.opened = slices.Insert(slices.Clone(a.opened), i, s)
}

// finish takes one that is done out.
func (a *app) finish(s *stage) {
	a.opened = slices.DeleteFunc(slices.Clone(a.opened), func(o *stage) bool { return o == s })
}

// say puts a line for the user into the Directive and the application's record.
func (a *app) say(notice string) {
	a.Notice, a.noticeSent = notice, false
	if len(a.Notices) < maxNotices {
		a.Notices = append(a.Notices, notice)
	}
}

// maxNotices bounds what is kept of the lines said to a user.
const maxNotices = 50

// compareIDs orders executor ids as numbers: they are decimal without leading
// zeros.
func compareIDs(a, b api.ExecutorID) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

func compareKeys(a, b api.StageKey) int {
	return cmp.Or(cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Attempt, b.Attempt))
}

func compareStages(a, b *stage) int { return compareKeys(a.Ready.StageKey, b.Ready.StageKey) }
