package cgroup

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"sort"

	"github.com/sparkpacer/pacer/units"
)

// Bounds of what the kernel takes as cpu.shares, of which a core requested has 1024.
const (
	leastShares = 2 // Of who requests none.
	mostShares  = 262144
	coreShares  = 1024
)

// linear is the cpu.weight that a kubelet before 1.35 writes for cpu.shares (KEP-2254).
func linear(shares int) int { return 1 + (shares-leastShares)*9999/(mostShares-leastShares) }

// quadratic is the one that it writes since (opencontainers/cgroups 0.0.3): 100 for a core.
func quadratic(shares int) int {
	l := math.Log2(float64(shares))
	return int(math.Ceil(math.Pow(10, (l*l+125*l)/612-7.0/34) - 1e-6))
}

// Weight is that of a group in the cpu tree, 0 where it cannot be read.
func (o *Others) Weight(group string) Weight { return o.h.weightOf(filepath.Join(o.h.roots[0], group)) }

// Requested is how many cores are requested for a container of a pod, by the weights of its group and of the pod's,
// which is right above; 0 for none. Pods are all below the group all, which a kubelet weighs by the cores that it has
// for pods. In v2 a weight of more than linear makes of cpus, the machine's, says that it is a newer kubelet's.
//
// The kernel gives a container a part of what its pod has: its weight over those of the pod's containers that request
// anything, whatever its runtime makes of requests.
func (o *Others) Requested(container, all string, cpus int) units.Cores {
	pod := path.Dir(container)
	cores := units.Cores(o.Weight(pod))
	least := Weight(leastShares) / coreShares
	if o.h.version == V2 {
		least = 0.01
		weight, shares := inUnits(o.Weight(pod)), linear
		if inUnits(o.Weight(all)) > linear(coreShares*cpus) {
			shares = quadratic
		}
		above := sort.Search(mostShares+1, func(n int) bool { return shares(max(n, leastShares)) > weight })
		cores = units.Cores(above-1) / coreShares
	}
	own := o.Weight(container)
	if cores <= 0 || own <= least {
		return 0
	}
	others := Weight(0)
	dir := filepath.Join(o.h.roots[0], pod)
	entries, _ := os.ReadDir(dir) // None are left of a pod that has ended.
	for _, e := range entries {
		if w := o.h.weightOf(filepath.Join(dir, e.Name())); w > least && e.Name() != path.Base(container) {
			others += w
		}
	}
	return cores * units.Cores(own/(own+others))
}

// inUnits is w as cpu.weight has it.
func inUnits(w Weight) int { return int(math.Round(float64(w) * 100)) }
