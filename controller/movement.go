package controller

import "github.com/sparkpacer/pacer/units"

// Movement scores how much a quota or a request moves. A control law that follows a
// trend has to move it; one that hunts moves it to and fro. So the total variation
// is discounted by the trend:
//
//	TV   = sum of |c(k) - c(k-1)|                     Total
//	TDTV = TV - |c(n) - c(0)|  =  2 min(ups, downs)   Discounted
//
// in cores: 0 for anything that only rises or only falls. Score divides that by the
// mean level, so that stages of different sizes compare; 1 means half the level
// up and down again once. The zero value has seen nothing; not for concurrent use.
type Movement struct {
	// Up and Down are the sums of the rises and falls, in cores.
	Up, Down units.Cores
	// Changes counts the values that differ from the one before.
	Changes int

	last, sum units.Cores
	n         int
}

// Add takes the next value, in cores. A value that is not finite (no quota) counts as the one before.
func (m *Movement) Add(c units.Cores) {
	if !finite(float64(c)) {
		if m.n == 0 {
			return
		}
		c = m.last
	}
	if m.n == 0 {
		m.last = c
	}
	switch d := c - m.last; {
	case d > 0:
		m.Up += d
		m.Changes++
	case d < 0:
		m.Down -= d
		m.Changes++
	}
	m.last, m.sum, m.n = c, m.sum+c, m.n+1
}

// Discounted is the total variation less the net change, in cores.
func (m Movement) Discounted() units.Cores { return 2 * min(m.Up, m.Down) }

// Mean is the mean of the values, 0 without any.
func (m Movement) Mean() units.Cores {
	if m.n == 0 {
		return 0
	}
	return m.sum / units.Cores(m.n)
}

// Score is Discounted over Mean, 0 where nothing was used.
func (m Movement) Score() float64 {
	if mean := m.Mean(); mean > 0 {
		return float64(m.Discounted() / mean)
	}
	return 0
}
