package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/meter"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/physics"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

type executorKey = node.Key

// process is an executor's JVM. Between two events everything in it goes on at a
// constant speed; advance brings it to a moment, settle lets happen what is due
// then, plan says when something will happen next.
type process struct {
	m      *machine
	driver *Driver
	key    executorKey
	pid    int
	slots  int
	atOnce int // How many tasks run side by side.
	rand   *rand.Rand
	timer  des.Timer

	quota  float64 // +Inf for none.
	weight float64 // As a multiple of the kernel's default.
	// refused says that the newest write of its quota was.
	refused bool
	at      units.Instant
	// got is the cores it has, eff those that the lag makes of them, rate the
	// work per second that each computing task does.
	got, eff, rate float64
	cpu, threadCPU float64 // The group's CPU time; that of one computing task.
	throttled      float64
	service        float64 // The work that one computing task has done.
	starting       float64 // What is left of the start, in core-seconds.
	pausing        float64 // What is left of a collection, in core-seconds.
	nextPause      float64 // The cpu at which the next one comes.
	worked         float64 // CPU time of tasks: how warm it is.
	wobble, factor float64 // The noise, and what it makes of the rate.

	computing, waiting []*task
	first              float64 // When the first computing task will be done, on service; +Inf for none.
	parts              []*part // Newest last.
	beat               units.Instant
	page               meter.Page
	heaviest           float64 // What the newest task told of those that wait, and of which stage.
	heaviestOf         *stageRun
	pools              pools
	registered, exited bool
	drained            bool // Its node was drained while it ran.
	forgets            bool // What its tasks wrote is lost with it.
	settling           bool // In a step of its own.
	exit               string
	code               int
}

// part is what a process did for one stage.
type part struct {
	run  *stageRun
	page meter.Stage
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
	wake          units.Instant // When it has fetched what it reads.
	start, end    float64       // On the process's service.
	cpu0          float64
}

const tiny = 1e-9

func (w *World) startProcess(m *machine, d *Driver, key executorKey, launch *api.Launch) *process {
	p := &process{m: m, driver: d, key: key, pid: 1000 + w.processes, slots: launch.Cores, atOnce: launch.AtOnce(launch.Cores), quota: math.Inf(1), weight: 1, at: w.clock.Now(),
		pools:    newPools(d.app.Memory, launch, w.clock.Now()),
		starting: float64(w.cfg.Plant.Start), factor: 1, first: math.Inf(1),
		rand: des.Random(w.cfg.Seed, "process "+m.name+" "+drawn(key))}
	w.processes++
	p.timer = des.NewTimer(rankPlant, m.id<<16|uint64(w.processes&0xFFFF), p)
	p.beat = w.clock.Now().Add(time.Duration(p.rand.Int64N(int64(w.cfg.Plant.Page)))).Add(w.cfg.Plant.Page)
	p.nextPause = p.pauseAfter()
	m.procs = append(m.procs, p)
	m.divide(w.clock.Now())
	p.settle(w.clock.Now())
	return p
}

// drawn names what is drawn for an executor: by when its application came and as which one,
// and not by the mark of its planner's store.
func drawn(key executorKey) string {
	parts := strings.Split(string(key.App), "-")
	key.App = api.AppID(strings.Join(parts[:min(len(parts), 3)], "-"))
	return key.String()
}

func (p *process) Fire(*des.Timer) { p.settle(p.m.w.clock.Now()) }

// wants is how many cores it could use.
func (p *process) wants() float64 {
	switch {
	case p.exited:
		return 0
	case p.starting > 0:
		return 2
	case p.pausing > 0:
		return float64(p.slots)
	}
	return float64(len(p.computing)) * p.threads()
}

// threads is how many cores each of its tasks can use.
func (p *process) threads() float64 { return max(1, p.driver.app.Threads) }

// busy reports whether something will happen by itself: what was brought past its end by
// another's event has yet to settle.
func (p *process) busy() bool {
	return !p.registered || p.pausing != 0 || len(p.computing) > 0 || len(p.waiting) > 0
}

// advance brings it to now.
func (p *process) advance(now units.Instant) {
	dt := des.Seconds(p.at, now)
	if dt <= 0 {
		return
	}
	p.at = now
	spent := p.got * dt
	p.cpu += spent
	if p.got < p.quotaWants() {
		p.throttled += dt
	}
	switch {
	case p.starting > 0:
		p.starting -= spent
	case p.pausing > 0:
		p.pausing -= spent
	case len(p.computing) > 0:
		p.service += p.rate * dt
		p.threadCPU += spent / (float64(len(p.computing)) * p.threads())
		p.worked += spent
	}
	if p.eff != p.got {
		p.eff = physics.Follow(p.eff, p.got, p.m.w.cfg.Plant.Lag, dt)
		if math.Abs(p.eff-p.got) < 1e-4 {
			p.eff = p.got
		}
	}
}

// quotaWants is what it wants where its quota is what holds it back, else 0.
func (p *process) quotaWants() float64 {
	if w := p.wants(); p.quota < w {
		return w
	}
	return 0
}

// settle lets happen what is due at now.
func (p *process) settle(now units.Instant) {
	p.advance(now)
	if p.exited {
		return
	}
	p.settling = true
	if p.starting != 0 && p.starting <= tiny {
		p.starting = 0
	}
	if p.pausing != 0 && p.pausing <= tiny {
		p.pausing, p.nextPause = 0, p.cpu+p.pauseAfter()
	}
	if p.starting == 0 && p.pausing == 0 {
		p.finish()
		if p.nextPause <= p.cpu+tiny && len(p.computing) > 0 {
			p.pausing = float64(p.m.w.cfg.Plant.PauseWork) * float64(p.slots) * des.Around(p.rand, 0.3)
		}
	}
	p.awake(now)
	if now >= p.beat {
		p.pulse(now)
	}
	if p.starting == 0 && !p.registered {
		p.registered = true
		if p.driver.up(p); !p.exited {
			p.driver.offer(p)
		}
	}
	p.settling = false
	p.m.divide(now)
	p.plan(now)
}

// finish ends the tasks that are done and takes new ones.
func (p *process) finish() {
	if p.first > p.service+tiny {
		return // Mostly nothing is done, and a look at each task costs more than the rest of the step.
	}
	first := math.Inf(1)
	for i := 0; i < len(p.computing); {
		t := p.computing[i]
		if t.end > p.service+tiny {
			first = min(first, t.end)
			i++
			continue
		}
		p.computing = slices.Delete(p.computing, i, i+1)
		p.finished(t)
	}
	p.first = first
	p.driver.offer(p)
}

func (p *process) finished(t *task) {
	s := &t.part.page
	s.Finished++
	s.Weight += t.weight
	s.Records += t.records
	cpu := p.threadCPU - t.cpu0
	s.CPU += units.Work(cpu)
	if t.weight > meter.Large {
		s.LargeCPU += units.Work(cpu)
		s.LargeReading += units.Work(cpu * t.reading())
	}
	t.run.finished(p, t.index, cpu)
}

// launch starts a task in a free slot: it waits for what it reads, then computes.
func (p *process) launch(t *task) {
	now := p.m.w.clock.Now()
	t.part = p.part(t.run)
	if t.heaviest > 0 {
		p.heaviest, p.heaviestOf = t.heaviest, t.run
	}
	t.wake = now.Add(p.m.w.cfg.Plant.Dispatch)
	if f := t.run.spec.Fetch; f > 0 {
		t.wake = t.wake.Add(time.Duration(float64(f) * des.Around(p.rand, 0.3) * 1e9))
	}
	if t.wake > now {
		p.waiting = append(p.waiting, t)
		return
	}
	p.compute(t)
}

func (p *process) compute(t *task) {
	t.start, t.end, t.cpu0 = p.service, p.service+t.work, p.threadCPU
	p.computing = append(p.computing, t)
	p.first = min(p.first, t.end)
}

// awake lets tasks compute that have fetched.
func (p *process) awake(now units.Instant) {
	still := p.waiting[:0]
	for _, t := range p.waiting {
		if t.wake <= now {
			p.compute(t)
		} else {
			still = append(still, t)
		}
	}
	p.waiting = still
}

func (p *process) free() int { return p.atOnce - len(p.computing) - len(p.waiting) }

func (p *process) part(r *stageRun) *part {
	for i := len(p.parts) - 1; i >= 0; i-- {
		if p.parts[i].run == r {
			return p.parts[i]
		}
	}
	s := &part{run: r, page: meter.Stage{Key: r.key}}
	p.parts = append(p.parts, s)
	if len(p.parts) > maxParts {
		p.parts = p.parts[1:]
	}
	return s
}

// maxParts is how many stages a progress page holds.
const maxParts = 8

// publish writes the progress page.
func (p *process) publish(now units.Instant) {
	if p.m.frozen {
		return
	}
	g := &p.page
	g.At, g.Generation = p.m.w.clockOf(p.m, now), g.Generation+1
	g.Memory = p.pool(now).page()
	g.Stages, g.Tasks = g.Stages[:0], g.Tasks[:0]
	for i := len(p.parts) - 1; i >= 0; i-- {
		p.parts[i].page.Running, p.parts[i].page.RunningCPU, p.parts[i].page.RunningRecords = 0, 0, 0
	}
	for _, t := range p.computing {
		cpu, read := units.Work(p.threadCPU-t.cpu0), t.read(p.service)
		p.show(t, cpu, read)
	}
	for _, t := range p.waiting {
		p.show(t, 0, 0)
	}
	for i := len(p.parts) - 1; i >= 0; i-- {
		s := p.parts[i].page
		if p.parts[i].run == p.heaviestOf {
			s.Heaviest = p.heaviest
		}
		g.Stages = append(g.Stages, s)
	}
}

func (p *process) show(t *task, cpu units.Work, read float64) {
	s := &t.part.page
	s.Running++
	s.RunningCPU += cpu
	s.RunningRecords += read
	p.page.Tasks = append(p.page.Tasks, meter.Task{Stage: t.run.key, Partition: t.index, Weight: t.weight, CPU: cpu, Records: read})
}

// kill ends it. Its tasks come back to the driver when that notices.
func (p *process) kill(now units.Instant, exit string, code int) {
	if p.exited {
		return
	}
	p.advance(now)
	p.exited, p.exit, p.code = true, exit, code
	p.m.changed = now
	if p.m.died == nil {
		p.m.died = map[executorKey]bool{}
	}
	p.m.died[p.key] = true
	p.m.divide(now)
	p.m.w.clock.Cancel(&p.timer)
	p.m.w.exitedProcess(p)
}

// sample fills what the node controller sees of it.
func (p *process) sample(s *node.ExecutorSample, now units.Instant) {
	p.advance(now)
	if !p.exited && p.registered && !p.busy() {
		p.publish(now)
	}
	s.Key, s.PID, s.Exited, s.Exit, s.ExitCode = p.key, p.pid, p.exited, p.exit, p.code
	s.Measured, s.CPU, s.Throttled = true, units.Work(p.cpu), time.Duration(p.throttled*1e9)
	s.Quota, s.Writer = units.Cores(p.quota), ""
	s.Memory, s.Page = p.pools.sample(), p.page
	if p.m.garbled {
		p.garble(s)
	}
}
