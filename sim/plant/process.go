package plant

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller/physics"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// Process is an executor's JVM. Between two events everything in it goes on at a
// constant speed; advance brings it to a moment, settle lets happen what is due
// then, plan says when something will happen next.
type Process struct {
	Driver  *Driver
	Machine *Machine
	Key     node.Key
	// Registered says that its driver has taken it, Exited that it is gone, Forgets that what
	// its tasks wrote is lost with it.
	Registered, Exited, Forgets bool
	// Unsought says that another cluster manager has started it, and that no node controller holds it.
	Unsought bool

	pid    int
	slots  int
	atOnce int // How many tasks run side by side.
	rand   *rand.Rand
	timer  des.Timer
	has    cores
	pace   pace
	tasks  tasks
	pools  Pools

	settling bool // In a step of its own.
	exit     string
	code     int
}

// cores are what a process may have and has of its machine.
type cores struct {
	quota  float64 // +Inf for none.
	weight float64 // As a multiple of the kernel's default.
	at     units.Instant
	// got is the cores it has, eff those that the lag makes of them.
	got, eff  float64
	cpu       float64 // The group's CPU time.
	throttled float64
}

// pace is what a process does with its cores.
type pace struct {
	rate               float64 // The work per second that each computing task does.
	threadCPU, service float64 // The CPU time, and the work, that one computing task has done.
	starting           float64 // The rest of the start, in core-seconds.
	pausing            float64 // The rest of a collection, in core-seconds.
	nextPause          float64 // The cpu at which the next one comes.
	worked             float64 // CPU time of tasks: how warm it is.
	wobble, factor     float64 // The noise, and what it makes of the rate.
	beat               units.Instant
}

// tasks are those of a process and what its page shows of them.
type tasks struct {
	computing, waiting []*task
	first              float64 // When the first computing task will be done, on service; +Inf for none.
	parts              []*part // Newest last.
	page               meter.Page
	heaviest           float64 // What the newest task told of those that wait, and of which stage.
	heaviestOf         *stageRun
}

// task is one attempt of a task.
type task struct {
	run           *stageRun
	part          *part
	index         int
	weight        float64
	heaviest      float64 // Of those that wait, 0 when that is not known.
	work, records float64
	knee, faster  float64       // It reads that much faster from that share of its reading on; 0: evenly.
	began, wake   units.Instant // When it was started, and when it has fetched what it reads.
	start, end    float64       // On the process's service.
	cpu0          float64
}

const tiny = 1e-9

// Launch starts an executor of d's on m.
func (p *Plant) Launch(m *Machine, d *Driver, key node.Key, launch *api.Launch) *Process {
	now := p.clock.Now()
	x := &Process{Machine: m, Driver: d, Key: key, pid: 1000 + p.processes, slots: launch.Cores,
		atOnce: launch.AtOnce(launch.Cores), has: cores{quota: math.Inf(1), weight: 1, at: now},
		pools: newPools(d.App.Memory, launch, now),
		pace:  pace{starting: float64(p.cfg.Start), factor: 1}, tasks: tasks{first: math.Inf(1)},
		rand: des.Random(p.seed, "process "+m.Name+" "+drawn(key))}
	p.processes++
	x.timer = des.NewTimer(RankExecutor, m.ID<<16|uint64(p.processes&0xFFFF), x)
	x.pace.beat = now.Add(time.Duration(x.rand.Int64N(int64(p.cfg.Page)))).Add(p.cfg.Page)
	x.pace.nextPause = p.pauseAfter(x)
	m.procs = append(m.procs, x)
	m.divide(now)
	x.settle(now)
	return x
}

// drawn names what is drawn for an executor: by when its application came and as which one,
// and not by the mark of its planner's store.
func drawn(key node.Key) string {
	parts := strings.Split(string(key.App), "-")
	key.App = api.AppID(strings.Join(parts[:min(len(parts), 3)], "-"))
	return key.String()
}

// Fire implements des.Firer.
func (p *Process) Fire(*des.Timer) { p.settle(p.Machine.Plant.clock.Now()) }

// Running is how many of its tasks compute.
func (p *Process) Running() int { return len(p.tasks.computing) }

// Quota is the quota in force, in cores; +Inf for none.
func (p *Process) Quota() float64 { return p.has.quota }

// SetQuota puts a quota into force.
func (p *Process) SetQuota(cores float64) {
	now := p.Machine.Plant.clock.Now()
	p.advance(now)
	p.has.quota = cores
	p.Machine.divide(now)
}

// SetWeight gives it another weight, as a multiple of the kernel's default.
func (p *Process) SetWeight(weight float64) {
	now := p.Machine.Plant.clock.Now()
	p.advance(now)
	p.has.weight = weight
	p.Machine.divide(now)
}

// Draw draws a number below n from its own source of randomness.
func (p *Process) Draw(n int) int { return p.rand.IntN(n) }

// wants is how many cores it could use.
func (p *Process) wants() float64 {
	switch {
	case p.Exited:
		return 0
	case p.pace.starting > 0:
		return 2
	case p.pace.pausing > 0:
		return float64(p.slots)
	}
	return float64(len(p.tasks.computing)) * p.threads()
}

// threads is how many cores each of its tasks can use.
func (p *Process) threads() float64 { return max(1, p.Driver.App.Threads) }

// busy reports whether something will happen by itself: what was brought past its end by
// another's event has yet to settle.
func (p *Process) busy() bool {
	return !p.Registered || p.pace.pausing != 0 || len(p.tasks.computing) > 0 || len(p.tasks.waiting) > 0
}

// advance brings it to now.
func (p *Process) advance(now units.Instant) {
	dt := des.Seconds(p.has.at, now)
	if dt <= 0 {
		return
	}
	p.has.at = now
	spent := p.has.got * dt
	p.has.cpu += spent
	if wants := p.wants(); p.has.quota < wants && p.has.got < wants {
		p.has.throttled += dt // Its quota is what holds it back.
	}
	switch {
	case p.pace.starting > 0:
		p.pace.starting -= spent
	case p.pace.pausing > 0:
		p.pace.pausing -= spent
	case len(p.tasks.computing) > 0:
		p.pace.service += p.pace.rate * dt
		p.pace.threadCPU += spent / (float64(len(p.tasks.computing)) * p.threads())
		p.pace.worked += spent
	}
	if p.has.eff != p.has.got {
		p.has.eff = physics.Follow(p.has.eff, p.has.got, p.Machine.Plant.cfg.Lag, dt)
		if math.Abs(p.has.eff-p.has.got) < 1e-4 {
			p.has.eff = p.has.got
		}
	}
}

// settle lets happen what is due at now.
func (p *Process) settle(now units.Instant) {
	p.advance(now)
	if p.Exited {
		return
	}
	p.settling = true
	if p.pace.starting != 0 && p.pace.starting <= tiny {
		p.pace.starting = 0
	}
	if p.pace.pausing != 0 && p.pace.pausing <= tiny {
		p.pace.pausing, p.pace.nextPause = 0, p.has.cpu+p.Machine.Plant.pauseAfter(p)
	}
	if p.pace.starting == 0 && p.pace.pausing == 0 {
		p.finish()
		if p.pace.nextPause <= p.has.cpu+tiny && len(p.tasks.computing) > 0 {
			p.pace.pausing = float64(p.Machine.Plant.cfg.PauseWork) * float64(p.slots) * des.Around(p.rand, 0.3)
		}
	}
	p.awake(now)
	if now >= p.pace.beat {
		p.pulse(now)
	}
	if p.pace.starting == 0 && !p.Registered {
		p.Registered = true
		if p.Driver.up(p); !p.Exited {
			p.Driver.offer(p)
		}
	}
	p.settling = false
	p.Machine.divide(now)
	p.plan(now)
}

// finish ends the tasks that are done and takes new ones.
func (p *Process) finish() {
	if p.tasks.first > p.pace.service+tiny {
		return // Mostly nothing is done, and a look at each task costs more than the rest of the step.
	}
	first := math.Inf(1)
	for i := 0; i < len(p.tasks.computing); {
		t := p.tasks.computing[i]
		if t.end > p.pace.service+tiny {
			first = min(first, t.end)
			i++
			continue
		}
		p.tasks.computing = slices.Delete(p.tasks.computing, i, i+1)
		p.finished(t)
	}
	p.tasks.first = first
	p.Driver.offer(p)
}

func (p *Process) finished(t *task) {
	s := &t.part.page
	s.Finished++
	s.Weight += t.weight
	s.Records += t.records
	cpu := p.pace.threadCPU - t.cpu0
	s.CPU += units.Work(cpu)
	if t.weight > meter.Large || cpu > meter.Long {
		s.LargeCPU += units.Work(cpu)
		s.LargeReading += units.Work(cpu * t.reading())
	}
	t.run.finished(p, t, cpu)
}

// launch starts a task in a free slot: it waits for what it reads, then computes.
func (p *Process) launch(t *task) {
	now := p.Machine.Plant.clock.Now()
	t.part, t.began = p.tasks.part(t.run), now
	if t.heaviest > 0 {
		p.tasks.heaviest, p.tasks.heaviestOf = t.heaviest, t.run
	}
	t.wake = now.Add(p.Machine.Plant.cfg.Dispatch)
	if f := t.run.spec.Fetch; f > 0 {
		t.wake = t.wake.Add(time.Duration(float64(f) * des.Around(p.rand, 0.3) * 1e9))
	}
	s, tasks := t.run.spec, float64(t.run.spec.Tasks)
	t.wake = max(t.wake, p.Machine.move(now, [2]float64{float64(s.Disk) / tasks, float64(s.Network) / tasks}))
	if t.wake > now {
		p.tasks.waiting = append(p.tasks.waiting, t)
		return
	}
	p.compute(t)
}

func (p *Process) compute(t *task) {
	t.start, t.end, t.cpu0 = p.pace.service, p.pace.service+t.work, p.pace.threadCPU
	p.tasks.computing = append(p.tasks.computing, t)
	p.tasks.first = min(p.tasks.first, t.end)
}

// drop ends those of its tasks without a result, and returns how many.
func (p *Process) drop(now units.Instant, of func(*task) bool) int {
	p.advance(now)
	before := p.tasks.busy()
	p.tasks.computing, p.tasks.waiting = slices.DeleteFunc(p.tasks.computing, of), slices.DeleteFunc(p.tasks.waiting, of)
	p.tasks.first = math.Inf(1)
	for _, t := range p.tasks.computing {
		p.tasks.first = min(p.tasks.first, t.end)
	}
	p.Machine.divide(now)
	p.plan(now)
	return before - p.tasks.busy()
}

// awake lets tasks compute that have fetched.
func (p *Process) awake(now units.Instant) {
	still := p.tasks.waiting[:0]
	for _, t := range p.tasks.waiting {
		if t.wake <= now {
			p.compute(t)
		} else {
			still = append(still, t)
		}
	}
	p.tasks.waiting = still
}

// busy is how many slots are taken.
func (t *tasks) busy() int { return len(t.computing) + len(t.waiting) }

// of is how many tasks of r compute.
func (t *tasks) of(r *stageRun) (n int) {
	for _, one := range t.computing {
		if one.run == r {
			n++
		}
	}
	return n
}

// Kill ends it. Its tasks come back to the driver when that notices.
func (p *Process) Kill(exit string, code int) {
	if p.Exited {
		return
	}
	now := p.Machine.Plant.clock.Now()
	p.advance(now)
	p.Exited, p.exit, p.code = true, exit, code
	p.Machine.divide(now)
	p.Machine.Plant.clock.Cancel(&p.timer)
	p.Machine.Plant.exited(p)
}
