package prophet

import (
	"fmt"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// App is an application: Executors of Cores and Memory (GB) each, all of the same Stages.
type App struct {
	Arrives          float64
	Kind             string
	Cores, Executors int
	Memory           float64
	Stages           []Stage
}

// Stage takes so many seconds where it gets what it needs: its executor's cores, and these rates (MB/s).
type Stage struct {
	Time float64
	Rate placement.Rates
}

// peak is the greatest rate of each device over an application's stages, of one executor.
func (a *App) peak() (peak placement.Rates) {
	for _, s := range a.Stages {
		for r := range peak {
			peak[r] = max(peak[r], s.Rate[r])
		}
	}
	return peak
}

// time is how long an executor takes alone.
func (a *App) time() (sum float64) {
	for _, s := range a.Stages {
		sum += s.Time
	}
	return sum
}

// Params are the numbers of the world.
type Params struct {
	Servers int
	// Cores, Memory (GB) and Rates (MB/s) are those of a server.
	Cores, Memory float64
	Rates         placement.Rates
	// Loss is c: by how much a device that is wanted twice loses of its rate. It was fitted to what task backoff
	// alone gains in the source, 28 %.
	Loss float64
	// Backoff is how long an executor runs fewer tasks, in seconds; Overdue after how many mean waits an
	// application comes next; Part which part of those that wait, the oldest, is looked at. All three are the
	// source's.
	Backoff, Overdue, Part float64
}

// DefaultParams are the source's servers.
var DefaultParams = Params{Servers: 16, Cores: 24, Memory: 32, Rates: placement.Rates{330, 250}, Loss: 1.2,
	Backoff: 4, Overdue: 3, Part: 0.5}

// Outcome is what became of the applications of a run, in their order, in seconds.
type Outcome struct {
	Makespan float64
	// Ran is from when all executors were placed to the last one's end, Took from the submission on.
	Ran, Took []float64
}

// executor runs on a server. Stage is the one that runs, left what is left of its time, tasks how many run.
type executor struct {
	app   *waiting
	stage int
	left  float64
	tasks int
	speed float64
}

// waiting is an application that has come: how many executors are placed, and how many have ended.
type waiting struct {
	*App
	id            int
	placed, ended int
	start         float64 // When the last one was placed.
}

func (w *waiting) missing() int { return w.Executors - w.placed }

// server is what runs on one.
type server struct {
	executors []*executor
	cores     float64 // Of executors there.
	memory    float64
}

// world is a run.
type world struct {
	p       Params
	policy  policy
	clock   des.Clock
	queue   []*waiting // In order of arrival: they lack executors.
	servers []server
	next    des.Timer // The end of the next stage, or a look for backoff.
	at      units.Instant
	waits   []float64 // Waits of applications that were placed whole.
	out     Outcome
	running int
}

// Run runs applications, in order of arrival, under the policy of that name to their end. An application that fits
// no empty server, or is of more executors than there are servers, is an error.
func Run(name string, apps []App, p Params) (Outcome, error) {
	policy, known := policies[name]
	if !known {
		return Outcome{}, fmt.Errorf("policy %q is unknown: one of %v", name, Policies())
	}
	w := &world{p: p, policy: policy, servers: make([]server, p.Servers),
		out: Outcome{Ran: make([]float64, len(apps)), Took: make([]float64, len(apps))}}
	w.next = des.NewTimer(1, 0, des.Call(func() {}))
	for i := range apps {
		a := &apps[i]
		if peak := a.peak(); a.Executors > p.Servers || float64(a.Cores) > p.Cores || a.Memory > p.Memory ||
			peak[placement.Disk] > p.Rates[placement.Disk] || peak[placement.Network] > p.Rates[placement.Network] {
			return Outcome{}, fmt.Errorf("application %d fits no cluster: %d executors of %d cores, %g GB, %v MB/s", i,
				a.Executors,
				a.Cores, a.Memory, peak)
		}
		one := &waiting{App: a, id: i}
		w.clock.At(des.Later(0, a.Arrives), 0, uint64(i), func() { w.queue = append(w.queue, one) })
	}
	for {
		more, err := w.clock.Turn(des.Never)
		if err != nil {
			return Outcome{}, err
		}
		w.pass()
		policy.dispatch(w)
		if !more {
			break
		}
		w.look()
	}
	if len(w.queue) > 0 || w.running > 0 {
		return Outcome{}, fmt.Errorf("%d applications wait and %d executors run for ever", len(w.queue), w.running)
	}
	return w.out, nil
}

func (w *world) now() float64 { return des.Seconds(0, w.clock.Now()) }

// pass lets executors run until now.
func (w *world) pass() {
	passed := des.Seconds(w.at, w.clock.Now())
	w.at = w.clock.Now()
	for i := range w.servers {
		s := &w.servers[i]
		s.executors = slices.DeleteFunc(s.executors, func(e *executor) bool {
			e.left -= passed * e.speed
			for e.left <= 1e-6 {
				if e.stage++; e.stage == len(e.app.Stages) {
					w.end(s, e)
					return true
				}
				e.left += e.app.Stages[e.stage].Time
			}
			return false
		})
	}
}

func (w *world) end(s *server, e *executor) {
	s.cores, s.memory, w.running = s.cores-float64(e.app.Cores), s.memory-e.app.Memory, w.running-1
	if e.app.ended++; e.app.ended == e.app.Executors {
		w.out.Ran[e.app.id], w.out.Took[e.app.id] = w.now()-e.app.start, w.now()-e.app.Arrives
		w.out.Makespan = w.now()
	}
}

// place starts an executor of an application on a server.
func (w *world) place(a *waiting, server int) {
	s := &w.servers[server]
	s.executors = append(s.executors, &executor{app: a, left: a.Stages[0].Time, tasks: a.Cores})
	s.cores, s.memory, w.running = s.cores+float64(a.Cores), s.memory+a.Memory, w.running+1
	if a.placed++; a.missing() == 0 {
		a.start = w.now()
		w.waits = append(w.waits, a.start-a.Arrives)
		w.queue = slices.DeleteFunc(w.queue, func(b *waiting) bool { return a == b })
	}
}

// wants is what an executor wants of a device, as many tasks as it runs and as fast as its cores let it.
func (e *executor) wants(r int, cores float64) float64 {
	return e.app.Stages[e.stage].Rate[r] * e.part() * cores
}

// part is the part of its tasks that an executor runs.
func (e *executor) part() float64 { return float64(e.tasks) / float64(e.app.Cores) }

// speeds gives each executor its speed by what its server's executors want.
func (w *world) speeds() {
	for i := range w.servers {
		s := &w.servers[i]
		cores := min(1, w.p.Cores/max(s.cores, 1))
		share := [2]float64{1, 1}
		for r := range share {
			if load := w.load(s, r, cores); load > 1 {
				share[r] = 1 / load / (1 + w.p.Loss*(load-1))
			}
		}
		for _, e := range s.executors {
			e.speed = e.part() * cores
			for r := range share {
				if e.app.Stages[e.stage].Rate[r] > 0 {
					e.speed = min(e.speed, e.part()*cores*share[r])
				}
			}
		}
	}
}

// load is how many times the rate of a device is wanted.
func (w *world) load(s *server, r int, cores float64) (sum float64) {
	for _, e := range s.executors {
		sum += e.wants(r, cores)
	}
	return sum / w.p.Rates[r]
}

// look sets the timer to the end of the next stage. Where the policy backs off it first gives executors of
// overloaded devices fewer tasks, and looks again after Backoff seconds.
func (w *world) look() {
	soonest := math.Inf(1)
	if w.policy.backoff && w.running > 0 {
		if w.backOff() {
			soonest = w.p.Backoff
		}
	}
	w.speeds()
	for i := range w.servers {
		for _, e := range w.servers[i].executors {
			soonest = min(soonest, e.left/e.speed)
		}
	}
	if w.running > 0 {
		w.clock.Set(&w.next, des.Later(w.clock.Now(), max(soonest, 1e-3)))
	}
}

// backOff has the executor that is most above its share of an overloaded device run one task less, until the
// device is not overloaded any more or all run one. It reports whether any runs fewer.
func (w *world) backOff() (any bool) {
	for i := range w.servers {
		s := &w.servers[i]
		cores := min(1, w.p.Cores/max(s.cores, 1))
		for _, e := range s.executors {
			e.tasks = e.app.Cores
		}
		for r := range w.p.Rates {
			for w.load(s, r, cores) > 1 {
				var most *executor
				for _, e := range s.executors {
					if e.tasks > 1 && (most == nil || e.wants(r, cores) > most.wants(r, cores)) {
						most = e
					}
				}
				if most == nil || most.wants(r, cores) == 0 {
					break
				}
				most.tasks, any = most.tasks-1, true
			}
		}
	}
	return any
}
