package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Causes are named from these on, at most mostCauses of them.
const leastCause units.Seconds = 1

const (
	leastShare = 0.01 // Of its time.
	leastMore  = 1.1
	mostCauses = 3
)

// cause is why an application took longer, and by how much.
type cause struct {
	took units.Seconds
	text string
}

// causes are what made a slower than planned, the largest first: what is not stages as planned, and what the
// driver took longer than in the profile. That it was held back too much comes before all others.
func (by spent) causes(a *ledger.App) (said []string) {
	all := []cause{{by[api.PartQueued], "queued"}, {by[api.PartShort], sayShort(a)}, {by[api.PartMore], sayMore(a)},
		{by[api.PartRepeated], sayRepeated(a)},
		{by[api.PartUnexplained], "more in stages than planned, for no reason that is known"}}
	if a.Profile != nil {
		gaps, body := units.Seconds(0), &a.Profile.Body
		for i := range body.Stages {
			gaps += body.Stages[i].Gap
		}
		all = append(all, cause{by[api.PartStarting] - body.Head, "longer to start than in its profile"},
			cause{by[api.PartBetween] - gaps, "longer between stages than in its profile"},
			cause{by[api.PartAfter] - body.Tail, "longer after the last stage than in its profile"},
			cause{by[api.PartExit] - body.Exit, "longer to exit than in its profile"})
	}
	time := units.Seconds(0)
	for _, s := range by {
		time += s
	}
	slices.SortStableFunc(all, func(x, y cause) int { return cmp.Compare(y.took, x.took) })
	all = slices.Insert(all, 0, cause{by[api.PartHeld], sayHeld(a)})
	for _, c := range all {
		if c.took >= max(leastCause, leastShare*time) && len(said) < mostCauses {
			said = append(said, saySpan(c.took)+" "+c.text)
		}
	}
	return said
}

// sayHeld says which belief about what a has before it proved wrong.
func sayHeld(a *ledger.App) string {
	return "held back too much: " + cmp.Or(estimate.Order(a), lacking(a), "more came than was expected")
}

// sayShort says who had the cores that a was short of.
func sayShort(a *ledger.App) string {
	text := "short of cores"
	if all := losses(a); len(all) > 0 {
		text += ", which " + all[0].To.Whose() + " had"
	}
	if i := slices.IndexFunc(a.Tenant.Short, func(s api.AppShortage) bool { return s.GivenUp }); i >= 0 {
		text += " (given up, since not all on " + a.Tenant.Short[i].Node + " could be in time)"
	}
	return text
}

// sayRepeated says how many attempts of a's stages repeated earlier ones.
func sayRepeated(a *ledger.App) string {
	n := 0
	for _, s := range a.Order {
		if s.Key().Attempt > 0 || s.Ready.Repeats != nil {
			n++
		}
	}
	if n == 1 {
		return "in a repeated stage attempt"
	}
	return fmt.Sprintf("in %d repeated stage attempts", n)
}

// sayMore says by how much a's stages took more for each record than in its profile, else what the first one that had
// more to do had more of.
func sayMore(a *ledger.App) string {
	if factor, stages := slower(a); factor >= leastSlower && stages > 1 {
		return fmt.Sprintf("with more work: a record took %.2fx the CPU time of its profile, by %d stages", factor, stages)
	}
	for _, s := range a.Order {
		if s.Annotation != ledger.Unmatched && !s.Estimated() && s.Done != nil && s.Key().Attempt == 0 {
			if text := more(s, a.Profile); text != "" {
				return "with more work: " + text
			}
		}
	}
	return "with more work than in its profile"
}

// more says what s had more of than its profile says, "" of nothing.
func more(s *ledger.Stage, p *ledger.Profile) string {
	annotation, _ := p.Annotated(s)
	read := ratio(float64(s.Done.RecordsRead), float64(annotation.Records))
	if annotation.Records == int64(annotation.Tasks) {
		read = ratio(float64(s.Done.BytesRead), float64(annotation.Bytes))
	}
	switch used := ratio(float64(s.CPU()), float64(annotation.CoreSeconds)); {
	case read >= leastMore:
		return fmt.Sprintf("stage %d read %.1fx its profile", s.Key().Stage, read)
	case used >= leastMore:
		return fmt.Sprintf("stage %d used %.1fx the CPU time of its profile", s.Key().Stage, used)
	}
	return ""
}

// ratio is 0 where one of the two is not known.
func ratio(now, profiled float64) float64 {
	if now <= 0 || profiled <= 0 {
		return 0
	}
	return now / profiled
}
