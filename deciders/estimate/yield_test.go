package estimate_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// One that is due after 120 s has been promised 1.5 of eight cores. One that is due after 300 s
// finds 6.5 until then, so that a stage that would have a tenth of the time until its
// deadline has the time in which a tenth of 6.5*120 + 8*180 core-seconds are left.
func TestWhoIsDueLaterYields(t *testing.T) {
	const deadline = 300
	ours, source := policy(estimate.BranchesTogether), policy(estimate.BranchesTogether)
	source.Equations.Aim = 0
	yielded := func(p estimate.Policy, strategy string, others int, other, left units.Seconds) (units.Seconds, float64) {
		c := ledgertest.New(t, "a", "b")
		c.Divides("a", strategy)
		c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
		for n := range others {
			c.App(api.AppID(fmt.Sprintf("app-1%02d", n)), "p", other, "a", "b")
		}
		first := c.View().App("app-100")
		a := c.App("app-2", "p", deadline, "a", "b")
		o := p.Outlook(c.View())
		return o.Yield(a, o.Aiming(a), left), float64(o.Least(first))
	}
	// Aimed 0.3 s before the deadline.
	const rest = deadline - 0.3
	got, taken := yielded(ours, "proportional", 1, 120, rest/10)
	if want := ((8-taken)*120 + 8*(rest-120)) / 10 / (8 - taken); math.Abs(float64(got)-want) > 1e-6 || got < rest/10+3 {
		t.Errorf("beside %.2f cores until 120 s it has %v s, want %v", taken, got, want)
	}
	for _, k := range []struct {
		why         string
		policy      estimate.Policy
		strategy    string
		others      int
		other, left units.Seconds
	}{
		{"by deadline", ours, "edf-pure", 1, 120, rest / 10},
		{"beside one that is due later", ours, "proportional", 1, 500, rest / 10},
		{"beside more than fit", ours, "proportional", 15, 200, rest / 10},
		{"that is to end with its deadline", ours, "proportional", 1, 120, rest},
		{"that is late", ours, "proportional", 1, 120, -1},
		{"of the source", source, "proportional", 1, 120, 40},
	} {
		if got, _ := yielded(k.policy, k.strategy, k.others, k.other, k.left); got != k.left {
			t.Errorf("a stage %s has %v s, want %v", k.why, got, k.left)
		}
	}
}

// However many there are beside it: who yields has no less time for a stage, more for a larger
// part of its work, and for what is left after it at least what that takes at 0.85 of its speed at all cores.
func TestWhoYieldsCatchesUp(t *testing.T) {
	const fastest = 66 // Of the chain, from its first stage on.
	rapid.Check(t, func(rt *rapid.T) {
		c := ledgertest.New(t, "a", "b")
		c.Divides("a", rapid.SampledFrom([]string{"proportional", "speed", "edf-prop"}).Draw(rt, "strategy"))
		c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
		for _, id := range []string{"1", "2", "3"}[:rapid.IntRange(0, 3).Draw(rt, "others")] {
			c.App("app-"+api.AppID(id), "p", units.Seconds(rapid.IntRange(20, 600).Draw(rt, "due")), "a", "b")
		}
		deadline := units.Seconds(rapid.IntRange(60, 600).Draw(rt, "deadline"))
		a := c.App("app-9", "p", deadline, "a", "b")
		o := policy(estimate.BranchesTogether).Outlook(c.View())
		q := o.Aiming(a)
		rest := deadline - q.Margin
		yield := func(left units.Seconds) units.Seconds {
			return o.Yield(a, q, left)
		}
		before := units.Seconds(0)
		for tenth := 1; tenth < 10; tenth++ {
			left := rest * units.Seconds(tenth) / 10
			got := yield(left)
			if got < left || got <= before || got > rest {
				rt.Fatalf("in the place of %v s it has %v, and %v for a tenth less, of %v", left, got, before, rest)
			}
			if slow := units.Seconds(fastest/0.85) * (rest - left) / rest; got > left+1e-9 && rest-got < slow-1e-6 {
				rt.Fatalf("%v s are left for %.2f of its work, which takes %v s", rest-got, 1-float64(left/rest), slow)
			}
			before = got
		}
	})
}
