package planner_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
	"github.com/sparkpacer/pacer/infra/store"
	"github.com/sparkpacer/pacer/planner"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

func TestALeaseIsTakenWhenItHasStoodUnrenewed(t *testing.T) {
	var l planner.Lease
	at := func(s float64) units.Instant { return epoch.Add(time.Duration(s * float64(time.Second))) }
	for _, c := range []struct {
		asked, heard float64
		revision     uint64
		released     bool
		want         bool
	}{
		{0, 0, 0, false, true},
		{0, 0.1, 7, false, false},
		{2.9, 2.9, 7, false, false},
		{3, 3, 8, false, false},     // Renewed.
		{5.9, 6.1, 8, false, false}, // Asked before its time was over.
		{6, 6.2, 8, false, true},
		{6.1, 6.3, 9, false, false},
		{6.2, 6.4, 9, true, true}, // Given back.
	} {
		if got := l.Saw(at(c.asked), at(c.heard), c.revision, c.released); got != c.want {
			t.Errorf("revision %d after %v s: %v", c.revision, c.asked, got)
		}
	}
	if got := l.Unseen(at(9)); got != 2700*time.Millisecond {
		t.Errorf("unseen for %v, want 2.7s", got)
	}
	// While the store is away for one it may be for the other.
	l.Saw(at(10), at(10), 10, false)
	l.Missed()
	if got := l.Unseen(at(19)); got != 0 {
		t.Errorf("unseen for %v in which nothing could be seen", got)
	}
	if l.Saw(at(20), at(20), 10, false) {
		t.Error("a time counts in which nothing could be seen")
	}
	if !l.Saw(at(23), at(23), 10, false) {
		t.Error("it is not taken then")
	}
}

// candidate is a planner that holds the lease or stands by, as package daemon has it.
type candidate struct {
	name    string
	lease   planner.Lease
	bucket  *store.Bucket // Nil while it stands by.
	renewed units.Instant
	// paused and cut are for how many more steps it stands still, or reaches nothing.
	paused, cut, starts int
}

// leases are two planners that share a bucket, in virtual time.
type leases struct {
	t      *rapid.T
	shared *bustest.Bucket
	now    units.Instant
}

// holds reports whether c says and promises something.
func (l *leases) holds(c *candidate) bool {
	return c.bucket != nil && l.now.Sub(units.Instant(c.bucket.Sent().UnixNano())) < planner.LeaseHolds
}

var errAway = api.Errorf(api.KindTransient, "no connection")

// reach is the bucket as c reaches it.
type reach struct {
	*bustest.Bucket
	c *candidate
}

func (r reach) Newest(ctx context.Context, key string) ([]byte, uint64, error) {
	if r.c.cut > 0 {
		return nil, 0, errAway
	}
	return r.Bucket.Newest(ctx, key)
}

func (r reach) Write(ctx context.Context, changes []api.Pair, last uint64) (uint64, error) {
	if r.c.cut > 0 {
		return 0, errAway
	}
	return r.Bucket.Write(ctx, changes, last)
}

// step is LeaseAsk of c's life.
func (l *leases) step(c *candidate) {
	if c.paused > 0 {
		c.paused--
		return
	}
	if c.bucket != nil {
		if l.now.Sub(c.renewed) >= planner.LeaseRenew {
			c.renewed = l.now
			if err := c.bucket.Renew(l.t.Context()); errors.Is(err, store.ErrLost) {
				c.bucket = nil
			}
		}
		return
	}
	shared := reach{l.shared, c}
	held, revision, err := store.ReadLease(l.t.Context(), shared, "b")
	if err != nil {
		c.lease.Missed()
		return
	}
	if !c.lease.Saw(l.now, l.now, revision, held.Released) {
		return
	}
	c.starts++
	b, err := store.TakeBucket(l.t.Context(), shared, revision, store.BucketOptions{Name: "b", Process: fmt.Sprint(c.name, c.starts), Timeout: time.Second,
		Now: func() time.Time { return time.Unix(0, int64(l.now)) }})
	if err == nil {
		c.bucket, c.renewed = b, l.now
	}
}

// Two planners are cut off from the store, stand still and are killed at random. Never do both
// promise at one time; what one has stored the next one has; one that stood still and comes back
// writes nothing; and when trouble is over one serves within 5 s.
func TestOneOfTwoPlannersHoldsTheLease(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := &leases{t: rt, shared: &bustest.Bucket{}, now: epoch}
		both := []*candidate{{name: "a"}, {name: "b"}}
		last := ""
		serial := 0
		pass := func() {
			l.now = l.now.Add(planner.LeaseAsk)
			for _, c := range both {
				l.step(c)
			}
			if l.holds(both[0]) && l.holds(both[1]) {
				rt.Fatal("both promise")
			}
			for _, c := range both {
				if c.bucket == nil || c.paused > 0 || rapid.IntRange(0, 3).Draw(rt, "writes") > 0 {
					continue
				}
				pairs, err := c.bucket.Load("k")
				if err != nil {
					continue
				}
				if l.holds(c) && last != "" && (len(pairs) != 1 || string(pairs[0].Value) != last) {
					rt.Fatalf("%s holds the lease and has %v, want %s", c.name, pairs, last)
				}
				serial++
				if c.bucket.Apply([]api.Pair{{Key: "k", Value: fmt.Append(nil, serial)}}) == nil {
					last = fmt.Sprint(serial)
				}
			}
		}
		for range rapid.IntRange(1, 12).Draw(rt, "troubles") {
			c := both[rapid.IntRange(0, 1).Draw(rt, "whose")]
			steps := rapid.IntRange(1, 40).Draw(rt, "steps")
			switch rapid.SampledFrom([]string{"cut", "pause", "kill", "none"}).Draw(rt, "trouble") {
			case "cut":
				c.cut = steps
			case "pause":
				c.paused = steps
			case "kill":
				c.bucket = nil
				c.lease = planner.Lease{}
			}
			for range rapid.IntRange(1, 40).Draw(rt, "passes") {
				pass()
				for _, c := range both {
					c.cut = max(0, c.cut-1)
				}
			}
		}
		both[0].cut, both[1].cut, both[0].paused, both[1].paused = 0, 0, 0, 0
		for range 5 * time.Second / planner.LeaseAsk {
			pass()
		}
		if l.holds(both[0]) == l.holds(both[1]) {
			rt.Fatal("not one of them serves")
		}
	})
}
