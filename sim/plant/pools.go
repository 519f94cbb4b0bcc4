package plant

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// Memory is what each executor of an application has of its node's memory.
type Memory struct {
	// Heap of 0 is 1 GiB, and off-heap memory that does not move; Overhead of 0 is Spark's
	// default.
	Heap, Overhead units.Bytes
	// Floor and Weight are what its user declares of off-heap memory, OffHeap what the user
	// has fixed, 0 for nothing.
	Floor, OffHeap units.Bytes
	Weight         float64
	// Foreign says that Spark's pools are somebody else's, as a plugin's: they do not move.
	Foreign bool
	// Blocks is what it keeps in off-heap blocks, Task what each running task takes, both
	// as far as there is room.
	Blocks, Task units.Bytes
	// Touched is what it uses of its heap, 0 for all.
	Touched units.Bytes
}

// defaultHeap is the heap of an application that declares none.
const defaultHeap = units.GiB

// Validate reports every fault of m at once.
func (m Memory) Validate() error {
	var faults []error
	for _, b := range []units.Bytes{m.Heap, m.Overhead, m.Floor, m.OffHeap, m.Blocks, m.Task, m.Touched} {
		if b < 0 || b > 1<<50 {
			faults = append(faults, fmt.Errorf("memory: %v, want 0 to 1 PiB", b))
		}
	}
	if !(m.Weight >= 0 && m.Weight <= 1e6) {
		faults = append(faults, fmt.Errorf("memory: weight is %v, want 0 to 1e6", m.Weight))
	}
	if m.Heap == 0 && m != (Memory{}) {
		faults = append(faults, errors.New("memory: no heap is given beside the rest"))
	}
	if m.OffHeap > 0 && m.Floor > 0 {
		faults = append(faults, errors.New("memory: off-heap memory that is fixed has no floor"))
	}
	return errors.Join(faults...)
}

// Declare puts into a launch what the application's driver says of memory.
func (m Memory) Declare(l *api.Launch) {
	l.Heap, l.Overhead = cmp.Or(m.Heap, defaultHeap), m.Overhead
	l.OffHeapFloor, l.OffHeapWeight = m.Floor, m.Weight
	if m.OffHeap > 0 {
		l.OffHeap, l.OffHeapFixed = m.OffHeap, true
	}
}

const (
	// storagePart is what blocks keep of off-heap memory though tasks ask for it
	// (spark.memory.storageFraction).
	storagePart = 0.5
	// lookAt is how long an executor takes to see a wish.
	lookAt = 20 * time.Millisecond
)

// Pools are an executor's off-heap memory with its group's memory limit, as
// MemoryPools.scala moves it. Growth is at once. A shrink first takes what nobody uses, then
// evicts blocks above the part that storage keeps, has tasks spill, and evicts the rest of the
// blocks; the two go at Plant.Evict and Plant.Spill. Between two looks all goes on evenly, so
// that pools are brought to a moment only when somebody looks at them.
type Pools struct {
	Uses Memory
	// Static is heap and overhead, Started what it had off the heap at its start, Limit
	// that of its group, 0 for none.
	Static, Started, Limit units.Bytes
	// Moves says that its off-heap memory moves, Target is what it goes by.
	Moves  bool
	Target units.Bytes

	// wanted, wish and wished are the newest wish on the wish page, its sequence and when it
	// was put; seen is the one that the executor goes by.
	wanted        units.Bytes
	wish, seen    uint64
	wished, began units.Instant
	at            units.Instant
	// inForce is the pools' size, of which blocks and tasks are in use.
	inForce, blocks, tasks float64
	evicted, spilled       float64
	met                    int
	moving                 time.Duration
}

// newPools are those of an executor that starts now.
func newPools(m Memory, l *api.Launch, now units.Instant) Pools {
	q := Pools{Uses: m, Static: l.Heap + l.Overhead, Started: l.OffHeap, Target: l.OffHeap,
		inForce: float64(l.OffHeap), at: now}
	if m.Heap > 0 {
		q.Limit = q.Static + l.OffHeap
		q.Moves = !m.Foreign && l.OffHeap > 0
	}
	return q
}

// advance brings q to now. running is how many tasks of it run, deaf says that it sees no
// wishes.
func (q *Pools) advance(now units.Instant, running int, deaf bool, plant *Config) {
	if !q.Moves {
		return
	}
	if at := max(q.at, q.wished.Add(lookAt)); q.wish > q.seen && !deaf && at <= now {
		q.move(at, running, plant)
		q.see()
	}
	q.move(now, running, plant)
}

// see has it go by the newest wish.
func (q *Pools) see() {
	if q.inForce == float64(q.Target) {
		q.began = q.at
	}
	q.Target, q.seen = q.wanted, q.wish
	if q.inForce <= float64(q.Target) {
		q.reach(q.at)
	}
}

// reach is when what is wanted is in force.
func (q *Pools) reach(now units.Instant) {
	q.inForce = float64(q.Target)
	q.met++
	q.moving += now.Sub(q.began)
}

// move goes on towards the target until now.
func (q *Pools) move(now units.Instant, running int, plant *Config) {
	left := des.Seconds(q.at, now)
	q.at = now
	asked := float64(running) * float64(q.Uses.Task)
	q.tasks = min(q.tasks, asked)
	owed := q.inForce - float64(q.Target)
	if owed <= 0 {
		// Tasks take memory of blocks above the part that is kept for these.
		kept := min(float64(q.Uses.Blocks), q.inForce*storagePart)
		q.tasks = max(0, min(asked, q.inForce-kept))
		q.blocks = min(float64(q.Uses.Blocks), q.inForce-q.tasks)
		return
	}
	give := func(most float64, rate units.Bytes) float64 {
		got := max(0, min(most, owed))
		if rate > 0 {
			got = min(got, left*float64(rate))
			left -= got / float64(rate)
		}
		owed -= got
		return got
	}
	evict := func(most float64) {
		gone := give(most, plant.Evict)
		q.blocks -= gone
		q.evicted += gone
	}
	give(q.inForce-q.blocks-q.tasks, 0)
	evict(q.blocks - float64(q.Target)*storagePart)
	gone := give(q.tasks, plant.Spill)
	q.tasks -= gone
	q.spilled += gone
	if q.tasks == 0 || left > 0 {
		evict(q.blocks)
	}
	if q.inForce = float64(q.Target) + owed; owed < 1 {
		q.reach(now - units.Instant(max(0, left)*1e9))
	}
}

// Want puts a wish on the wish page; limit, if not 0, is what the group's limit is raised to.
func (q *Pools) Want(bytes, limit units.Bytes, now units.Instant) {
	q.Limit = max(q.Limit, limit)
	q.wanted, q.wished = bytes, now
	q.wish++
}

// Wants is the newest wish, what it was started with before the first.
func (q *Pools) Wants() units.Bytes {
	if q.wish == 0 {
		return q.Started
	}
	return q.wanted
}

// Size is the pools' size.
func (q *Pools) Size() units.Bytes { return units.Bytes(math.Ceil(q.inForce)) }

// Promised is the most that the executor may take of its node's memory.
func (q *Pools) Promised() units.Bytes {
	return max(q.Limit, q.Static+max(q.Size(), q.Target, q.Wants()))
}

// page is what the progress page says of them.
func (q *Pools) page() meter.Memory {
	m := meter.Memory{Known: true, Acknowledged: q.seen, Heap: cmp.Or(q.Uses.Heap, defaultHeap)}
	if !q.Moves {
		return m
	}
	m.Moves, m.InForce, m.Storage, m.Execution = true, q.Size(), units.Bytes(q.blocks), units.Bytes(q.tasks)
	m.Owed = max(0, m.InForce-q.Target)
	m.Spilled, m.Evicted, m.Met, m.Moving = units.Bytes(q.spilled), units.Bytes(q.evicted), q.met, q.moving
	return m
}

// Resident is what the executor uses of its node's memory.
func (q *Pools) Resident() units.Bytes {
	return cmp.Or(q.Uses.Touched, q.Uses.Heap, defaultHeap) + units.Bytes(q.blocks+q.tasks)
}

// sample is what the node controller sees of them beside the page.
func (q *Pools) sample() node.ExecutorMemory {
	if q.Uses.Heap == 0 {
		return node.ExecutorMemory{}
	}
	return node.ExecutorMemory{Limit: q.Limit, Wanted: q.wanted, Wish: q.wish,
		Resident: q.Resident()}
}

// Pools brings its off-heap memory to now.
func (p *Process) Pools() *Pools {
	p.pools.advance(p.Machine.Plant.clock.Now(), len(p.tasks.computing), p.Machine.Deaf || p.Exited,
		&p.Machine.Plant.cfg)
	return &p.pools
}

// Claim is what it has taken of its node's memory in any case, since its start.
func (p *Process) Claim() units.Bytes { return p.pools.Static + p.pools.Started }
