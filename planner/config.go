package planner

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/lending"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/deciders/reservation"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// Config says how a planner engine works. The zero value is not valid: start
// from Default.
//
// [1] is Baresi et al., "Fine-grained Dynamic Resource Allocation for Big-Data
// Applications" (xSpark).
type Config struct {
	// Alpha is the share of the deadline that is planned with (Eq 1 of [1]); 0.97:
	// 1 cannot end early after the last stage. With Aim it holds for stages that
	// others follow, which thus keep a reserve for these.
	Alpha float64
	// Aim is the share of the deadline that the application's end is aimed at; the
	// last stage gets what is left until then. 0.996: real runs ended up to 0.75 s after
	// their aim, the longer ones later (dag.Default). 0 keeps Alpha for all stages,
	// as [1] does.
	Aim float64
	// Margin is taken off the time to Aim besides; 300 ms, what is left of a
	// tick and of the driver's last words that a profile does not show.
	Margin time.Duration
	// Beta weighs the number of stages against their durations in Eq 2 of [1];
	// 0.3, as there.
	Beta float64
	// Quantum is cq of Eq 7 of [1], in cores; 0.05, as there.
	Quantum units.Cores
	// Split names how the time left is divided among stages, in the table of
	// package dag: "paper" is Eq 1-3; "critical-path", the default, lets branches
	// share time and gives a chain time in proportion to its durations, where Beta
	// would give a short last stage more than it can use.
	Split string

	// PaceInfeasible gives targets to an application whose deadline is infeasible,
	// too, as [1] does; else it has all cores.
	PaceInfeasible bool

	// Branches says whether stages that could run side by side do: BranchesTogether,
	// as in [1], with executors for each of them on every node, BranchesInTurn with those
	// of one stage, or BranchesAuto, the default, as few side by side as keep the deadline
	// with room to spare, or all on the executors of one with all cores where none do
	// (together by the split "paper").
	Branches string
	// MaxPool bounds the stages of one application that run side by side on a node; 4. More take turns.
	MaxPool int
	// MaxNodes bounds the nodes that one application has executors on: it gets
	// those that are the least committed. 0, the default, is no bound.
	MaxNodes int
	// Placement names the order in which nodes are taken where MaxNodes bounds them, one
	// of placement.Orders; least-committed.
	Placement string
	// Queue says how applications that wait for memory are served, for which deadlines that nobody has recorded cores
	// are reserved, and what becomes of those that cannot be kept, where no operator says otherwise; rule backfill,
	// order edf, size time, admission open, late share.
	Queue api.QueuePolicy

	// Consolidate says what becomes of nodes that others have room for, one of placement.Consolidates: nothing, a line in
	// the log, or they sleep.
	Consolidate string

	// Lend says by which forecast memory is lent; by off, the default, none is.
	Lend lending.Params

	// NodeLost is how long a node may be silent before it counts as lost; 5 s, five
	// statuses.
	// NodeClash is how long another incarnation of a node's name has to wait
	// while the older one has not been silent; 2 s, two statuses.
	NodeLost  time.Duration
	NodeClash time.Duration
	// DriverSilent is how long a driver may be silent when all its executors have exited
	// by themselves, as they do without a driver, before its application has failed; 8 s. A
	// driver sends a heartbeat at least every 2 s. DriverLost is how long before it has
	// failed when nothing of its executors moves, and has all cores when something does;
	// 60 s. DriverAway is how long before it has failed when its nodes are away, too; 1 h.
	DriverSilent time.Duration
	DriverLost   time.Duration
	DriverAway   time.Duration
	// RevokeGrace is how long a running application goes on whose user's credentials were
	// revoked; 1 min. An application that is queued is turned down at once.
	RevokeGrace time.Duration
	// Exit says how long a driver's exit is waited for.
	Exit Exit
	// FinalWait is how long the nodes' last figures are waited for at the end of
	// an application; 1.5 s.
	FinalWait time.Duration

	// Replacing.Most times the pool is how many executors are replaced Within so long before Pacer gives up; 3 and 10 min.
	Replacing Replacing

	// History is how many ended applications are kept; 200. DetailHistory is how
	// many of them keep all their samples; 20. HistoryBytes is how many bytes all of them take
	// in the store, but for the newest; 64 MiB, and 0 is no bound.
	History       int
	DetailHistory int
	HistoryBytes  units.Bytes
	// Profiles and ProfileBytes are how many profiles are kept, and how many bytes they take in the
	// store; 2000 and 64 MiB. A user has a quarter of that at most; those that were used
	// longest ago go, and those that nobody has used for ProfileAge; 400 days, and 0 is no bound.
	Profiles     int
	ProfileBytes units.Bytes
	ProfileAge   time.Duration
	// Samples bounds the samples kept of a stage by halving their density; 2000.
	Samples int
	// AllSamples bounds the samples of all running applications together in the
	// same way, but for two of each executor and stage; 1,000,000, some 64 MiB.
	AllSamples int
	// Stages bounds the stage attempts kept of a running application; 2000.
	Stages int

	// Identity is the name of a store that has none yet. Plans carry it, so that
	// nodes tell the planner that they follow from another one; planners whose
	// stores are not copies of each other need different ones. "" leaves Plans
	// without a name, and nodes follow whoever has the greatest epoch.
	Identity string

	// Release is the version that the ping verb answers.
	Release string

	// Sharing are the rules of life beside others, nil for sharing.Default's.
	Sharing *sharing.Params
}

// Exit says how long the exit of a driver is waited for whose context has stopped. Silent is how long that may be
// silent before its exit counts as not known, and how long pacer submit's report is waited for after the driver's last
// word; 5 s. Wait is how long the exit of one that speaks is waited for; 10 min: a notebook's driver lives on for days.
type Exit struct{ Silent, Wait time.Duration }

// Replacing bounds how many executors of an application are replaced, in so long.
type Replacing struct {
	Most   int
	Within time.Duration
}

// Default returns what daemons use: [1] with the corrections of docs/decisions.
func Default() Config {
	equations := dag.Default()
	return Config{
		Alpha:     equations.Alpha,
		Aim:       equations.Aim,
		Margin:    equations.Margin.Duration(),
		Beta:      equations.Beta,
		Quantum:   equations.Quantum,
		Split:     dag.SplitCriticalPath,
		Branches:  estimate.BranchesAuto,
		MaxPool:   4,
		Placement: placement.LeastCommitted,
		Queue: api.QueuePolicy{Rule: assign.Backfill, Order: assign.EDF, Size: assign.ByTime,
			Admission: assign.Open, Late: assign.Share},
		Consolidate:   placement.ConsolidateOff,
		Lend:          lending.Params{By: lending.Off, Every: time.Minute},
		NodeLost:      5 * time.Second,
		NodeClash:     2 * time.Second,
		DriverSilent:  8 * time.Second,
		DriverLost:    60 * time.Second,
		DriverAway:    time.Hour,
		RevokeGrace:   time.Minute,
		Exit:          Exit{Silent: 5 * time.Second, Wait: 10 * time.Minute},
		FinalWait:     1500 * time.Millisecond,
		Replacing:     Replacing{Most: 3, Within: 10 * time.Minute},
		History:       200,
		DetailHistory: 20,
		HistoryBytes:  64 * units.MiB,
		Profiles:      2000,
		ProfileBytes:  64 * units.MiB,
		ProfileAge:    400 * 24 * time.Hour,
		Samples:       2000,
		AllSamples:    1_000_000,
		Stages:        2000,
	}
}

// Validate reports every fault of c at once, but those of the fields that users set: their
// ranges are package config's.
func (c Config) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	if err := c.estimates().Equations.Validate(); err != nil {
		faults = append(faults, err)
	}
	check(c.NodeLost > 0 && c.NodeClash > 0, "a node's time limit is not positive")
	check(c.DriverSilent > 0 && c.DriverLost >= c.DriverSilent && c.DriverAway >= c.DriverLost,
		"driver silent: %v, driver lost: %v, driver away: %v, want more than 0 and none less than the one before",
		c.DriverSilent, c.DriverLost, c.DriverAway)
	check(slices.Contains(placement.Consolidates(), c.Consolidate), "consolidate %q, want one of %v", c.Consolidate,
		placement.Consolidates())
	check(slices.Contains(lending.Modes(), c.Lend.By) && c.Lend.Every > 0, "lend %q each %v, want one of %v", c.Lend.By,
		c.Lend.Every, lending.Modes())
	check(c.Exit.Silent >= 0 && c.Exit.Wait >= 0, "a wait for a driver's exit is negative")
	check(c.FinalWait >= 0, "final wait is negative")
	check(c.RevokeGrace >= 0 && c.ProfileAge >= 0, "the time after a user's revocation or of a profile is negative")
	check(c.Replacing.Most >= 0 && c.Replacing.Within > 0, "replacements: %d in %v, want none negative", c.Replacing.Most,
		c.Replacing.Within)
	check(c.DetailHistory >= 0 && c.HistoryBytes >= 0, "history is negative")
	check(c.ProfileBytes > 0, "profile bytes: %d, want more than 0", c.ProfileBytes)
	check(c.Samples >= 2, "samples: %d, want at least 2", c.Samples)
	check(c.AllSamples >= 2, "all samples: %d, want at least 2", c.AllSamples)
	check(c.Stages > 0, "stages: %d, want more than 0", c.Stages)
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("planner configuration: %w", errors.Join(faults...))
}

// estimates, places, verdicts and ledger are c's parts as the packages that decide and
// keep take them.
func (c Config) estimates() estimate.Policy {
	return estimate.Policy{
		Equations: dag.Params{Alpha: c.Alpha, Aim: c.Aim, Margin: units.FromDuration(c.Margin), Beta: c.Beta,
			Quantum: c.Quantum, Split: c.Split},
		Branches: c.Branches, MaxPool: c.MaxPool, ExitSilent: c.Exit.Silent, ExitWait: c.Exit.Wait, Sharing: c.Sharing,
	}
}

func (c Config) places() placement.Policy {
	return placement.Policy{Order: c.Placement, MaxNodes: c.MaxNodes, Lends: c.Lend.By != lending.Off}
}

func (c Config) verdicts() verdict.Policy {
	return verdict.Policy{PaceInfeasible: c.PaceInfeasible}
}

// PolicyIn is how the queue of v is served: by what an operator wants, else as c says.
func (c Config) PolicyIn(v ledger.View) api.QueuePolicy {
	if p := v.QueuePolicy(); p != nil {
		return p.Over(c.Queue)
	}
	return c.Queue
}

func (c Config) line(by api.QueuePolicy) queue.Policy {
	return queue.Policy{Rule: by.Rule, Order: by.Order, Size: by.Size, Late: by.Late, Places: c.places(),
		Verdicts: c.verdicts(), Findings: new(queue.Findings)}
}

// runAge and runBytes bound the runs that are kept for reports.
const (
	runAge   = 400 * 24 * time.Hour
	runBytes = 16 << 20
)

// reserves says who gets a reservation, by the policy in force in v.
func (c Config) reserves(v ledger.View) reservation.Policy {
	return reservation.Policy{Policy: c.estimates(), Admission: c.PolicyIn(v).Admission}
}

func (c Config) ledger() ledger.Config {
	var lend api.Lending
	if c.Lend.By != lending.Off {
		lend = api.Lending{By: c.Lend.By, Every: units.FromDuration(c.Lend.Every)}
	}
	return ledger.Config{Beta: c.Beta, Identity: c.Identity, History: c.History, DetailHistory: c.DetailHistory,
		HistoryBytes: int(c.HistoryBytes), RunAge: runAge, RunBytes: runBytes,
		Profiles: c.Profiles, ProfileBytes: int(c.ProfileBytes), ProfileAge: c.ProfileAge,
		Samples: c.Samples, AllSamples: c.AllSamples, Stages: c.Stages, Lend: lend}
}
