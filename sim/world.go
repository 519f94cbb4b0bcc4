package sim

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// NodeSpec describes a node.
type NodeSpec struct {
	Name string
	// Cores is what the machine has, Offered what Pacer may give away (0: all).
	Cores, Offered units.Cores
	Memory         units.Bytes // 0: 112 GiB.
	// Speed multiplies the rate of its executors (0: 1); Others are the cores
	// that other programs take.
	Speed  float64
	Others units.Cores
	// Rates are those of its disks and its network, 0 for any number that nobody knows.
	Rates api.NodeRates
	// Attach says that its node controller starts no executors, and holds those of another cluster manager.
	Attach bool
}

// The ranks order what happens at one instant: the plant moves first, then what it
// shows is read, then what is said travels on.
const (
	rankFault   = plant.RankOutside
	rankDriver  = plant.RankDriver
	rankNet     = plant.RankRest
	rankNode    = plant.RankRest + 1
	rankPlanner = plant.RankRest + 2
)

// Config says what a world is like. Start from Default.
type Config struct {
	// Seed is all the randomness there is: the same Config and the same calls
	// give the same world, byte by byte.
	Seed uint64
	// Certainty is how likely applications want to be in time. 0 keeps nothing for what nobody foresees: one run at all
	// cores makes a profile here, and tables are of the equations.
	Certainty units.Fraction
	Nodes     []NodeSpec
	Planner   planner.Config
	// Node is what all node controllers have in common.
	Node  node.Config
	Plant plant.Config
	Net   des.Delays
	// Weights says that drivers tell the sizes of a shuffle's partitions, as the
	// jar does; the paper's counts tasks.
	Weights bool
	// Limit is how long the world may run, 0 for a day.
	Limit time.Duration
	// History, if not nil, gets all that happens as JSON lines: what Replay reads.
	History io.Writer
	// Stop, when it is closed, ends a Run with des.ErrStopped; nil for never.
	Stop <-chan struct{}
	// Title goes into the history's first line.
	Title string
	// Restarts says that node controllers may be restarted, so that what they save
	// has to be kept.
	Restarts bool
}

// Default is a world of four nodes of 16 cores, the paper's, with the daemons'
// default configuration on the default plant.
func Default() Config {
	c := Config{Seed: 1, Planner: planner.Default(), Node: node.Default(), Plant: plant.Default(), Net: des.QuietRack(),
		Weights: true}
	for i := range 4 {
		c.Nodes = append(c.Nodes, NodeSpec{Name: fmt.Sprintf("n%d", i+1), Cores: 16})
	}
	return c
}

// dayLimit is Config.Limit's default.
const dayLimit = 24 * time.Hour

// World is planner, nodes and drivers on virtual time. It is not safe for
// concurrent use.
type World struct {
	cfg     Config
	clock   des.Clock
	net     *des.Network
	plant   *plant.Plant
	control *control
	second  *control      // A planner beside control; mostly nil.
	stores  int           // Of planners, those that were lost too.
	skew    time.Duration // How far the planner's clock is from the world's.
	agents  []*agent      // In the order of Config.Nodes.
	drivers []*Driver
	groups  []*comer
	byURL   map[string]*Driver
	byName  map[string]*agent
	check   *check
	history *history
	pending int                // Applications that have not ended.
	scarce  bool               // Some have declared a heap.
	granted map[api.AppID]bool // Applications for which cores have been reserved.
	letters []*letter          // Statuses that have arrived, to be used again.
	err     error
}

// New returns a world at its first instant, or every fault of c.
func New(c Config) (*World, error) {
	w := &World{cfg: c, byURL: map[string]*Driver{}, byName: map[string]*agent{}, granted: map[api.AppID]bool{}}
	if w.cfg.Limit == 0 {
		w.cfg.Limit = dayLimit
	}
	if err := errors.Join(c.Plant.Validate(), c.Net.Validate()); err != nil {
		return nil, err
	}
	if len(c.Nodes) == 0 {
		return nil, errors.New("a world without nodes")
	}
	w.plant = plant.New(c.Plant, &w.clock, c.Seed)
	w.plant.Weights, w.plant.Exited = c.Weights, w.exited
	w.history = newHistory(w, c.History)
	w.check = &check{w: w, held: make(map[storeNode]units.Bytes), epochs: map[storeApp]uint64{},
		ended: map[storeApp]map[api.StageKey]bool{}, given: executorSet{}, gave: map[storeApp]units.Instant{},
		gets: map[api.AppID]bool{}}
	w.net = des.NewNetwork(&w.clock, rankNet, c.Seed, c.Net)
	w.control = newControl(w, w.storeName())
	if err := w.control.up(); err != nil {
		return nil, err
	}
	for i, spec := range c.Nodes {
		a := w.newAgent(uint64(i+1), spec)
		w.agents = append(w.agents, a)
		w.byName[spec.Name] = a
		if err := a.up(); err != nil {
			return nil, err
		}
	}
	return w, w.Pass(leadIn)
}

// leadIn is how long the nodes have to join before the first application comes.
const leadIn = 2 * time.Second

// Pass lets time pass, whether an application runs or not, and returns the first
// invariant that was broken.
func (w *World) Pass(d time.Duration) error {
	for end := w.clock.Now().Add(d); w.err == nil; {
		if !w.turn(end) {
			w.must(w.clock.Pass(end))
			break
		}
	}
	return w.err
}

// turn lets one event happen, if there is one by limit.
func (w *World) turn(limit units.Instant) bool {
	more, err := w.clock.Turn(limit)
	w.must(err)
	return more
}

// Submit has a driver start at the given time of the world, or now if that has
// passed.
func (w *World) Submit(at units.Seconds, a plant.App) (*Driver, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	d := w.newDriver(a)
	w.scarce = w.scarce || a.Memory.Heap > 0
	w.pending++
	w.clock.At(max(w.clock.Now(), units.Instant(at.Duration())), rankDriver, d.spark.ID, d.start)
	return d, nil
}

// Kill has the user of d's application end it at that time, or as soon as the planner knows
// it and answers, whether it runs or waits.
func (w *World) Kill(at units.Seconds, d *Driver) {
	w.clock.At(max(w.clock.Now(), units.Instant(at.Duration())), rankFault, 0, d.kill)
}

// kill asks the planner for the application's end, and again until it is answered.
func (d *Driver) kill() {
	if d.spark.Exited || d.refused != nil {
		return
	}
	if d.talk.Registered() {
		d.unwanted = true // A planner that dies before it answers may have saved it.
		if _, ok := d.w.control.query(api.VerbKill, api.ControlRequest{App: d.reply.AppID, User: "its user"}); ok {
			d.w.history.said("user", d.spark.App.Name, "kill "+string(d.reply.AppID))
			return
		}
	}
	d.w.clock.After(time.Second, rankFault, 0, d.kill)
}

// Run lets time pass until all applications have ended and the planner has their
// last figures. It returns the first invariant that was broken, with the seed.
func (w *World) Run() error {
	w.history.open()
	limit := units.Instant(w.cfg.Limit)
	for w.err == nil && w.pending > 0 {
		if w.clock.Events()%stopEvery == 0 {
			select {
			case <-w.cfg.Stop:
				w.err = des.ErrStopped
				continue
			default:
			}
		}
		if !w.turn(limit) {
			w.fail("application %s has not ended by %v", strings.Join(w.open(), ", "), w.clock.Now().Sub(0))
		}
	}
	if w.err == nil {
		w.check.final()
	}
	w.history.close()
	return w.err
}

// stopEvery is how many events pass between two looks at Config.Stop.
const stopEvery = 1 << 12

// open names the applications that have not ended, each once.
func (w *World) open() []string {
	var names []string
	for _, d := range w.drivers {
		if d.refused == nil && d.result == nil && !slices.Contains(names, d.spark.App.Name) {
			names = append(names, d.spark.App.Name)
		}
	}
	return names
}

// Events is how many events there have been.
func (w *World) Events() uint64 { return w.clock.Events() }

// Now is the time of the world.
func (w *World) Now() units.Seconds { return units.Seconds(des.Seconds(0, w.clock.Now())) }

// Apps asks the planner for all applications that it knows.
func (w *World) Apps() []api.AppSummary {
	r, _ := w.control.query(api.VerbApps, api.ControlRequest{})
	return r.Apps
}

// Profile asks the planner for a profile.
func (w *World) Profile(name string) (api.Profile, bool) {
	r, ok := w.control.query(api.VerbProfile, api.ControlRequest{Profile: name})
	if !ok || len(r.Profiles) == 0 {
		return api.Profile{}, false
	}
	return r.Profiles[0], true
}

// PutProfile gives the planner a profile.
func (w *World) PutProfile(p api.Profile) error {
	r, ok := w.control.query(api.VerbProfilePut, api.ControlRequest{Profile: p.Name, Body: &p})
	switch {
	case ok:
		return nil
	case r.Error != nil:
		return fmt.Errorf("put profile %s: %w", p.Name, r.Error)
	}
	return fmt.Errorf("put profile %s: the planner is down", p.Name)
}

// fail ends the world with the first fault, and the seed that gives it again.
func (w *World) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("seed %d, %.6f s, event %d: %s", w.cfg.Seed, des.Seconds(0, w.clock.Now()), w.clock.Events(),
			fmt.Sprintf(format, args...))
	}
}

// exited has the node controller notice that an executor is gone.
func (w *World) exited(p *plant.Process) {
	a := w.byName[p.Machine.Name]
	a.seen.changed = w.clock.Now()
	a.seen.died.put(p.Key, true)
	if a.engine != nil {
		w.clock.Set(&a.wake, w.clock.Now().Add(noticeExit))
	}
}
