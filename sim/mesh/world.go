package mesh

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/mesh/probe"
	"github.com/sparkpacer/pacer/units"
)

// Config is a cluster.
type Config struct {
	// Workers and Schedulers are how many there are.
	Workers, Schedulers int
	Seed                uint64
	// Shape has what Eagle knows of the trace: the first of Shapes where it is none.
	Shape Shape
	// Rules are the readings of the switches of package probe.
	Rules probe.Rules
	// Round is how long a worker collects probes that it hands on.
	Round time.Duration
	// Network is what becomes of messages. Faults says that the engines expect it to lose some, and workers to crash.
	Network des.Delays
	Faults  bool
	// Kill is how many workers crash at KillAt.
	Kill   int
	KillAt time.Duration
	// Limit is when the world ends: a job that has not completed took 0 then. It is none where it is 0.
	Limit time.Duration
	// Stop, when it is closed, ends the world with des.ErrStopped.
	Stop <-chan struct{}
}

// Default is the source's simulated cluster (section 3.7): rounds of a second, 5 ms for a message.
func Default(workers int) Config {
	return Config{Workers: workers, Schedulers: 10, Round: time.Second, Network: des.Delays{Delay: 5 * time.Millisecond},
		Shape: Shapes()[0]}
}

// Validate reports every fault of c at once.
func (c Config) Validate() error {
	faults := []error{c.Network.Validate()}
	if c.Workers < 1 || c.Schedulers < 1 || c.Round <= 0 {
		faults = append(faults, fmt.Errorf("%d workers, %d schedulers, rounds of %v: want more than 0", c.Workers,
			c.Schedulers, c.Round))
	}
	if c.Kill < 0 || c.Kill >= c.Workers && c.Kill > 0 {
		faults = append(faults, fmt.Errorf("%d of %d workers crash: want one to live", c.Kill, c.Workers))
	}
	return errors.Join(faults...)
}

// Outcome is what became of jobs.
type Outcome struct {
	// Took is what each job took from its submission to the end of its last task.
	Took []time.Duration
	// Hops are how often probes have been handed on; JobHops count those of a job in one message once, as the source.
	Hops, JobHops uint64
	// Noops are questions for a task that needed nobody any more.
	Noops  uint64
	Events uint64
	// Counted is P and W as the schedulers know them at the end.
	Counted probe.Count
}

// world is what systems share.
type world struct {
	Config
	clock des.Clock
	jobs  []Job
	rand  *rand.Rand
	left  int // Jobs that have not completed.
	out   Outcome
	fault error
}

// system decides where the tasks of a job run.
type system interface {
	// arrive takes a job. The system says when it has completed.
	arrive(job int)
	// crash ends so many workers.
	crash(n int)
	// conclude says what is known in the end.
	conclude(*Outcome)
}

// systems is where a system is entered.
var systems = []struct {
	name string
	make func(*world) (system, error)
}{
	{"peacock", newPeacock},
	{"no-rotation", with("rotation off")},
	{"fifo", with("queue fifo")},
	{"lifo", with("queue lifo")},
	{"sparrow", newSparrow},
	{"eagle", newEagle},
	{"eagle-thesis", newEagleThesis},
	{"eagle-author", newEagleAuthor},
}

// with is peacock with a choice of its rules.
func with(choice string) func(*world) (system, error) {
	return func(w *world) (s system, err error) {
		if w.Rules, err = w.Rules.With(choice); err != nil {
			return nil, err
		}
		return newPeacock(w)
	}
}

// Systems are the names of those that there are.
func Systems() (names []string) {
	for _, s := range systems {
		names = append(names, s.name)
	}
	return names
}

// Run has the jobs, which it only reads, go through a system.
func Run(name string, c Config, jobs []Job) (Outcome, error) {
	i := slices.Index(Systems(), name)
	if i < 0 {
		return Outcome{}, fmt.Errorf("no system %q: want one of %s", name, strings.Join(Systems(), ", "))
	}
	if err := c.Validate(); err != nil {
		return Outcome{}, err
	}
	w := &world{Config: c, jobs: jobs, rand: des.Random(c.Seed, name), left: len(jobs)}
	w.out.Took = make([]time.Duration, len(jobs))
	s, err := systems[i].make(w)
	if err != nil {
		return Outcome{}, err
	}
	return w.run(s)
}

func (w *world) run(s system) (Outcome, error) {
	const rankOfArrivals = 255
	var next func()
	n := 0
	next = func() {
		job := n
		if n++; n < len(w.jobs) {
			w.clock.At(w.jobs[n].Arrival, rankOfArrivals, 0, next)
		}
		s.arrive(job)
	}
	if len(w.jobs) > 0 {
		w.clock.At(w.jobs[0].Arrival, rankOfArrivals, 0, next)
	}
	if w.Kill > 0 {
		w.after(w.KillAt, func() { s.crash(w.Kill) })
	}
	for w.left > 0 && w.fault == nil && (w.Limit == 0 || w.clock.Now() < units.Instant(w.Limit)) {
		if w.clock.Events()%4096 == 0 {
			select {
			case <-w.Stop:
				return w.out, des.ErrStopped
			default:
			}
		}
		switch more, err := w.clock.Turn(des.Never); {
		case err != nil:
			return w.out, err
		case !more:
			return w.out, fmt.Errorf("%d jobs never complete", w.left)
		}
	}
	s.conclude(&w.out)
	w.out.Events = w.clock.Events()
	return w.out, w.fault
}

// completed takes the end of a job.
func (w *world) completed(job int) {
	w.out.Took[job] = w.clock.Now().Sub(w.jobs[job].Arrival)
	w.left--
}

func (w *world) after(d time.Duration, f func()) { w.clock.After(d, 0, 0, f) }

// rest has a world go on for a while after its last job, as its schedulers do.
func (w *world) rest(d time.Duration) error { return w.clock.Pass(w.clock.Now() + units.Instant(d)) }
