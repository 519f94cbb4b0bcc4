package plant

import (
	"fmt"
	"math"
	"math/cmplx"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// The plant of the equations' tests: p and q of Eq 8, tasks that do not end.
const (
	poleP    = 0.3
	tickQ    = 500 * time.Millisecond
	tickS    = 0.5
	endless  = 1e5         // Core-seconds of a task.
	allTasks = 4 * endless // Do, for a Kf of 1.
)

// world is a plant without planner and node controllers: executors on machines of their
// own, and a driver that has them all from the beginning.
type world struct {
	t         testing.TB
	clock     *des.Clock
	plant     *Plant
	driver    *Driver
	executors []*Process
	said      []api.Event
}

// newWorld has an application run on so many machines of four cores, by that seed.
func newWorld(t testing.TB, c Config, seed uint64, a App, machines int) *world {
	t.Helper()
	w := &world{t: t, clock: &des.Clock{}}
	w.plant = New(c, w.clock, seed)
	w.plant.Weights = true
	var homes []*Machine
	directive := api.Directive{Epoch: 1, Gated: true}
	for i := range machines {
		m := Machine{Plant: w.plant, Name: fmt.Sprintf("n%d", i+1), ID: uint64(i + 1), Cores: 4, Speed: 1}
		homes = append(homes, &m)
		directive.Executors = append(directive.Executors, api.DirectiveExecutor{ID: api.ExecutorID(fmt.Sprint(i + 1)),
			Node: m.Name, Cores: 4})
	}
	w.driver = w.plant.NewDriver(a, 1, homes[0], func(e api.Event) { w.said = append(w.said, e) })
	w.driver.Start()
	w.driver.Registered(&api.RegisterReply{AppID: "app-1", Executors: machines})
	w.driver.Follow(&directive)
	for i, x := range directive.Executors {
		w.executors = append(w.executors, w.plant.Launch(homes[i], w.driver, node.Key{App: "app-1", ID: x.ID},
			&api.Launch{Cores: 4}))
	}
	return w
}

func (w *world) pass(d time.Duration) {
	w.t.Helper()
	if err := w.clock.Pass(w.clock.Now().Add(d)); err != nil {
		w.t.Fatal(err)
	}
}

// chain is an application of stages one after the other.
func chain(name string, stages, tasks int, work units.Work) App {
	a := App{Name: name, Head: 3, Tail: 0.3}
	for i := range stages {
		s := Stage{Tasks: tasks, Work: work, Records: 1_000_000, Written: 1_000_000, Gap: 0.1}
		if i > 0 {
			s.Parents = []int{i - 1}
		}
		a.Stages = append(a.Stages, s)
	}
	return a
}

// bench returns the only executor of a world, with four slots and as many tasks, under
// no node controller: its quota is the test's. Its plant is Eq 8's alone.
func bench(t *testing.T) *Process {
	t.Helper()
	w := newWorld(t, Config{Lag: poleP}, 1, chain("app", 1, 4, allTasks), 1)
	w.pass(10 * time.Second)
	if p := w.executors[0]; p.Running() != 4 {
		t.Fatalf("%d tasks run, want four", p.Running())
	}
	return w.executors[0]
}

// under lets the executor run under a quota and returns its rate at the end and how
// much it has done, in core-seconds.
func (p *Process) under(t *testing.T, cores float64, d time.Duration) (rate, done float64) {
	t.Helper()
	clock := p.Machine.Plant.clock
	p.SetQuota(cores)
	if err := clock.Pass(clock.Now().Add(d)); err != nil {
		t.Fatal(err)
	}
	p.advance(clock.Now())
	return p.has.eff, 4 * p.pace.service
}

// Eq 8-10 on the simulator's executor, whose f is linear with Kf = 1, under quotas that
// jump. Its rate is Eq 8's at each k. Its progress is an integral where Eq 9-10 sum up
// the rates at the intervals' beginnings: at c it is ahead by (q/(1-p) + q/ln p) c once
// the rate has settled, and it never gets further away.
func TestEq8To10OnTheSimulatorsPlant(t *testing.T) {
	p := bench(t)
	settled := func(c float64) float64 { return c * (tickS/(1-poleP) + tickS/math.Log(poleP)) }
	p.under(t, 1, 20*tickQ)
	rho, done := p.under(t, 1, tickQ)
	a := 100 * (done - settled(1)) / allTasks
	for _, level := range []struct {
		cores float64
		n     int
	}{{1, 2}, {3, 20}, {0.5, 3}, {4, 1}, {0.1, 2}, {2, 1}, {1, 20}} {
		for k := range level.n {
			a += 100 * tickS / allTasks * rho
			rho = poleP*rho + (1-poleP)*level.cores
			rate, done := p.under(t, level.cores, tickQ)
			if math.Abs(rate-rho) > 1e-3 {
				t.Errorf("interval %d at %v cores: the rate is %v, Eq 8 says %v", k, level.cores, rate, rho)
			}
			ahead := done - a*allTasks/100
			if math.Abs(ahead) > 4*tickS {
				t.Errorf("interval %d at %v cores: %v core-seconds ahead of Eq 10, more than an interval's", k, level.cores, ahead)
			}
			if k == 19 && math.Abs(ahead-settled(level.cores)) > 0.02 {
				t.Errorf("settled at %v cores: %v core-seconds ahead of Eq 10, want %v", level.cores, ahead, settled(level.cores))
			}
		}
	}
}

// What follows from Eq 8-10 for the loop: from cores to progress the plant is an
// integrator with a lag, mu_P/(s (1 + s tau_P)) of Eq 14-15. At the cut-off that Eq 16
// chooses the simulator's answers a sine wave with that gain, and with that phase, an
// interval's hold counted; so the law is tuned for what the simulator does.
func TestEq14To16HoldForTheSimulatorsPlant(t *testing.T) {
	const eta, mean, swing, periods = 10.0, 2.0, 1.0, 4
	tauP := tickS / (1 - poleP)
	w := 1 / (math.Sqrt(eta) * tauP)
	fine := time.Duration(2 * math.Pi / w / 64 * 1e9)
	p := bench(t)
	p.under(t, mean, 20*tickQ)
	_, from := p.under(t, mean, fine)
	var answer complex128
	for i := range 64 * (periods + 2) {
		at := fine.Seconds() * float64(i)
		_, done := p.under(t, mean+swing*math.Sin(w*(at+fine.Seconds()/2)), fine)
		at += fine.Seconds()
		if i < 2*64 { // It has to forget how it began.
			continue
		}
		ripple := done - from - mean*at
		answer += complex(ripple, 0) * cmplx.Exp(complex(0, -w*at)) * complex(0, 2.0/(64*periods*swing))
	}
	want := 1 / (complex(0, w) * (1 + complex(0, w*tauP)))
	if gain := cmplx.Abs(answer) / cmplx.Abs(want); math.Abs(gain-1) > 0.05 {
		t.Errorf("the gain at the cut-off is %.3f of Eq 14's", gain)
	}
	// A continuous lag of -q/ln p and half an interval of hold are what Eq 8's is.
	if off := cmplx.Phase(answer/want) - w*tickS/2; math.Abs(off) > 0.05 {
		t.Errorf("the phase at the cut-off is %.3f rad off Eq 14's", off)
	}
}
