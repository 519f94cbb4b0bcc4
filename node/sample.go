package node

import (
	"cmp"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Key names an executor on a node.
type Key struct {
	App api.AppID      `json:"app"`
	ID  api.ExecutorID `json:"id"`
}

// String prints k as "app/id".
func (k Key) String() string { return string(k.App) + "/" + string(k.ID) }

// Compare orders by application and then by the number of the id: ids are
// decimal without leading zeros, so a shorter one is smaller.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.App, o.App), cmp.Compare(len(k.ID), len(o.ID)), cmp.Compare(k.ID, o.ID))
}

// Sample is what the shell saw at one moment. The engine keeps nothing of it
// after the call, so that the shell may fill the same one again.
type Sample struct {
	// Executors are all executors that the runtime knows, those that it
	// recovered included, in any order. One that the engine has started and that
	// is missing, with no Failure for it, is still being started.
	Executors []ExecutorSample
	// HostUsed is the CPU time used by the whole machine since its boot; 0 when
	// it cannot be read.
	HostUsed units.Work
	// Failures are the actions that have failed since the last Sample.
	Failures []Failure
}

// ExecutorSample is one executor as the shell saw it.
type ExecutorSample struct {
	Key Key
	// Exited says that its process is gone; Exit and ExitCode say how.
	Exited   bool
	Exit     string
	ExitCode int
	PID      int
	// Measured says that CPU, Throttled and Quota were read.
	Measured bool
	// CPU and Throttled are its group's, since the group was made.
	CPU       units.Work
	Throttled time.Duration
	// Quota is the quota in force, units.Unlimited for none.
	Quota units.Cores
	// Writer names who was last seen to write the quota beside this node
	// controller; "" when that is not known.
	Writer string
	// Page is its progress page; Generation 0 means that none could be read.
	Page Page
}

// Page is a progress page as the engine needs it: see package progress for
// where it comes from. Its slices belong to the shell.
type Page struct {
	// At is when the JVM wrote it, on the clock of the engine's now.
	At units.Instant
	// Generation grows with each publication; 0 means no data.
	Generation uint64
	Stages     []PageStage
	// Tasks are running tasks, not necessarily all.
	Tasks []PageTask
}

// PageStage is one stage attempt on a page.
type PageStage struct {
	Key      api.StageKey
	Finished int
	Failed   int
	Running  int
	// Weight, Records and CPU are those of the finished tasks.
	Weight  float64
	Records float64
	CPU     units.Work
	// RunningRecords and RunningCPU are those of the running tasks.
	RunningRecords float64
	RunningCPU     units.Work
	// Changed is when one of its tasks last started or ended.
	Changed units.Instant
	// Heaviest is what the heaviest waiting task of the stage weighs, wherever it
	// will run, as the driver told with the newest task; 0 when that is not known.
	Heaviest float64
	// HeavyCPU is the CPU time of the finished tasks that weigh more than two mean
	// ones, HeavyReading the part of it until each had read its last record.
	HeavyCPU     units.Work `json:",omitzero"`
	HeavyReading units.Work `json:",omitzero"`
}

// PageTask is one running task on a page.
type PageTask struct {
	Stage     api.StageKey
	Partition int
	Weight    float64
	CPU       units.Work
	Records   float64
}

// Failure is an action that the shell could not carry out.
type Failure struct {
	Kind ActionKind
	Key  Key
	// Err says why, for the log and the status.
	Err string
}
