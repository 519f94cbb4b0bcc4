package usage

import (
	"math"

	"github.com/sparkpacer/pacer/api"
)

// Columns is how many applications have a column of their own in a ring.
const Columns = 160

// ring has the newest points of a step: size of them, the one under way not counted.
type ring struct {
	step, size int64
	// first and at are the first point and the one under way: multiples of step.
	first, at int64
	// samples are how many the point under way has, total what they are together.
	samples         int
	total           point
	offered, others []float32
	columns         map[api.AppID]*column
	rest            *column
	// free are columns that no application has. All there may be are made at once, so that a planner does not grow
	// for hours.
	free []*column
}

// point is what is added up of one.
type point struct{ offered, others float64 }

// column is what an application, or all without a column, had at each point.
type column struct {
	used, granted       []float32
	usedNow, grantedNow float64 // Of the point under way.
	last                int64   // The newest point at which it had something.
}

func newRing(step, size, at int64) *ring {
	r := &ring{step: step, size: size, first: at, at: at, columns: make(map[api.AppID]*column)}
	room := make([]float32, 2*(Columns+2)*size)
	cut := func() []float32 {
		points := room[:size:size]
		room = room[size:]
		return points
	}
	r.offered, r.others, r.rest = cut(), cut(), &column{used: cut(), granted: cut()}
	for range Columns {
		r.free = append(r.free, &column{used: cut(), granted: cut()})
	}
	return r
}

// sample begins a sample of the point under way: what nodes offer, and what others use.
func (r *ring) sample(offered, others float64) {
	r.samples++
	r.total.offered += offered
	r.total.others += others
}

// add adds what an application has to the sample.
func (r *ring) add(app api.AppID, used, granted float64) {
	c := r.column(app)
	c.usedNow += used
	c.grantedNow += granted
	c.last = r.at
}

// column is where the application's points go.
func (r *ring) column(app api.AppID) *column {
	if c := r.columns[app]; c != nil {
		return c
	}
	if n := len(r.free); n > 0 {
		c := r.free[n-1]
		r.free, r.columns[app] = r.free[:n-1], c
		return c
	}
	var oldest api.AppID
	for id, c := range r.columns {
		if o := r.columns[oldest]; o == nil || c.last < o.last || c.last == o.last && id < oldest {
			oldest = id
		}
	}
	c := r.columns[oldest]
	if c.last >= r.at-1 {
		return r.rest
	}
	for i := range c.used {
		r.rest.used[i] += c.used[i]
		r.rest.granted[i] += c.granted[i]
	}
	clear(c.used)
	clear(c.granted)
	delete(r.columns, oldest)
	r.columns[app] = c
	return c
}

// end ends the point under way: nobody knows it if it has no samples.
func (r *ring) end() {
	slot, n := r.at%r.size, float64(max(r.samples, 1))
	r.offered[slot], r.others[slot] = float32(r.total.offered/n), float32(r.total.others/n)
	if r.samples == 0 {
		r.offered[slot], r.others[slot] = float32(math.NaN()), float32(math.NaN())
	}
	r.rest.end(slot, n)
	for id, c := range r.columns {
		if c.end(slot, n); c.last <= r.at-r.size {
			delete(r.columns, id) // It has nothing any more, and neither has c.
			r.free = append(r.free, c)
		}
	}
	r.samples, r.total = 0, point{}
	r.at++
}

func (c *column) end(slot int64, n float64) {
	c.used[slot], c.granted[slot] = float32(c.usedNow/n), float32(c.grantedNow/n)
	c.usedNow, c.grantedNow = 0, 0
}
