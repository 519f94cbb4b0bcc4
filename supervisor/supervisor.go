package supervisor

import (
	"fmt"
	"math"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Stage is one stage executor of the node.
type Stage struct {
	Key      api.StageKey
	Executor api.ExecutorID
	// Request is rc, in cores. What is no amount of cores counts as 0, Unlimited
	// as all that it can use.
	Request units.Cores
	// Runnable is the number of its unfinished tasks, at most its task slots:
	// the most that it can use, in cores.
	Runnable int
}

// App is an application with its stages on the node.
type App struct {
	ID api.AppID
	// HasDeadline says that TTC counts; applications without come last.
	HasDeadline bool
	// TTC is the time until its deadline; negative when that has passed.
	TTC units.Seconds
	// Rate is its average nominal rate (anr of section 6.2), which Speed divides
	// by; what is no positive number counts as unknown.
	Rate   units.Rate
	Stages []Stage
}

// Supervisor divides a node's cores. It keeps nothing but scratch space between
// calls, and is not safe for concurrent use.
type Supervisor struct {
	cfg      Config
	strategy strategy

	demands []demand
	totals  []total
}

// total sums up one application's stages, in cores.
type total struct {
	floor, want, use, grant float64
}

// New returns a supervisor, or every fault of cfg.
func New(cfg Config) (*Supervisor, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("new supervisor: %w", err)
	}
	how, _ := findStrategy(cfg.Strategy) // Valid, so it is there.
	return &Supervisor{cfg: cfg, strategy: how}, nil
}

// Divide appends one grant per stage to grants, in the order of apps and their
// stages (Eq 21 in the two levels of the package documentation). The grants sum
// up to at most capacity and none is above its stage's Runnable. They depend on
// the order of apps only through which grant comes first. It does not allocate
// once its scratch space and grants are large enough.
func (s *Supervisor) Divide(capacity units.Cores, apps []App, grants []units.Cores) []units.Cores {
	room := float64(amount(capacity))
	s.totals = s.totals[:0]
	var floors, wants float64
	for i := range apps {
		t := s.total(apps[i].Stages)
		s.totals = append(s.totals, t)
		floors += t.floor
		wants += t.want
	}
	switch {
	case floors >= room && wants > room:
		for i := range s.totals {
			s.totals[i].grant = s.totals[i].floor * room / floors
		}
	case s.strategy.beyond && wants > room:
		s.blend(room-floors, 1, apps)
	case s.strategy.beyond:
		s.blend(room-floors, s.cfg.Gamma, apps)
	case wants <= room && s.cfg.Eq21 == Eq21Printed:
		s.blend(room-floors, s.cfg.Gamma, apps)
	case wants <= room:
		s.serve(room-wants, apps)
	default:
		s.arbitrate(room-floors, apps)
	}
	for i := range apps {
		grants = s.split(apps[i].Stages, s.totals[i], grants)
	}
	return grants
}

// serve grants every request and gamma of what is left, in the strategy's way.
func (s *Supervisor) serve(left float64, apps []App) {
	for i := range s.totals {
		s.totals[i].grant = s.totals[i].want
	}
	if s.cfg.Gamma == 0 {
		return
	}
	var rooms float64
	for i, t := range s.totals {
		s.enter(i, apps[i], t.want, t.use-t.want)
		rooms += t.use - t.want
	}
	s.share(min(left, rooms), s.cfg.Gamma, apps)
}

// arbitrate gives the floors, then the rest in the strategy's way.
func (s *Supervisor) arbitrate(left float64, apps []App) {
	for i, t := range s.totals {
		s.totals[i].grant = t.floor
		s.enter(i, apps[i], t.want-t.floor, t.want-t.floor)
	}
	s.share(left, 1, apps)
}

// blend is Eq 21 as printed: it gives part of what the strategy makes of the whole
// node, floors apart, and the rest of each request.
func (s *Supervisor) blend(left, part float64, apps []App) {
	var rooms float64
	for i, t := range s.totals {
		s.totals[i].grant = part*t.floor + (1-part)*t.want
		most := t.use
		if s.strategy.within {
			most = t.want
		}
		s.enter(i, apps[i], t.want-t.floor, most-t.floor)
		rooms += most - t.floor
	}
	s.share(min(left, rooms), part, apps)
}

// farthest bounds a time to completion, so that differences stay exact enough: 30
// years.
const farthest units.Seconds = 1e9

// enter adds an application to the division.
func (s *Supervisor) enter(i int, app App, request, room float64) {
	if i == 0 {
		s.demands = s.demands[:0]
	}
	ttc := min(max(app.TTC, -farthest), farthest)
	if math.IsNaN(float64(ttc)) {
		ttc = 0
	}
	rate := app.Rate
	if !(rate > 0) || math.IsInf(float64(rate), 0) {
		rate = 0
	}
	s.demands = append(s.demands, demand{
		index: i, id: app.ID, hasDeadline: app.HasDeadline, ttc: ttc, rate: rate,
		request: request, room: max(0, room),
	})
}

// share divides left and adds part of it to the grants.
func (s *Supervisor) share(left, part float64, apps []App) {
	if len(apps) == 0 {
		return
	}
	s.strategy.divide(left, s.demands)
	for _, d := range s.demands {
		s.totals[d.index].grant += part * d.taken
	}
}

// total sums up what stages need, ask for and can use.
func (s *Supervisor) total(stages []Stage) (t total) {
	for i := range stages {
		floor, want, use := s.bounds(&stages[i])
		t.floor += floor
		t.want += want
		t.use += use
	}
	return t
}

// bounds returns the least, the request and the most of one stage, in this order
// of size. A stage without runnable tasks has no part in the division.
func (s *Supervisor) bounds(stage *Stage) (floor, want, use float64) {
	use = float64(max(0, stage.Runnable))
	floor = min(float64(s.cfg.Floor), use)
	want = min(max(float64(amount(stage.Request)), floor), use)
	return floor, want, use
}

// split divides an application's grant among its stages: a shortage in
// proportion to what each asks for above its floor, a surplus in proportion to
// what each could still use.
func (s *Supervisor) split(stages []Stage, t total, grants []units.Cores) []units.Cores {
	for i := range stages {
		floor, want, use := s.bounds(&stages[i])
		var grant float64
		switch {
		case t.grant >= t.want:
			grant = want + ratio(t.grant-t.want, t.use-t.want)*(use-want)
		case t.grant >= t.floor:
			grant = floor + ratio(t.grant-t.floor, t.want-t.floor)*(want-floor)
		default:
			grant = ratio(t.grant, t.floor) * floor
		}
		grants = append(grants, units.Cores(grant))
	}
	return grants
}

// ratio is a/b limited to [0, 1], 0 when b is not positive.
func ratio(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return min(1, max(0, a/b))
}

// amount is c where it is an amount of cores, otherwise 0.
func amount(c units.Cores) units.Cores {
	if !(c > 0) {
		return 0
	}
	return c
}
