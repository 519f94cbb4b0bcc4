package supervisor

import (
	"fmt"
	"math"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// Stage is one stage executor of the node.
type Stage struct {
	Key      api.StageKey
	Executor api.ExecutorID
	// Request is rc, in cores. A value that is no amount of cores counts as 0, Unlimited as all that it can use.
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
	Rate units.Rate
	// Least is the least cores of the node with which its deadline can be kept from now on;
	// what is no positive number counts as unknown.
	Least units.Cores
	// Behind says that under Auto it comes after those that are not.
	Behind bool
	// Cap is the most that its stages get together, in cores; what is no positive number is
	// no cap.
	Cap units.Cores
	// Shares says that it has no deadline that can be kept: with the others that have none it shares what those leave who
	// have one, in proportion to Weight. A Weight that is no positive number counts as 1.
	Shares bool
	Weight float64
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
	givenUp                 bool
}

// add takes an application into a sum.
func (t *total) add(of total) {
	t.floor += of.floor
	t.want += of.want
	t.use += of.use
}

// upTo is t with no more than a cap.
func (t total) upTo(most units.Cores) total {
	if c := float64(amount(most)); c > 0 {
		t.floor, t.want, t.use = min(t.floor, c), min(t.want, c), min(t.use, c)
	}
	return t
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
	var first, rest total
	for i := range apps {
		t := s.total(apps[i].Stages).upTo(apps[i].Cap)
		s.totals = append(s.totals, t)
		if apps[i].Shares {
			rest.add(t)
		} else {
			first.add(t)
		}
	}
	if floors := first.floor + rest.floor; floors >= room && first.want+rest.want > room {
		for i := range s.totals {
			s.totals[i].grant = s.totals[i].floor * room / floors
		}
	} else {
		kept := rest.want // Cores that the others cannot have.
		if !math.IsInf(room, 1) {
			kept = max(rest.floor, min(rest.want, float64(s.cfg.FloorShare)*room))
		}
		mine := max(room-kept, first.floor)
		s.promise(mine, first, apps)
		left := s.leave(room-s.granted(apps), apps)
		if first.want <= mine && !s.whole() {
			s.surplus(left, apps)
		}
	}
	for i := range apps {
		grants = s.split(apps[i].Stages, s.totals[i].grant, grants)
	}
	return grants
}

// GaveUp reports whether apps[i] of the last division came after others that are short (Auto).
func (s *Supervisor) GaveUp(i int) bool { return s.totals[i].givenUp }

// InOrder reports whether the strategy serves one application after the other: of a shortage
// the first of them has nothing to give.
func (s *Supervisor) InOrder() bool { return s.strategy.inOrder }

// whole reports whether ac of Eq 21 is made of the whole node: gamma has its part in
// what is promised then.
func (s *Supervisor) whole() bool { return s.strategy.beyond || s.cfg.Eq21 == Eq21Printed }

// promise divides room among the applications with a deadline that can be kept, which need
// and ask for first.
func (s *Supervisor) promise(room float64, first total, apps []App) {
	switch {
	case s.strategy.beyond && first.want > room:
		s.blend(room-first.floor, 1, apps)
	case s.strategy.beyond || first.want <= room && s.whole():
		s.blend(room-first.floor, s.cfg.Gamma, apps)
	case first.want <= room:
		s.blend(0, 0, apps)
	default:
		s.arbitrate(room-first.floor, apps)
	}
}

// granted is what those have who have a deadline that can be kept.
func (s *Supervisor) granted(apps []App) (sum float64) {
	for i, t := range s.totals {
		if !apps[i].Shares {
			sum += t.grant
		}
	}
	return sum
}

// leave divides left among those who share, floors first and up to their requests, and
// returns what they leave.
func (s *Supervisor) leave(left float64, apps []App) float64 {
	s.demands = s.demands[:0]
	var rooms float64
	for i := range apps {
		if t := &s.totals[i]; apps[i].Shares {
			t.grant = t.floor
			left -= t.floor
			s.enter(i, apps[i], t.want-t.floor, t.want-t.floor)
			s.demands[len(s.demands)-1].weight = weight(apps[i])
			rooms += t.want - t.floor
		}
	}
	left = max(0, left)
	byWeight(min(left, rooms), s.demands)
	for _, d := range s.demands {
		s.totals[d.index].grant += d.taken
		left -= d.taken
	}
	return max(0, left)
}

// weight is a's part among those who share.
func weight(a App) float64 {
	if !(a.Weight > 0) || math.IsInf(a.Weight, 0) {
		return 1
	}
	return a.Weight
}

// surplus adds gamma of what is left to requests that are granted, in the strategy's way.
// No application is behind where there is more than all ask for.
func (s *Supervisor) surplus(left float64, apps []App) {
	if s.cfg.Gamma == 0 {
		return
	}
	s.demands = s.demands[:0]
	var rooms float64
	for i, t := range s.totals {
		if !apps[i].Shares {
			s.enter(i, apps[i], t.want, t.use-t.want)
			d := &s.demands[len(s.demands)-1]
			d.least, d.behind = 0, false
			rooms += t.use - t.want
		}
	}
	s.share(min(left, rooms), s.cfg.Gamma)
}

// arbitrate gives the floors, then the rest in the strategy's way.
func (s *Supervisor) arbitrate(left float64, apps []App) {
	s.demands = s.demands[:0]
	for i, t := range s.totals {
		if !apps[i].Shares {
			s.totals[i].grant = t.floor
			s.enter(i, apps[i], t.want-t.floor, t.want-t.floor)
		}
	}
	s.share(left, 1)
}

// blend is Eq 21 as printed: it gives part of what the strategy makes of the whole
// node, floors apart, and the rest of each request; with part 0 each request.
func (s *Supervisor) blend(left, part float64, apps []App) {
	s.demands = s.demands[:0]
	var rooms float64
	for i, t := range s.totals {
		if apps[i].Shares {
			continue
		}
		s.totals[i].grant = part*t.floor + (1-part)*t.want
		if part == 0 {
			continue
		}
		most := t.use
		if s.strategy.within {
			most = t.want
		}
		s.enter(i, apps[i], t.want-t.floor, most-t.floor)
		rooms += most - t.floor
	}
	s.share(min(left, rooms), part)
}

// farthest bounds a time to completion, so that differences stay exact enough: 30
// years.
const farthest units.Seconds = 1e9

// enter adds an application to the division.
func (s *Supervisor) enter(i int, app App, request, room float64) {
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
		request: request, room: max(0, room), least: s.least(i, app),
		behind: app.Behind && s.strategy.name == Auto,
	})
}

// least is what an application needs above its floor, 0 where that is not known.
func (s *Supervisor) least(i int, app App) float64 {
	least := float64(amount(app.Least))
	if least == 0 || math.IsInf(least, 1) {
		return 0
	}
	return max(least-s.totals[i].floor, leastNeed)
}

// leastNeed stands for a need that the floor covers.
const leastNeed = 1e-9

// share divides left in the strategy's way among those who have entered, and adds part of
// it to the grants.
func (s *Supervisor) share(left, part float64) {
	if len(s.demands) == 0 {
		return
	}
	divide := s.strategy.divide
	if s.cfg.Eq21 == Eq21Printed && s.strategy.printed != nil {
		divide = s.strategy.printed
	}
	divide(left, s.demands, sharing.Of(s.cfg.Sharing).Doubts)
	for _, d := range s.demands {
		t := &s.totals[d.index]
		t.grant += part * d.taken
		t.givenUp = d.behind
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
func (s *Supervisor) split(stages []Stage, grant float64, grants []units.Cores) []units.Cores {
	t := s.total(stages)
	for i := range stages {
		floor, want, use := s.bounds(&stages[i])
		var part float64
		switch {
		case grant >= t.want:
			part = want + ratio(grant-t.want, t.use-t.want)*(use-want)
		case grant >= t.floor:
			part = floor + ratio(grant-t.floor, t.want-t.floor)*(want-floor)
		default:
			part = ratio(grant, t.floor) * floor
		}
		grants = append(grants, units.Cores(part))
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
