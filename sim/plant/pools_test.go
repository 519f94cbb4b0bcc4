package plant

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

const mib = units.MiB

// moving are pools of 2 GiB that move, and their plant.
func moving(m Memory) (*Pools, *Config) {
	m.Heap = units.GiB
	q := newPools(m, &api.Launch{Heap: units.GiB, Overhead: 384 * mib, OffHeap: 2048 * mib}, 0)
	return &q, &Config{Evict: 512 * mib, Spill: 256 * mib}
}

// A shrink takes what is free at once, then evicts above the part that storage keeps, and has
// tasks spill, each at its rate.
func TestAShrinkTakesTime(t *testing.T) {
	const s = units.Instant(time.Second)
	for name, c := range map[string]struct {
		uses    Memory
		running int
		// after is the size a second after the wish for 512 MiB was seen, whole when it is met.
		after            units.Bytes
		whole            time.Duration
		evicted, spilled units.Bytes
	}{
		"nothing in use": {Memory{}, 0, 512 * mib, 0, 0, 0},
		"blocks":         {Memory{Blocks: 1536 * mib}, 0, 1024 * mib, 2 * time.Second, 1024 * mib, 0},
		"tasks":          {Memory{Task: 256 * mib}, 4, 768 * mib, 2 * time.Second, 0, 512 * mib},
		"blocks above their own": {Memory{Blocks: 512 * mib, Task: 128 * mib}, 4, 640 * mib, 1500 * time.Millisecond,
			256 * mib, 256 * mib},
	} {
		q, plant := moving(c.uses)
		q.advance(s, c.running, false, plant)
		q.Want(512*mib, 0, s)
		q.advance(s, c.running, false, plant)
		if q.seen != 0 || q.Size() != 2048*mib {
			t.Errorf("%s: the wish is seen at once", name)
		}
		seen := s.Add(lookAt)
		q.advance(seen+s, c.running, false, plant)
		if p := q.page(); p.InForce != c.after || p.Acknowledged != 1 || p.Owed != c.after-512*mib {
			t.Errorf("%s: after a second %+v, want %v in force", name, p, c.after)
		}
		q.advance(seen+10*s, c.running, false, plant)
		if p := q.page(); p.InForce != 512*mib || p.Met != 1 || p.Moving != c.whole || p.Evicted != c.evicted ||
			p.Spilled != c.spilled {
			t.Errorf("%s: in the end %+v, want it met after %v with %v evicted and %v spilled", name, p, c.whole, c.evicted,
				c.spilled)
		}
		q.Want(4096*mib, 0, seen+10*s)
		q.advance(seen+11*s, c.running, false, plant)
		if p := q.page(); p.InForce != 4096*mib || p.Met != 2 || p.Moving != c.whole {
			t.Errorf("%s: it does not grow at once: %+v", name, p)
		}
	}
}

// An executor that does not answer keeps what it has, and promises what it may have.
func TestOneThatDoesNotAnswerKeepsItsMemory(t *testing.T) {
	q, plant := moving(Memory{})
	q.Want(512*mib, 0, 0)
	q.advance(units.Instant(time.Minute), 0, true, plant)
	if p := q.page(); p.InForce != 2048*mib || p.Acknowledged != 0 || q.Promised() != (2048+384+1024)*mib {
		t.Errorf("%+v, promised %v", p, q.Promised())
	}
	q.advance(units.Instant(2*time.Minute), 0, false, plant)
	if p := q.page(); p.InForce != 512*mib || p.Acknowledged != 1 {
		t.Errorf("when it answers again: %+v", p)
	}
}
