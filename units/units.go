package units

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Cores is an amount of CPU: capacity, request, grant or consumption rate, in
// cores. It is never negative where it is valid.
type Cores float64

// Unlimited is the quota of an executor that may use every core of its node.
var Unlimited = Cores(math.Inf(1))

// IsUnlimited reports whether c stands for "no quota".
func (c Cores) IsUnlimited() bool { return math.IsInf(float64(c), 1) }

// String prints c with two decimals, or "all" when unlimited.
func (c Cores) String() string {
	if c.IsUnlimited() {
		return "all"
	}
	return strconv.FormatFloat(float64(c), 'f', 2, 64)
}

// CeilTo rounds c up to a multiple of quantum (Eq 7 of the source rounds to cq
// this way). A quantum that is not positive leaves c as it is. Values within
// 1e-9 of a multiple count as that multiple, so that 0.15/0.05 is 3, not 4.
func (c Cores) CeilTo(quantum Cores) Cores {
	if quantum <= 0 || c.IsUnlimited() {
		return c
	}
	return Cores(math.Ceil(float64(c/quantum)-1e-9)) * quantum
}

// Clamp returns c limited to [lo, hi]; lo wins when the bounds cross.
func (c Cores) Clamp(lo, hi Cores) Cores { return max(lo, min(hi, c)) }

// Work is CPU time in core-seconds.
type Work float64

// Per returns the cores that do w in d; 0 when there is no work, Unlimited when
// there is work and d is not positive.
func (w Work) Per(d time.Duration) Cores {
	switch {
	case w <= 0:
		return 0
	case d <= 0:
		return Unlimited
	}
	return Cores(float64(w) / d.Seconds())
}

// Records counts records as Spark's task metrics do.
type Records int64

// Rate is a processing speed in records per core-second: the nominal rate
// (nomRate, Kf) of the source.
type Rate float64

// Fraction is a share of a whole.
type Fraction float64

// Percent returns f in per cent.
func (f Fraction) Percent() float64 { return 100 * float64(f) }

// Clamp returns f limited to [0, 1]; NaN becomes 0.
func (f Fraction) Clamp() Fraction {
	if !(f > 0) {
		return 0
	}
	return min(1, f)
}

// Instant is a moment on one monotonic clock, in nanoseconds since an origin
// that the clock's owner knows: the machine's boot for a node, the Unix epoch
// for a planner. Instants of different owners must not be compared.
type Instant int64

// Add returns the moment d after t.
func (t Instant) Add(d time.Duration) Instant { return t + Instant(d) }

// Sub returns the time from u to t, negative if t is earlier.
func (t Instant) Sub(u Instant) time.Duration { return time.Duration(t - u) }

// Seconds is a duration as it crosses the wire and appears in files.
type Seconds float64

// FromDuration returns d in seconds.
func FromDuration(d time.Duration) Seconds { return Seconds(d.Seconds()) }

// Duration returns s as a time.Duration, saturating at the type's limits; NaN
// becomes 0.
func (s Seconds) Duration() time.Duration {
	ns := float64(s) * float64(time.Second)
	switch {
	case math.IsNaN(ns):
		return 0
	case ns >= math.MaxInt64:
		return math.MaxInt64
	case ns <= math.MinInt64:
		return math.MinInt64
	}
	return time.Duration(math.Round(ns))
}

// String prints s with millisecond precision, as in "12.345s".
func (s Seconds) String() string {
	return strconv.FormatFloat(math.Round(float64(s)*1000)/1000, 'f', -1, 64) + "s"
}

// Finite returns an error that names what unless v is a finite number >= 0:
// the check that every measured or user-given quantity has to pass.
func Finite[T ~float64](what string, v T) error {
	if v >= 0 && v <= math.MaxFloat64 {
		return nil
	}
	return notFinite(what, float64(v))
}

// notFinite is not in Finite, so that the compiler can put the check itself where
// it is made.
func notFinite(what string, v float64) error {
	return fmt.Errorf("%s is %v, want a finite number >= 0", what, v)
}
