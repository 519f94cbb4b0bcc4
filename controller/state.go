package controller

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// Target is what one stage executor has to reach.
type Target struct {
	// Start and Deadline bound the time allowed, tco of the paper. A Deadline
	// not after Start asks for all the cores that the stage can use.
	Start    units.Instant `json:"start"`
	Deadline units.Instant `json:"deadline"`
	// Weight is Do of Eq 9-10: the executor's share in the unit of the progress
	// page, where the mean task weighs 1. 0 means unknown.
	Weight float64 `json:"weight"`
	// Rate is Kf, the nominal weight per core-second. 0 means unknown.
	Rate float64 `json:"rate"`
	// Init is Eq 7; it is requested as long as Weight or Rate is unknown.
	Init units.Cores `json:"init_cores"`
	// Done is the weight done at Start, where the set point begins.
	Done float64 `json:"done"`
}

// setPoint is a0 of Fig 5: a ramp from what was done at Start to 1.
func (t *Target) setPoint(phi float64, at units.Instant) units.Fraction {
	if t.Deadline <= t.Start {
		return 1
	}
	from := t.fraction(t.Done)
	x := float64(at.Sub(t.Start)) / (phi * float64(t.Deadline.Sub(t.Start)))
	return (from + (1-from)*units.Fraction(x).Clamp()).Clamp()
}

// fraction is done as a share of Weight, 0 as long as Weight is unknown.
func (t *Target) fraction(done float64) units.Fraction {
	if t.Weight <= 0 {
		return 0
	}
	return units.Fraction(done / t.Weight).Clamp()
}

func (t Target) validate() error {
	return errors.Join(
		units.Finite("target weight", t.Weight), units.Finite("target rate", t.Rate),
		units.Finite("target weight done", t.Done), notNegative("target initial cores", t.Init))
}

// bounded replaces "unlimited" by a number of cores that no machine has, so
// that a State always fits into JSON.
func (t Target) bounded() Target {
	t.Init = min(t.Init, manyCores)
	return t
}

// Input is what was measured since the step before.
type Input struct {
	// At is the time of the measurement: the page's timestamp.
	At units.Instant
	// Dt is the time since the step before; after skipped slots it is longer
	// than Config.Interval.
	Dt time.Duration
	// Done is the weight done. It may shrink, when a task failed.
	Done float64
	// Runnable is the number of unfinished tasks, running and waiting, at most
	// as many as run side by side: more cores than they can use have no use.
	Runnable int
	// Width is how many cores one task can use; less than 1 counts as 1.
	Width units.Cores
	// Min and Max bound the request; Min wins. Max may be units.Unlimited.
	Min, Max units.Cores
	// Used is the CPU really used during Dt.
	Used units.Cores
	// Chains is what is left for each slot, in weight, the longest first (see
	// Chains); empty when it is not known or not worth looking at, long before the
	// end. It is the caller's and not kept.
	Chains []float64
	// Alike says that no task that runs or waits weighs much more than the mean, so that
	// nothing of the work left hangs on a single task's.
	Alike bool
}

// fine reports whether what is left is known so well that the last moments count.
func (in *Input) fine() bool { return in.Alike && len(in.Chains) > 0 }

func (in *Input) validate(last units.Instant) error {
	if in.At < last {
		return fmt.Errorf("measured %v before the measurement that precedes it", last.Sub(in.At))
	}
	if in.Dt < 0 {
		return fmt.Errorf("interval is %v, want >= 0", in.Dt)
	}
	if in.Runnable < 0 {
		return fmt.Errorf("runnable tasks are %d, want >= 0", in.Runnable)
	}
	if err := units.Finite("weight done", in.Done); err != nil {
		return err
	}
	if err := units.Finite("cores used", in.Used); err != nil {
		return err
	}
	if err := units.Finite("minimum cores", in.Min); err != nil {
		return err
	}
	for i, chain := range in.Chains {
		if !(chain >= 0) || math.IsInf(chain, 1) || i > 0 && chain > in.Chains[i-1] {
			return fmt.Errorf("chain %d is %v, want finite numbers >= 0 in descending order", i, chain)
		}
	}
	return errors.Join(notNegative("maximum cores", in.Max), units.Finite("width", in.Width))
}

// usable is the most that a request may be.
func (in *Input) usable() units.Cores {
	return min(in.Max, units.Cores(float64(in.Runnable)*in.width()))
}

// width is Width, 1 at least.
func (in *Input) width() float64 { return max(1, float64(in.Width)) }

// Output is what a step decided.
type Output struct {
	// SetPoint and Progress are a0 and a at Input.At, as fractions.
	SetPoint units.Fraction `json:"set_point"`
	Progress units.Fraction `json:"progress"`
	// Request is rc.
	Request units.Cores `json:"request_cores"`
	// Clamped says that the law asked for something outside the bounds. The
	// controller has synchronised itself with Request already.
	Clamped bool `json:"clamped"`
}

// State is all that a controller remembers. It is a plain value: it survives a
// round trip through JSON without loss and may be copied.
type State struct {
	// Law is the law that wrote it.
	Law    string `json:"law"`
	Target Target `json:"target"`
	// At and Done belong to the last good step, or to the target before one.
	At   units.Instant `json:"at"`
	Done float64       `json:"done"`
	// Steps counts the good steps.
	Steps uint64 `json:"steps"`
	// Output is that of the last good step; Granted is what is in force as far
	// as the controller was told.
	Output  Output      `json:"output"`
	Granted units.Cores `json:"granted_cores"`
	// Error is a0% - a% at the last good step, in per cent (Eq 18).
	Error float64 `json:"error_pct"`

	// XC, K and A are those of Eq 17-19: per cent, cores per per cent, and the
	// controller's zero. K = 0: not tuned, because the rate is unknown.
	XC float64 `json:"xc"`
	K  float64 `json:"k"`
	A  float64 `json:"a"`

	// Level is the smoothed request of LawPacer, in cores.
	Level units.Cores `json:"level_cores"`
	// Estimate is what was learned about the rate, Utilization about the cores that
	// a grant comes to.
	Estimate    Estimate    `json:"estimate"`
	Utilization Utilization `json:"utilization"`
}

// manyCores stands for "unlimited" inside a State.
const manyCores units.Cores = 1 << 20

func notNegative(what string, c units.Cores) error {
	if c >= 0 {
		return nil
	}
	return fmt.Errorf("%s are %v, want >= 0", what, float64(c))
}
