package plant

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// Attach is what another cluster manager, as YARN, gives an application: the executors that its driver asks for.
type Attach struct {
	// Least and Most are how many executors the user allows. The driver asks for Most where no planner wants a number.
	Least, Most int
	// Wait is within what time the manager gives half of what is lacking, and then of the rest.
	Wait units.Seconds
}

// Manager is the other cluster manager as one driver meets it, nil where nodes start its executors. It spreads
// executors over Plant.Managed by their numbers.
type Manager struct {
	d         *Driver
	app       api.AppID
	random    *rand.Rand
	gives     des.Timer
	given     int
	executors []*Process // Living ones.
	held      float64    // Executor-seconds until at.
	at        units.Instant
}

func (p *Plant) newManager(d *Driver) *Manager {
	if d.App.Attach == nil {
		return nil
	}
	m := &Manager{d: d, random: des.Random(p.seed, "manager "+d.Submission)}
	m.gives = des.NewTimer(RankExecutor, d.ID, des.Call(m.give))
	return m
}

// lacks is how many executors the driver asks for beside those that stay.
func (m *Manager) lacks() int {
	if m.d.Stopped {
		return 0
	}
	n := cmp.Or(m.d.directive.Wanted, m.d.App.Attach.Most)
	for _, p := range m.executors {
		if !m.d.leaving(p) {
			n--
		}
	}
	return n
}

// look has m give some executors after a while, where some are lacking.
func (m *Manager) look() {
	switch {
	case m == nil:
	case m.lacks() <= 0:
		m.d.plant.clock.Cancel(&m.gives)
	case !m.gives.IsSet():
		now := m.d.plant.clock.Now()
		m.d.plant.clock.Set(&m.gives, des.Later(now, float64(m.d.App.Attach.Wait)*m.random.Float64()))
	}
}

func (m *Manager) give() {
	m.count()
	launch := api.Launch{Cores: m.d.App.ExecutorCores, TaskCPUs: m.d.App.TaskCPUs}
	m.d.App.Memory.Declare(&launch)
	for range (m.lacks() + 1) / 2 {
		m.given++
		on := m.d.plant.Managed[m.given%len(m.d.plant.Managed)]
		p := m.d.plant.Launch(on, m.d, node.Key{App: m.app, ID: api.ExecutorID(strconv.Itoa(m.given))}, &launch)
		p.Unsought = true
		m.executors = append(m.executors, p)
	}
	m.look()
}

// gone takes in that an executor has exited.
func (m *Manager) gone(p *Process) {
	if m == nil {
		return
	}
	m.count()
	m.executors = slices.DeleteFunc(m.executors, func(q *Process) bool { return q == p })
	m.look()
}

// count counts the executors until now, or until the context has stopped.
func (m *Manager) count() {
	if m == nil || m.d.Stopped {
		return
	}
	now := m.d.plant.clock.Now()
	m.held += float64(len(m.executors)) * des.Seconds(m.at, now)
	m.at = now
}

// Held is how many executors the application had in the mean, from its submission until its context stopped.
func (m *Manager) Held() float64 {
	if m == nil || m.d.Duration <= 0 {
		return 0
	}
	return m.held / float64(m.d.Duration)
}

// arrival is what a driver tells of p: where another manager has started it a planner has to hear where that is.
func (p *Process) arrival() *api.ExecutorEvent {
	if p.Driver.App.Attach == nil {
		return &api.ExecutorEvent{ID: p.Key.ID}
	}
	return &api.ExecutorEvent{ID: p.Key.ID, Host: p.Machine.Name, Machine: p.Machine.Boot(), Cores: p.slots}
}
