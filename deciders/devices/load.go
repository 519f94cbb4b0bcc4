package devices

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Use is what a stage wants of each node of its application: rates while it runs, in seconds from now, and cores.
type Use struct {
	Span
	Stage int
	Cores units.Cores
}

// Moved is what is left to move of a stage, by device, where that is known.
type Moved struct {
	Bytes Rates
	Known bool
}

// Load is a node's devices and what others want of them.
type Load struct {
	Node   string
	Rates  Rates
	Others []Neighbour
}

// Neighbour is an application with what it wants of a node: no more than there is of each device, and the most cores of
// its stages.
type Neighbour struct {
	App   api.AppID
	Spans []Span
	Cores units.Cores
}

// Beside is a neighbour whose stages want that of a node whose devices have these rates.
func Beside(app api.AppID, uses []Use, rates Rates) Neighbour {
	n := Neighbour{App: app, Spans: make([]Span, 0, len(uses))}
	for _, u := range uses {
		u.Rate = u.Rate.Within(rates)
		n.Spans, n.Cores = append(n.Spans, u.Span), max(n.Cores, u.Cores)
	}
	return n
}

// Spans are those of all others.
func (l *Load) Spans() (all []Span) {
	for i := range l.Others {
		all = append(all, l.Others[i].Spans...)
	}
	return all
}

// Cores are those of all others together.
func (l *Load) Cores() (cores units.Cores) {
	for i := range l.Others {
		cores += l.Others[i].Cores
	}
	return cores
}

// Slowest is the device that a stage waits for longest that begins at a moment, in seconds from now, on nodes that are
// loaded like that, and for how long; nil where no device is known to be. Each node has an equal part of the bytes.
func Slowest(m Moved, from float64, loads []Load) (at *Place, most units.Seconds) {
	for i := range loads {
		l := &loads[i]
		others := l.Spans()
		for d, bytes := range m.Bytes.Over(float64(len(loads))) {
			if bytes <= 0 {
				continue
			}
			if time := units.Seconds(Drain(bytes, from, l.Rates[d], d, others)); time > most {
				most, at = time, &Place{Node: l.Node, Device: d, load: l, from: from}
			}
		}
	}
	return at, most
}

// Place is a device of a node, as a stage finds it.
type Place struct {
	Node   string
	Device int
	load   *Load
	from   float64
}

// Name is the device's: node-2's disk.
func (p *Place) Name() string { return p.Node + "'s " + Names[p.Device] }

// Neighbour is the application that takes most of the device beside the stage, and the part of it that it takes while
// the stage runs for that time.
func (p *Place) Neighbour(time units.Seconds) (app api.AppID, part float64) {
	rate := p.load.Rates[p.Device]
	for _, n := range p.load.Others {
		taken := 0.0
		for _, s := range n.Spans {
			begin := max(s.From, p.from)
			if both := p.from + float64(time) - begin; both > 0 && s.To > begin {
				gets := rate - Left(rate, []float64{s.Rate[p.Device]})
				taken += min(both*gets, (s.To-begin)*s.Rate[p.Device])
			}
		}
		if taken /= float64(time) * rate; taken > part {
			app, part = n.App, taken
		}
	}
	return app, part
}

// Parts of a stage's least time beside its devices: its work over the cores, or its longest task.
const (
	BoundCores = "cores"
	BoundTask  = "its longest task"
)

// Bound says of a stage what its least time is, and what makes it that: BoundCores, BoundTask, or the name of a device.
type Bound struct {
	Stage int
	By    string
	Takes units.Seconds
	At    *Place // nil where it is no device.
}

// Least is the greatest of the times that a stage takes on so many cores: its work over these, its longest task, and
// what it moves on nodes that are loaded like that if it begins at a moment.
func Least(s *api.ProfileStage, cores units.Cores, m Moved, from float64, loads []Load) Bound {
	b := Bound{Stage: s.ID, By: BoundCores, Takes: units.Seconds(float64(s.CoreSeconds) / float64(cores))}
	if s.LongestTask > b.Takes {
		b.By, b.Takes = BoundTask, s.LongestTask
	}
	if at, time := Slowest(m, from, loads); time > b.Takes {
		b.By, b.Takes, b.At = at.Name(), time, at
	}
	return b
}
