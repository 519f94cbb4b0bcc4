package api

import (
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// Band says who comes first where cores are short.
type Band string

const (
	// BandPromised has a deadline that can be kept: the default, also written as "".
	BandPromised Band = ""
	// BandBehind has one that cannot be kept beside those of others: it comes after these where a node
	// serves by supervisor.Auto. Other nodes, and earlier releases, take it for BandPromised.
	BandBehind Band = "behind"
	// BandShared has none, or one that cannot be kept: first runs, released, late and
	// infeasible applications. They share what the others leave.
	BandShared Band = "shared"
)

// Class is what an application is to its users (spark.pacer.class). It decides how much of
// what is shared goes to it.
type Class string

const (
	// ClassInteractive is for applications that somebody waits for.
	ClassInteractive Class = "interactive"
	// ClassDeadline is the default, also written as "".
	ClassDeadline Class = "deadline"
	// ClassBatch is for applications that may take their time.
	ClassBatch Class = "batch"
)

// Classes are the values of Class.
func Classes() []Class { return []Class{ClassInteractive, ClassDeadline, ClassBatch} }

// Known reports whether c is one of Classes, or "".
func (c Class) Known() bool { return c == "" || slices.Contains(Classes(), c) }

// Weight is the class's part where cores are shared: four times the default for
// ClassInteractive, a quarter of it for ClassBatch.
func (c Class) Weight() float64 {
	switch c {
	case ClassInteractive:
		return 4
	case ClassBatch:
		return 0.25
	}
	return 1
}

// Yields reports whether the kernel takes a's memory first where the node is short of it, lent or not (Loans): that of
// a batch application without a deadline. It protects that of all others.
func (a *PlanApp) Yields() bool { return a.Class == ClassBatch && !a.HasDeadline }

// Division is how a node divides its cores: the strategy by which applications share what
// is short, and how much of what nobody asks for is given away (package supervisor).
type Division struct {
	Strategy string  `json:"strategy"`
	Gamma    float64 `json:"gamma"`
	// Eq21 is how gamma is read; "" is the node's default.
	Eq21 string `json:"eq21,omitempty"`
}

// Loss is what an application asked for and was not granted, because another one had it.
type Loss struct {
	App AppID `json:"app"`
	// To is who had most of what was granted meanwhile; "" where that was not one of
	// Pacer's.
	To          AppID      `json:"to"`
	CoreSeconds units.Work `json:"core_seconds"`
}

// Shortage is that of an application with a deadline that can be kept, on a node where it has
// had less cores than it asks for in the last ticks.
type Shortage struct {
	App AppID `json:"app"`
	// Asked and Had are cores when it lacked some last; To is who had most then, "" where that
	// was not one of Pacer's.
	Asked units.Cores `json:"asked_cores"`
	Had   units.Cores `json:"had_cores"`
	To    AppID       `json:"to"`
	// GivenUp says that not all applications on the node can be in time, and that this is one
	// of those that yield.
	GivenUp bool `json:"given_up,omitempty"`
}
