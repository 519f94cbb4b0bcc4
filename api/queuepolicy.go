package api

import (
	"cmp"

	"github.com/sparkpacer/pacer/units"
)

// QueuePolicy is how the queue is served: Rule says who starts and who gives back for that, Order in which order
// applications wait, Size what counts as the size of one. Admission says for which deadline that nobody has recorded
// cores are reserved (package assign has these names), Late what becomes of one that cannot be kept: share or refuse.
// "" is as the planner is configured.
type QueuePolicy struct {
	Rule      string `json:"rule,omitempty"`
	Order     string `json:"order,omitempty"`
	Size      string `json:"size,omitempty"`
	Admission string `json:"admission,omitempty"`
	Late      string `json:"late,omitempty"`
}

// Over is p with what it leaves open as it is in base.
func (p QueuePolicy) Over(base QueuePolicy) QueuePolicy {
	return QueuePolicy{Rule: cmp.Or(p.Rule, base.Rule), Order: cmp.Or(p.Order, base.Order),
		Size: cmp.Or(p.Size, base.Size), Admission: cmp.Or(p.Admission, base.Admission), Late: cmp.Or(p.Late, base.Late)}
}

func (p *QueuePolicy) validate(f *faults) {
	f.text("rule", p.Rule, MostToken)
	f.text("order", p.Order, MostToken)
	f.text("size", p.Size, MostToken)
	f.text("admission", p.Admission, MostToken)
	f.text("late", p.Late, MostToken)
}

// QueueDetail is what `pacer policy show` prints, but for who waits.
type QueueDetail struct {
	// QueuePolicy is the one in force; SetBy is "operator" where that is not by the planner's configuration.
	QueuePolicy
	SetBy string `json:"set_by,omitempty"`
	// Reserved are the cores that are reserved now for deadlines that nobody has recorded. Fraction is which part of what
	// an application could use is reserved for one that comes, by the Runs that have taught so far; nil where that is not
	// known yet, or nothing is reserved.
	Reserved units.Cores `json:"reserved_cores"`
	Fraction *float64    `json:"fraction_ratio,omitempty"`
	Runs     int         `json:"runs"`
	// Idle is memory that executors hold which have run no task for a minute while somebody waits for some.
	Idle []IdleMemory `json:"idle"`
	// Gifts are what applications give back now, by who waits for it.
	Gifts  []Gift `json:"gifts"`
	Scores Scores `json:"scores"`
}

// Gift is what an application has on a node, and leaves to one that waits.
type Gift struct {
	From AppID  `json:"from"`
	Node string `json:"node"`
	To   AppID  `json:"to"`
}

// IdleMemory is memory that an application holds on a node, and runs no tasks with.
type IdleMemory struct {
	App    AppID       `json:"app"`
	Node   string      `json:"node"`
	Memory units.Bytes `json:"memory_bytes"`
}

// Scores say how applications are served, from 0 to 1 each (package assign/scores); nil is where there is nothing to
// score. Met, Useful and Wasted are of the applications with a deadline that are in the history, and of those that run
// past theirs; Fairness and Equality are means over the minutes of the last hour.
type Scores struct {
	// Met is the part of them that ended in time; Useful the part of the work of all that these did; Wasted what the
	// others have used, as a part of the work of all.
	Met    *float64 `json:"met_ratio,omitempty"`
	Useful *float64 `json:"useful_ratio,omitempty"`
	Wasted *float64 `json:"wasted_ratio,omitempty"`
	// Fairness is Jain's index of what applications have of the nodes that they could use, Equality that of what those
	// have that could use as many.
	Fairness *float64 `json:"fairness_ratio,omitempty"`
	Equality *float64 `json:"equality_ratio,omitempty"`
}
