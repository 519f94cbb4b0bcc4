package des

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// ErrStopped is the error of a world, and of an experiment of several, that was told to stop before its end.
var ErrStopped = errors.New("the simulation was stopped")

// Never is later than anything that happens.
const Never = units.Instant(math.MaxInt64)

// Clock is virtual time. The zero value stands at 0 and has no timers.
type Clock struct {
	queue  queue
	now    units.Instant
	events uint64
	moved  uint64 // The number of events when time last moved.
}

// Now is the time.
func (c *Clock) Now() units.Instant { return c.now }

// Events is how many timers have fired.
func (c *Clock) Events() uint64 { return c.events }

// Set lets t fire at the given instant, whether it was set or not.
func (c *Clock) Set(t *Timer, at units.Instant) { c.queue.set(t, at) }

// Cancel has t not fire.
func (c *Clock) Cancel(t *Timer) { c.queue.cancel(t) }

// At has f called once at that time, as an owner of that rank and number.
func (c *Clock) At(at units.Instant, r Rank, id uint64, f func()) {
	t := NewTimer(r, id, Call(f))
	c.Set(&t, at)
}

// After is At a while from now.
func (c *Clock) After(d time.Duration, r Rank, id uint64, f func()) { c.At(c.now.Add(d), r, id, f) }

// Turn lets the next timer fire, if that is due by limit. It reports whether there was one.
// The error is that time stands still, by a million events at one instant, or runs backwards.
func (c *Clock) Turn(limit units.Instant) (bool, error) {
	at, ok := c.queue.first()
	if !ok || at > limit {
		return false, nil
	}
	switch n := c.events - c.moved; {
	case at < c.now:
		return true, fmt.Errorf("time runs backwards, from %d to %d", c.now, at)
	case at > c.now:
		c.moved = c.events
	case n > standstill:
		return true, fmt.Errorf("time stands still: %d events at one instant", n)
	}
	t := c.queue.next()
	c.now = at
	c.events++
	t.owner.Fire(t)
	return true, nil
}

// standstill is how many events at one instant mean that time stands still.
const standstill = 1_000_000

// Pass moves the time to an instant, and lets all fire that is due until then.
func (c *Clock) Pass(to units.Instant) error {
	for {
		more, err := c.Turn(to)
		if err != nil {
			return err
		}
		if !more {
			c.now = max(c.now, to)
			return nil
		}
	}
}

// Seconds is the time between two instants.
func Seconds(from, to units.Instant) float64 { return float64(to-from) / 1e9 }

// Later is the instant that is s seconds after now, rounded up; Never where that is far away.
func Later(now units.Instant, s float64) units.Instant {
	if !(s < 1e8) {
		return Never
	}
	return now + units.Instant(math.Ceil(max(s, 0)*1e9))
}
