package placement

import (
	"cmp"

	"github.com/sparkpacer/pacer/units"
)

// tetris packs by peaks (Grandl et al.): memory that fits, then nodes that the peaks of cores, memory, disk and network
// fit beside those of the others, the one with the greatest dot product of what is wanted and what is left first, then
// most memory left.
func tetris(a, b *Site) int {
	switch {
	case a.Packs != b.Packs && fitting(a, b) == 0:
		if a.Packs {
			return -1
		}
		return 1
	case a.Packs && b.Packs && a.Dot != b.Dot && fitting(a, b) == 0:
		return cmp.Compare(b.Dot, a.Dot)
	}
	return cmp.Or(fitting(a, b), cmp.Compare(b.Free-b.Needed, a.Free-a.Needed), byName(a, b))
}

// scoreTetris fills in whether peaks fit, and dot products. All are parts of what the node has; a device whose rate is
// not known has nothing and nothing is wanted of it.
func scoreTetris(c *comers, sites []Site) {
	var cores units.Cores
	var peak Rates
	for _, u := range c.uses {
		cores = max(cores, u.Cores)
		for d := range peak {
			peak[d] = max(peak[d], u.Rate[d])
		}
	}
	for i := range sites {
		s, load := &sites[i], c.load(i)
		rates, running := load.Rates, load.Spans()
		room := float64(max(1, s.Room))
		needs := []float64{float64(min(cores, s.Offered) / s.Offered), float64(s.Needed) / room}
		left := []float64{float64(1 - load.Cores()/s.Offered), float64(s.Free) / room}
		free := rates
		for d := range rates {
			if rates[d] <= 0 {
				continue
			}
			for _, p := range Free(rates, running, 0, forever) {
				free[d] = min(free[d], p.Free[d])
			}
			needs, left = append(needs, peak[d]/rates[d]-rounding), append(left, free[d]/rates[d])
		}
		s.Packs, s.Dot = Fits(needs, left), Dot(needs, left)
	}
}

// rounding is a part of a device that nobody misses: alone a stage that waits for it fills it.
const rounding = 1e-6

// forever is after all that runs, in seconds from now.
const forever = 1e12
