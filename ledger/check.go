package ledger

import (
	"fmt"
	"math"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// amounts says what cannot be true of some amounts: each is finite and not below 0.
func amounts(what string, all ...float64) error {
	for _, v := range all {
		if err := units.Finite(what, v); err != nil {
			return err
		}
	}
	return nil
}

// checkTargets says what cannot be true of targets, which are in order of executor: each is
// for an executor that runs, has something to do, and asks for no more than its node offers.
func checkTargets(v View, a *App, targets []Target) error {
	for i, t := range targets {
		x := a.Executor(t.Executor)
		if x == nil || x.Gone || x.Node != t.Node {
			return fmt.Errorf("executor %s of %s does not run on %s", t.Executor, a.ID, t.Node)
		}
		if i > 0 && api.CompareExecutors(targets[i-1].Executor, t.Executor) >= 0 {
			return fmt.Errorf("the targets of %s are not in order", a.ID)
		}
		if t.Tasks <= 0 || t.Weight == 0 {
			return fmt.Errorf("executor %s of %s has a target of %d tasks, weight %v", t.Executor, a.ID, t.Tasks, t.Weight)
		}
		err := amounts("a target", t.Weight, float64(t.Work), t.Records, float64(t.LongestTask), float64(t.InitCores))
		if err != nil {
			return err
		}
		if most := v.Offered(t.Node); t.InitCores > most {
			return fmt.Errorf("executor %s of %s begins with %v cores, its node offers %v", t.Executor, a.ID, t.InitCores, most)
		}
	}
	return nil
}

// sharesTolerance is how far the sum of shares may be from that of the targets, as a part
// of it: both are sums of fractions.
const sharesTolerance = 1e-6

// checkShares says what cannot be true of a division of s: it has one share for each
// target, in their order, and their sum is kept.
func checkShares(s *Stage, shares []api.ExecutorShare) error {
	if len(shares) != len(s.Targets) {
		return fmt.Errorf("%d shares for %d targets of stage %v", len(shares), len(s.Targets), s.Key())
	}
	var before, after float64
	for i, t := range s.Targets {
		if shares[i].Executor != t.Executor {
			return fmt.Errorf("a share of stage %v for executor %s, whose target is %s's", s.Key(), shares[i].Executor,
				t.Executor)
		}
		if err := amounts("a share", shares[i].Weight); err != nil {
			return err
		}
		before, after = before+t.Weight, after+shares[i].Weight
	}
	if math.Abs(after-before) > sharesTolerance*before {
		return fmt.Errorf("shares of stage %v add up to %v, its targets to %v", s.Key(), after, before)
	}
	return nil
}
