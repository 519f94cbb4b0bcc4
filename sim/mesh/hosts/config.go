package hosts

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/deciders/consolidation"
)

// Config is a world.
type Config struct {
	// Machines is how many there are, Ratio how many VMs for each.
	Machines, Ratio int
	// Learning is for how many rounds VMs run where they are first, and machines learn; in the last Averaging of them
	// machines make their tables one. Rounds are those after that, which are counted.
	Learning, Averaging, Rounds int
	Policy                      string
	Seed                        uint64
	GLAP                        consolidation.Config
	Load                        Load
	// VM is what each was given, as a part of a machine.
	VM Use
	// Move is how many seconds a move takes, 0 for as long as its memory takes over the network.
	Move float64
	// Stop, when it is closed, ends the run with des.ErrStopped.
	Stop <-chan struct{}
}

// Default is the source's world of that size: 24 hours after as many of learning, VMs of 500 MIPS and 613 MB on
// machines of 2660 MIPS and 4 GB. How many of the rounds of learning average is not said there.
func Default(machines, ratio int, policy string, seed uint64) Config {
	return Config{Machines: machines, Ratio: ratio, Learning: 700, Averaging: 50, Rounds: 720, Policy: policy, Seed: seed,
		GLAP: consolidation.Default(), Load: Demands(), VM: Use{CPU: 500.0 / 2660, Memory: 613.0 / 4096}}
}

// The policies that are named elsewhere.
const (
	GLAP, EcoCloud, PABFD, GRMP = "glap", "ecocloud", "pabfd", "grmp"
)

// policies are what each does in a round.
var policies = []struct {
	name  string
	round func(*world)
}{{GLAP, glap}, {EcoCloud, ecoCloud}, {PABFD, pabfd}, {GRMP, grmp}}

// Policies are the names of all, in the order of the source's table.
func Policies() (names []string) {
	for _, p := range policies {
		names = append(names, p.name)
	}
	return names
}

// Validate reports every fault of c at once.
func (c Config) Validate() error {
	faults := []error{c.GLAP.Validate()}
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	check(c.Machines >= 1 && c.Ratio >= 1 && c.Rounds >= 1, "%d machines, %d VMs for each, %d rounds: want at least 1",
		c.Machines, c.Ratio, c.Rounds)
	check(c.Averaging >= 0 && c.Learning >= c.Averaging, "%d rounds of averaging, of %d of learning",
		c.Averaging, c.Learning)
	check(slices.Contains(Policies(), c.Policy), "policy %q: want one of %v", c.Policy, Policies())
	check(c.VM.CPU > 0 && c.VM.Memory > 0, "a VM is %v of a machine: want above 0", c.VM)
	check(c.VM.CPU <= 1 && c.VM.Memory <= 1, "a VM is %v of a machine: it is above any machine", c.VM)
	check(float64(c.Ratio)*max(c.VM.CPU, c.VM.Memory) <= 1,
		"%d VMs for each machine, each of them %v: want as many as fit",
		c.Ratio, c.VM)
	l := c.Load
	check(l.Period >= 1 && l.Length >= 1 && l.Bursts >= 0 && l.Bursts < 0.5 && l.Stays >= 0 && l.Stays < 1,
		"load: period %d, length %v, bursts %v, stays %v: want at least 1, at least 1, 0 to 0.5, 0 to below 1",
		l.Period, l.Length, l.Bursts, l.Stays)
	return errors.Join(faults...)
}
