package hosts

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/sim/experiment"
)

// PABFD's threshold: 1 less so many times the median absolute deviation of a machine's CPU over its history, and what
// it is where there is too little of that.
const (
	safety, unknownBound         = 2.5, 0.7
	historyLength, historyEnough = 30, 10
)

// pabfd is a round of power-aware best fit decreasing (A. Beloglazov, R. Buyya, "Optimal online deterministic
// algorithms and adaptive heuristics", 2012): machines above their thresholds hand VMs on, those of least memory first;
// then the least used ones are emptied that have taken none, where others take all of one. Power is linear in CPU and
// the same for all machines, so that the best fit is the fullest one.
func pabfd(w *world) {
	bounds, closed := make([]float64, len(w.machines)), make([]bool, len(w.machines)) // A closed machine gets nothing.
	var leave, least []int
	for i := range w.machines {
		m := &w.machines[i]
		bounds[i] = bound(m.history)
		byMemory, left := w.sorted(m.vms, func(v *vm) float64 { return v.now.Memory }), m.now.CPU
		for ; left > bounds[i] && len(byMemory) > 0; byMemory = byMemory[1:] {
			left -= w.vms[byMemory[0]].now.CPU
			leave, closed[i] = append(leave, byMemory[0]), true
		}
		if !m.asleep && !closed[i] {
			least = append(least, i)
		}
	}
	taken := w.fit(leave, bounds, closed, true)
	w.carryOut(taken)
	slices.SortStableFunc(least, func(a, b int) int { return cmp.Compare(w.machines[a].now.CPU, w.machines[b].now.CPU) })
	took := make([]bool, len(w.machines))
	for _, i := range least {
		closed[i] = true
		if fits := w.fit(w.machines[i].vms, bounds, closed, false); !took[i] && len(fits) == len(w.machines[i].vms) {
			for _, f := range fits {
				took[f.to] = true
			}
			w.carryOut(fits)
		} else {
			closed[i] = false
		}
	}
}

// fitted is where a VM is to go.
type fitted struct{ vm, to int }

func (w *world) carryOut(fits []fitted) {
	for _, f := range fits {
		w.move(f.vm, f.to)
	}
}

// sorted are VMs, that of which by says least first.
func (w *world) sorted(vms []int, by func(*vm) float64) []int {
	vms = slices.Clone(vms)
	slices.SortStableFunc(vms, func(a, b int) int { return cmp.Compare(by(&w.vms[a]), by(&w.vms[b])) })
	return vms
}

// byCPU are VMs, that which uses most first.
func (w *world) byCPU(vms []int) []int {
	return w.sorted(vms, func(v *vm) float64 { return -v.now.CPU })
}

// fit finds a machine for each VM, those that use most CPU first: the fullest that stays within its bound, one that
// sleeps where it may wake. Where none may it ends with the first VM for which there is none.
func (w *world) fit(vms []int, bounds []float64, closed []bool, wakes bool) (fits []fitted) {
	more := map[int]float64{}
	for _, v := range w.byCPU(vms) {
		best, load := -1, -1.0
		for i := range w.machines {
			m := &w.machines[i]
			if closed[i] || m.asleep && (!wakes || best >= 0 && more[i] == 0) {
				continue
			}
			if at := m.now.CPU + more[i]; at > load && at+w.vms[v].now.CPU <= bounds[i] {
				best, load = i, at
			}
		}
		switch {
		case best >= 0:
			more[best] += w.vms[v].now.CPU
			fits = append(fits, fitted{v, best})
		case !wakes:
			return fits
		}
	}
	return fits
}

// bound is how much CPU a machine with that history may use.
func bound(history []float64) float64 {
	if len(history) < historyEnough {
		return unknownBound
	}
	middle, away := experiment.Median(history), make([]float64, len(history))
	for i, x := range history {
		away[i] = math.Abs(x - middle)
	}
	return max(0, 1-safety*experiment.Median(away))
}

// grmpBound is up to how much CPU GRMP fills a machine.
const grmpBound = 0.8

// grmp is a round of exchanges (F. Wuhib, R. Stadler, M. Spreitzer, "A gossip protocol for dynamic resource management
// in large cloud environments", 2012): who is above the bound hands on until it is not, who uses less all that the
// other has room for.
func grmp(w *world) {
	for _, p := range w.order() {
		w.shuffle(p)
		q, ok := w.peer(p, false)
		if w.machines[p].asleep || !ok {
			continue
		}
		from, to := p, q
		if a, b := w.machines[p].now.CPU, w.machines[q].now.CPU; b > grmpBound && b > a || a <= grmpBound && b < a {
			from, to = q, p
		}
		over := w.machines[from].now.CPU > grmpBound
		for _, v := range w.byCPU(w.machines[from].vms) {
			if (!over || w.machines[from].now.CPU > grmpBound) && w.machines[to].now.CPU+w.vms[v].now.CPU <= grmpBound {
				w.move(v, to)
			}
		}
	}
}
