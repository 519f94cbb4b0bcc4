package shaped

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/sparkpacer/pacer/memory/forecast"
	"github.com/sparkpacer/pacer/memory/shaping"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// Config is a cluster and how its memory is given.
type Config struct {
	Machines int
	Seed     uint64
	// Policy is one of package shaping, Forecast one of package forecast, or Oracle.
	Policy, Forecast string
	shaping.Params
	// Stop, when it is closed, ends the world with des.ErrStopped.
	Stop <-chan struct{}
}

// Oracle is the forecast that knows.
const Oracle = "oracle"

// recent is how many of the newest samples a forecast is made of.
const recent = 30

// mostFailures is after how many an application keeps its request.
const mostFailures = 10

// Outcome is what came of a trace.
type Outcome struct {
	// Turnaround is the mean, in seconds.
	Turnaround float64 `json:"mean_turnaround_s"`
	// Slack is what sizes are above uses in the mean until the last application comes, in per cent of all memory.
	// Failed are the applications that have failed once or more, Preempted those that were, in per cent of all.
	Slack     float64 `json:"slack_pct"`
	Failed    float64 `json:"failed_pct"`
	Preempted float64 `json:"preempted_pct"`
	// Saturated is the part of that time, in per cent, in which applications wait.
	Saturated float64 `json:"saturated_pct"`
}

// Ranks of what happens at one instant.
const (
	departs des.Rank = iota
	ticks
	arrives
)

// run is an application that runs.
type run struct {
	*app
	world *world
	ends  des.Timer
	// hosts are its components', the core first; -1 of an elastic one that is not there.
	hosts     []int
	count     int // Of components that are there.
	began     units.Instant
	since     units.Instant
	left      float64
	use, size float64 // Of a component.
	course    *course
	periods   int
}

type world struct {
	Config
	clock   des.Clock
	apps    []app
	next    int
	waiting []*app // By arrival.
	running []*run // By arrival.
	free    []float64
	ticking des.Timer
	coming  des.Timer
	plan    shaping.Policy
	predict forecast.Predictor
	done    int
	since   units.Instant
	over    [2]float64 // Sizes over uses, and time in which applications wait, until the last one comes.
	hit     [2]map[int]bool
	out     Outcome
}

// newWorld is a world in which the first application is about to come.
func newWorld(c Config, apps []app) (*world, error) {
	w := &world{Config: c, apps: slices.Clone(apps), free: make([]float64, c.Machines)}
	var err error
	if w.plan, err = shaping.Named(c.Policy); err == nil && c.Forecast != Oracle {
		w.predict, err = forecast.Named(c.Forecast)
	}
	if err != nil {
		return nil, err
	}
	for i := range w.free {
		w.free[i] = machineGB
	}
	w.hit = [2]map[int]bool{{}, {}}
	w.coming = des.NewTimer(arrives, 0, des.Call(w.arrive))
	w.ticking = des.NewTimer(ticks, 0, des.Call(w.tick))
	w.clock.Set(&w.coming, w.apps[0].arrival)
	w.clock.Set(&w.ticking, units.Instant(period))
	return w, nil
}

// Simulate runs a trace until all its applications have ended.
func Simulate(c Config, apps []app) (Outcome, error) {
	w, err := newWorld(c, apps)
	if err != nil {
		return Outcome{}, err
	}
	for w.done < len(w.apps) {
		if w.clock.Events()%1024 == 0 {
			select {
			case <-c.Stop:
				return w.out, des.ErrStopped
			default:
			}
		}
		if _, err := w.clock.Turn(des.Never - 1); err != nil {
			return w.out, err
		}
	}
	n, span := float64(len(w.apps)), w.apps[len(w.apps)-1].arrival.Sub(w.apps[0].arrival).Seconds()
	w.out.Turnaround /= n
	w.out.Failed, w.out.Preempted = 100*float64(len(w.hit[0]))/n, 100*float64(len(w.hit[1]))/n
	if span > 0 {
		w.out.Slack = 100 * w.over[0] / (machineGB * float64(c.Machines) * span)
		w.out.Saturated = 100 * w.over[1] / span
	}
	return w.out, nil
}

// account adds up what has been since the last event.
func (w *world) account() {
	now, last := w.clock.Now(), w.apps[len(w.apps)-1].arrival
	if s := des.Seconds(min(w.since, last), min(now, last)); s > 0 {
		for _, r := range w.running {
			w.over[0] += s * float64(r.count) * (r.size - r.use)
		}
		if len(w.waiting) > 0 {
			w.over[1] += s
		}
	}
	w.since = now
}

// arrive takes the next application in.
func (w *world) arrive() {
	w.account()
	w.waiting = append(w.waiting, &w.apps[w.next])
	if w.next++; w.next < len(w.apps) {
		w.clock.Set(&w.coming, w.apps[w.next].arrival)
	}
	w.schedule()
}

// schedule gives elastic components to those that run, and then starts those that wait, in order: the first one whose
// core does not fit holds the line.
func (w *world) schedule() {
	for _, r := range w.running {
		w.grow(r)
	}
	for len(w.waiting) > 0 {
		a := w.waiting[0]
		r := &run{app: a, world: w, began: w.clock.Now(), since: w.clock.Now(), left: a.work, size: a.request,
			course: newCourse(w.Seed, a.id)}
		for range a.core {
			host := w.roomiest(a.request)
			if host < 0 {
				break
			}
			w.free[host] -= r.size
			r.hosts, r.count = append(r.hosts, host), r.count+1
		}
		if r.count < a.core {
			w.vacate(r)
			return
		}
		for range a.elastic {
			r.hosts = append(r.hosts, -1)
		}
		r.use = a.request * r.course.at(0)
		r.ends = des.NewTimer(departs, uint64(a.id), r)
		w.waiting = w.waiting[1:]
		at, _ := slices.BinarySearchFunc(w.running, r, func(a, b *run) int { return cmp.Compare(a.id, b.id) })
		w.running = slices.Insert(w.running, at, r)
		w.pace(r)
		w.grow(r)
	}
}

// roomiest is the machine with the most free memory, -1 where it has not that much.
func (w *world) roomiest(needs float64) int {
	best := 0
	for i, free := range w.free {
		if free > w.free[best] {
			best = i
		}
	}
	if w.free[best] < needs {
		return -1
	}
	return best
}

// grow places elastic components of r whose requests fit.
func (w *world) grow(r *run) {
	if r.count == len(r.hosts) {
		return
	}
	for i := r.core; i < len(r.hosts); i++ {
		if r.hosts[i] >= 0 {
			continue
		}
		host := w.roomiest(r.request)
		if host < 0 {
			break
		}
		w.work(r)
		w.free[host] -= r.size
		r.hosts[i], r.count = host, r.count+1
	}
	w.pace(r)
}

// work takes what r has done off what is left; pace says when it ends.
func (w *world) work(r *run) {
	now := w.clock.Now()
	r.left = max(0, r.left-float64(r.count)*des.Seconds(r.since, now))
	r.since = now
}

func (w *world) pace(r *run) { w.clock.Set(&r.ends, des.Later(r.since, r.left/float64(r.count))) }

// vacate takes r's components off their machines.
func (w *world) vacate(r *run) {
	w.clock.Cancel(&r.ends)
	for _, host := range r.hosts {
		if host >= 0 {
			w.free[host] += r.size
		}
	}
}

// lose takes an elastic component away.
func (w *world) lose(r *run, i int) {
	w.work(r)
	w.free[r.hosts[i]] += r.size
	r.hosts[i], r.count = -1, r.count-1
	w.pace(r)
}

// Fire is the end of an application.
func (r *run) Fire(*des.Timer) {
	w := r.world
	w.account()
	w.vacate(r)
	w.running = slices.DeleteFunc(w.running, func(o *run) bool { return o == r })
	w.out.Turnaround += des.Seconds(r.arrival, w.clock.Now())
	w.done++
	w.schedule()
}

// again has r wait once more, at its place.
func (w *world) again(r *run, why int) {
	w.vacate(r)
	w.running = slices.DeleteFunc(w.running, func(o *run) bool { return o == r })
	w.hit[why][r.id] = true
	at, _ := slices.BinarySearchFunc(w.waiting, r.app, func(a, b *app) int { return cmp.Compare(a.id, b.id) })
	w.waiting = slices.Insert(w.waiting, at, r.app)
}

// The reasons of again.
const (
	failed = iota
	preempted
)

// fail has a component of r fail, and r with it where that is of the core.
func (w *world) fail(r *run, i int) {
	if i >= r.core {
		w.lose(r, i)
		return
	}
	r.failures++
	w.again(r, failed)
}

// tick is the end of a period: uses change, what does not fit fails, and sizes are planned.
func (w *world) tick() {
	w.account()
	for _, r := range w.running {
		r.periods++
		r.use = r.request * r.course.at(r.periods)
	}
	w.clash()
	w.shape()
	w.schedule()
	w.clock.Set(&w.ticking, w.clock.Now().Add(period))
}

// part is a component on a machine.
type part struct {
	*run
	i int
}

// clash has components fail that use more than their size and their machine's free memory, and the greatest users where
// a machine has less than is used.
func (w *world) clash() {
	spare := slices.Clone(w.free)
	for _, r := range slices.Clone(w.running) {
		for i := 0; i < len(r.hosts) && r.use > r.size; i++ {
			host := r.hosts[i]
			switch {
			case host < 0:
			case r.use-r.size <= spare[host]:
				spare[host] -= r.use - r.size
			default:
				if w.fail(r, i); i < r.core {
					i = len(r.hosts)
				}
			}
		}
	}
	for host := range w.free {
		for w.used(host) > machineGB {
			var most part
			for _, r := range w.running {
				for i, h := range r.hosts {
					if h == host && (most.run == nil || r.use > most.use) {
						most = part{r, i}
					}
				}
			}
			w.fail(most.run, most.i)
		}
	}
}

// used is what is used of a machine.
func (w *world) used(host int) (sum float64) {
	for _, r := range w.running {
		for _, h := range r.hosts {
			if h == host {
				sum += r.use
			}
		}
	}
	return sum
}

// shape asks the policy and does what it says.
func (w *world) shape() {
	hosts := make(map[string]shaping.Amount, len(w.free))
	for i := range w.free {
		hosts[strconv.Itoa(i)] = shaping.Amount{machineGB}
	}
	apps, places := make([]shaping.App, len(w.running)), make([][]int, len(w.running))
	for n, r := range w.running {
		future, variance := w.foretold(r)
		a := shaping.App{ID: strconv.Itoa(r.id)}
		for i, host := range r.hosts {
			c := shaping.Component{Host: strconv.Itoa(host), Requested: shaping.Amount{r.request},
				Future: shaping.Amount{future}, Variance: shaping.Amount{variance}, Age: float64(len(r.hosts) - i)}
			switch {
			case host < 0:
			case i < r.core:
				a.Core = append(a.Core, c)
			default:
				a.Elastic, places[n] = append(a.Elastic, c), append(places[n], i)
			}
		}
		apps[n] = a
	}
	plan := w.plan(hosts, apps, w.Params)
	was := slices.Clone(w.running)
	for _, ref := range plan.Release {
		n, _ := slices.BinarySearchFunc(was, ref.App, byID)
		w.lose(was[n], places[n][ref.Index])
	}
	for _, id := range plan.Preempt {
		n, _ := slices.BinarySearchFunc(was, id, byID)
		w.again(was[n], preempted)
	}
	for _, r := range w.running {
		w.resize(r, plan.Resize[shaping.Ref{App: strconv.Itoa(r.id)}][0])
	}
}

// byID finds a run by the name of its application.
func byID(r *run, id string) int {
	n, _ := strconv.Atoi(id)
	return cmp.Compare(r.id, n)
}

// resize gives r's components that size.
func (w *world) resize(r *run, size float64) {
	for _, host := range r.hosts {
		if host >= 0 {
			w.free[host] += r.size - size
		}
	}
	r.size = size
}

// foretold is what a component of r will use in the next period, and the variance of that.
func (w *world) foretold(r *run) (mean, variance float64) {
	switch {
	case w.Policy == "none" || w.K1 >= 1 || r.failures >= mostFailures:
		return r.request, 0
	case w.predict == nil:
		return r.request * r.course.at(r.periods+1), 0
	}
	known := r.course.samples[:r.periods+1]
	mean, variance, _ = w.predict(known[max(0, len(known)-recent):]) // Where nothing can be foretold it is that of peak.
	return r.request * max(0, mean), r.request * r.request * variance
}

// name is the case's.
func (c Config) name() string {
	if c.Policy == "none" {
		return c.Policy
	}
	return fmt.Sprintf("%s %s %.2f %g", c.Policy, c.Forecast, c.K1, c.K2)
}
