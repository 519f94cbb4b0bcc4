package controller

import (
	"fmt"
	"math"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// Controller steers one stage executor. It is not safe for concurrent use.
type Controller struct {
	cfg Config
	law law
	s   State
	// interval is that of cfg, in seconds.
	interval float64
}

// New returns a controller whose first request continues from granted, the
// cores in force at the target's start: Eq 19 with c of Eq 7. Granted may be
// units.Unlimited.
func New(cfg Config, t Target, granted units.Cores) (*Controller, error) {
	c, err := build(cfg)
	if err != nil {
		return nil, err
	}
	if err := t.validate(); err != nil {
		return nil, fmt.Errorf("new controller: %w", err)
	}
	if err := notNegative("granted cores", granted); err != nil {
		return nil, fmt.Errorf("new controller: %w", err)
	}
	c.s.Law = cfg.Law
	c.s.Target = t.bounded()
	c.s.At, c.s.Done = t.Start, t.Done
	c.begin(granted)
	return c, nil
}

// Restore returns a controller that goes on where the one that wrote s stopped.
// With another law or other gains it starts from the cores in force, without a
// jump.
func Restore(cfg Config, s State) (*Controller, error) {
	c, err := build(cfg)
	if err != nil {
		return nil, err
	}
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("restore controller: %w", err)
	}
	c.s = s
	k, a := cfg.gains(s.Target.Weight, s.Target.Rate)
	// Gains that come from a measured rate (k = 0) are kept as they are.
	if s.Law != cfg.Law || (cfg.Law == LawPI && k > 0 && (k != s.K || a != s.A)) {
		c.s.Law = cfg.Law
		c.law.sync(&c.s, s.Granted, true)
	}
	return c, nil
}

func build(cfg Config) (*Controller, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &Controller{cfg: cfg, interval: cfg.Interval.Seconds()}
	c.law, _ = newLaw(&c.cfg)
	return c, nil
}

// begin sets all that belongs to a target's start.
func (c *Controller) begin(granted units.Cores) {
	s := &c.s
	a0, a := s.Target.setPoint(c.cfg.Phi, s.At), s.Target.fraction(s.Done)
	s.Granted = min(granted, manyCores)
	s.Error = (a0 - a).Percent()
	s.Output = Output{SetPoint: a0, Progress: a, Request: s.Granted}
	s.Estimate.seed(s.Target)
	c.law.sync(s, s.Granted, true)
}

// Step takes one measurement and decides (Eq 18 and the clamp). Once the set
// point has reached 1 the stage gets all that it can use. An input that is not
// a number, negative or older than the one before is refused: the error says
// why, the State stays as it is and the Output is the last good one. It does not
// allocate.
func (c *Controller) Step(in Input) (Output, error) {
	s := &c.s
	last := s.At
	if s.Steps == 0 {
		last = math.MinInt64 // The page may be older than the target.
	}
	if err := in.validate(last); err != nil {
		return s.Output, fmt.Errorf("controller step: %w", err)
	}
	before := *s
	out := c.step(&in)
	if !finite(float64(out.Request), s.XC, s.Error, float64(s.Level), s.Estimate.Gained, s.Estimate.Spent,
		s.Utilization.Got, s.Utilization.Had) {
		*s = before
		return s.Output, fmt.Errorf("controller step: done %v, used %v: the request overflows", in.Done, float64(in.Used))
	}
	return out, nil
}

func (c *Controller) step(in *Input) Output {
	s := &c.s
	a0, a := s.Target.setPoint(c.cfg.Phi, in.At), s.Target.fraction(in.Done)
	v := view{
		Input: *in, interval: c.interval, dt: in.Dt.Seconds(), setPoint: float64(a0), err: (a0 - a).Percent(),
		left: (c.cfg.Phi*float64(s.Target.Deadline.Sub(s.Target.Start)) - float64(in.At.Sub(s.Target.Start))) / float64(
			time.Second),
	}
	if in.Done < s.Done {
		// A failure took work back: no kick for it, the ramp's error stays.
		s.Error = v.err
		c.law.sync(s, s.Granted, false)
	}
	s.Estimate.update(&s.Target, s.Done, &v)
	s.Utilization.update(float64(s.Granted), &v)

	var want units.Cores
	if a0 >= 1 {
		want = manyCores
	} else {
		want = c.law.request(s, v)
	}
	request := want.Clamp(in.Min, max(in.Min, in.usable()))
	s.At, s.Done, s.Error = in.At, in.Done, v.err
	s.Steps++
	s.Granted = request
	if request != want {
		c.law.sync(s, request, false)
	}
	s.Output = Output{SetPoint: a0, Progress: a, Request: request, Clamped: request != want && a0 < 1}
	return s.Output
}

// Granted tells what is in force where it differs from the request by a cut or
// a failed write (Eq 19). Call it with the value before rounding to the quantum:
// synchronising with rounded values makes a dead zone. A value that is no
// amount of cores is ignored.
func (c *Controller) Granted(cc units.Cores) {
	if notNegative("grant", cc) != nil {
		return
	}
	c.s.Granted = min(cc, manyCores)
	c.law.sync(&c.s, c.s.Granted, false)
}

// Retarget takes a new target (a new Rev of the planner's) without a jump:
// requests go on from granted, what was learned about the rate is kept. A target
// that is not valid is ignored.
func (c *Controller) Retarget(t Target, granted units.Cores) {
	if t.validate() != nil || notNegative("granted cores", granted) != nil {
		return
	}
	c.s.Target = t.bounded()
	c.begin(granted)
}

// State returns a copy of all that the controller remembers.
func (c *Controller) State() State { return c.s }

func (s State) validate() error {
	if err := s.Target.validate(); err != nil {
		return err
	}
	if !finite(float64(s.Target.Init), float64(s.Granted), float64(s.Output.Request), s.Done, s.Error, s.XC, s.K, s.A,
		float64(s.Level),
		s.Estimate.Gained, s.Estimate.Spent, s.Estimate.Hidden, s.Estimate.Stalled, s.Utilization.Got, s.Utilization.Had) {
		return fmt.Errorf("state holds numbers that are not finite")
	}
	return nil
}

func finite(values ...float64) bool {
	zero := 0.0
	for _, v := range values {
		zero += 0 * v // Infinities and NaN, and nothing else, make it NaN.
	}
	return zero == 0
}
