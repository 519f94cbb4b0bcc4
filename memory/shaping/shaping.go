package shaping

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
)

// Amount is how much of each kind of resource there is, such as cores and bytes.
type Amount []float64

// minus takes other from the amount, in place.
func (a Amount) minus(other Amount) {
	for i := range a {
		a[i] -= other[i]
	}
}

// Component is a part of an application on a host.
type Component struct {
	Host string
	// Requested is what was reserved for it; Future and Variance are the forecast of what it uses, and its variance.
	Requested, Future, Variance Amount
	// Age is how long it has lived, in any unit.
	Age float64
}

// App is an application: without its core components it cannot run, without elastic ones it is slower.
type App struct {
	ID            string
	Core, Elastic []Component
}

// Params are the numbers of a buffer (Eq 4.3).
type Params struct {
	// K1 is the part of the request that is always kept, K2 by how many standard deviations of the forecast more.
	// The source chose 0.05 and 3 by its simulator.
	K1, K2 float64
	// Variance takes the variance itself for the standard deviation, as the equation is printed.
	Variance bool
}

// DefaultParams are those that the source chose.
var DefaultParams = Params{K1: 0.05, K2: 3}

// Ref names a component: the application's, and its place among the core or the elastic ones.
type Ref struct {
	App     string
	Elastic bool
	Index   int
}

// Plan is what becomes of the components.
type Plan struct {
	// Resize is the new size of each component that stays.
	Resize map[Ref]Amount
	// Release are the elastic components that go, in the order of the applications and the oldest first; Preempt
	// are the applications that go whole.
	Release []Ref
	Preempt []string
}

// Policy makes a plan of applications in the order in which they may keep what they have, the first one first.
type Policy func(hosts map[string]Amount, apps []App, p Params) Plan

// policies is the table.
var policies = map[string]Policy{"none": none, "optimistic": optimistic, "pessimistic": Pessimistic}

// Named returns the policy of that name, or an error that lists the names.
func Named(name string) (Policy, error) {
	if p := policies[name]; p != nil {
		return p, nil
	}
	return nil, api.Errorf(api.KindInvalid, "shaping policy %q is unknown: one of %s", name,
		strings.Join(slices.Sorted(maps.Keys(policies)), ", "))
}

// Size is what a component is given: its forecast with the buffer (Eq 4.3), at most what it requested. A forecast
// or a variance that is no number gives the request.
func (p Params) Size(c Component) Amount {
	size := make(Amount, len(c.Requested))
	for i, requested := range c.Requested {
		spread := c.Variance[i]
		if !p.Variance {
			spread = math.Sqrt(spread)
		}
		if size[i] = c.Future[i] + p.K1*requested + p.K2*spread; !(size[i] <= requested) {
			size[i] = requested
		}
	}
	return size
}

// none leaves every component what it requested.
func none(_ map[string]Amount, apps []App, _ Params) Plan {
	return resized(apps, func(c Component) Amount { return slices.Clone(c.Requested) })
}

// optimistic resizes every component and takes no action where they do not fit.
func optimistic(_ map[string]Amount, apps []App, p Params) Plan { return resized(apps, p.Size) }

func resized(apps []App, size func(Component) Amount) Plan {
	plan := Plan{Resize: map[Ref]Amount{}}
	for _, a := range apps {
		for i, c := range a.Core {
			plan.Resize[Ref{a.ID, false, i}] = size(c)
		}
		for i, c := range a.Elastic {
			plan.Resize[Ref{a.ID, true, i}] = size(c)
		}
	}
	return plan
}

// Pessimistic is Algorithm 3: application by application, first its core components and then its elastic ones from
// the longest-lived to the youngest, each takes its size of its host. An application whose core components do not
// all fit is preempted and the scan goes on; an elastic component that does not fit is released. The components that
// stay fit every host, where a component on a host that is not among hosts never fits.
func Pessimistic(hosts map[string]Amount, apps []App, p Params) Plan {
	plan, free := Plan{Resize: map[Ref]Amount{}}, map[string]Amount{}
	for name, total := range hosts {
		free[name] = slices.Clone(total)
	}
	for _, a := range apps {
		if !takeCore(free, a, p, plan.Resize) {
			plan.Preempt = append(plan.Preempt, a.ID)
			continue
		}
		for _, i := range oldestFirst(a.Elastic) {
			c, ref := a.Elastic[i], Ref{a.ID, true, i}
			size, left := p.Size(c), slices.Clone(free[c.Host])
			if left != nil {
				left.minus(size)
			}
			if left == nil || slices.Min(left) <= 0 {
				plan.Release = append(plan.Release, ref)
				continue
			}
			free[c.Host], plan.Resize[ref] = left, size
		}
	}
	return plan
}

// takeCore takes the sizes of an application's core components from what is free and writes them down, all or none.
func takeCore(free map[string]Amount, a App, p Params, sizes map[Ref]Amount) bool {
	left := map[string]Amount{}
	for _, c := range a.Core {
		if left[c.Host] == nil {
			left[c.Host] = slices.Clone(free[c.Host])
		}
		if left[c.Host] == nil {
			return false
		}
		if left[c.Host].minus(p.Size(c)); slices.Min(left[c.Host]) < 0 {
			return false
		}
	}
	maps.Copy(free, left)
	for i, c := range a.Core {
		sizes[Ref{a.ID, false, i}] = p.Size(c)
	}
	return true
}

// oldestFirst are the places of components, the longest-lived first.
func oldestFirst(all []Component) []int {
	places := make([]int, len(all))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(all[b].Age, all[a].Age) })
	return places
}

// Validate reports the first amount whose kinds are not as many as kinds, and one that is negative.
func (a App) Validate(kinds int) error {
	for _, c := range slices.Concat(a.Core, a.Elastic) {
		for _, amount := range []Amount{c.Requested, c.Future, c.Variance} {
			if len(amount) != kinds || kinds > 0 && slices.Min(amount) < 0 {
				return fmt.Errorf("shaping %s on %s: %v is not %d amounts of which none is negative", a.ID, c.Host,
					amount, kinds)
			}
		}
	}
	return nil
}
