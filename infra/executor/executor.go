package executor

import (
	"context"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/units"
)

// Spec says how one executor is started.
type Spec struct {
	App api.AppID
	ID  api.ExecutorID
	CommandLine
	// Group is the executor's group, made before the start by the caller, who
	// owns its quota. A runtime puts the process into it, kills what is left in
	// it and, in Remove, removes it.
	Group *cgroup.Group
	// User is whom the process runs as.
	User Credential
	// OOM is how far the kernel prefers its processes where the machine's memory ends (oom_score_adj), 0 for as it is.
	OOM int
	// Attach is what an executor that another manager has started has to show; nil for one that is started.
	Attach *api.Attach
}

// CommandLine is a program with its environment, as Command makes it.
type CommandLine struct {
	// Args is the program's absolute path and its arguments.
	Args []string
	// Env is the whole environment, as KEY=value.
	Env []string
	// Reads are files and directories that the program's user has to be able to
	// read: checked before the start, for an error that names them.
	Reads []string
	// Image is the image whose programs these are, "" this machine's, which only containers
	// know. Memory is the most memory that they may take, 0 no limit: a container's at its
	// start; that of a process is its group's, which the caller limits (Group.RaiseMemory).
	Image  string
	Memory units.Bytes
	// Shows are directories and files of the node's own list that the program sees, though
	// its user may not pass through what is above them.
	Shows []string
	// Waited says that a small parent waits for the program, so that how it has ended is known whoever asks (Paths.Exit).
	Waited bool
	Bounds
}

// Handle identifies a started executor for ever: in another process, after a
// reboot and after its process id was given to another process.
type Handle struct {
	App api.AppID      `json:"app"`
	ID  api.ExecutorID `json:"id"`
	// PID is the executor's process id, also that of its session.
	PID int `json:"pid"`
	// Started is when the process started in clock ticks since the boot named by
	// Boot: with PID it is unique.
	Started uint64 `json:"started"`
	Boot    string `json:"boot"`
}

// Status is what an executor is doing.
type Status struct {
	// State is api.ExecutorRunning or api.ExecutorExited: a runtime does not
	// know when a JVM is ready, its progress page does.
	State api.ExecutorState
	// Exit says how it ended, ExitCode is its exit code: 128 + n after signal n,
	// api.Unknown when nobody knows, because it ended while no node controller
	// was there to be told.
	Exit     string
	ExitCode int
}

// Runtime drives executors. Implementations pass the suite in package
// conformance and are safe for concurrent use. An executor outlives its runtime.
type Runtime interface {
	// Start starts an executor and returns when its program runs. When it does
	// not, nothing is left behind but the log and the error says why.
	Start(ctx context.Context, s Spec) (Handle, error)
	// Inspect tells what became of the executor, also for handles of an earlier
	// runtime. It is cheap enough for each tick.
	Inspect(h Handle) (Status, error)
	// Stop asks the executor to end, waits for Grace, then kills all that is in
	// its group. It returns when nothing runs any more; stopping what has ended
	// is no error. It takes up to Grace: call it off the tick.
	Stop(ctx context.Context, h Handle) error
	// Recover returns the executors that were started and not removed, by
	// whatever runtime, ended ones included, in order of application and id.
	Recover() ([]Handle, error)
	// Remove forgets an executor that has ended, with its group and its working
	// directory; its logs stay. It is an error (api.KindConflict) while the
	// executor runs. Afterwards h is for Inspect only.
	Remove(h Handle) error
}

// Grace is how long an executor may take to end by itself.
const Grace = 3 * time.Second
