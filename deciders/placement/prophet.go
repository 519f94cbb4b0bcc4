package placement

import "cmp"

// prophet is best-fit by disk and network over time (Xu, 4.2): memory that fits, then the least norm of what stages
// want of a node's devices while others run there, then most memory left. Of an application of which nothing is known,
// and among nodes without rates, memory decides.
func prophet(a, b *Site) int {
	return cmp.Or(fitting(a, b), cmp.Compare(a.Norm, b.Norm), cmp.Compare(b.Free-b.Needed, a.Free-a.Needed), byName(a, b))
}

// scoreProphet fills in the norms. A node whose rates are not known has the mean norm: nothing says that it is better
// or worse. A stage wants no more of a device than there is, for alone it has all of that.
func scoreProphet(c *comers, sites []Site) {
	stages, to := make([]Span, len(c.uses)), 0.0
	for _, u := range c.uses {
		to = max(to, u.To)
	}
	if to == 0 {
		return
	}
	sum, unknown := 0.0, []int(nil)
	for i := range sites {
		load := c.load(i)
		rates := load.Rates
		if !rates.Known() {
			unknown = append(unknown, i)
			continue
		}
		for k, u := range c.uses {
			stages[k] = u.Span
			stages[k].Rate = u.Rate.Within(rates)
		}
		sites[i].Norm = DefaultNorms.Norm(rates, Free(rates, load.Spans(), 0, to), stages)
		sum += sites[i].Norm
	}
	for _, i := range unknown {
		sites[i].Norm = sum / float64(max(1, len(sites)-len(unknown)))
	}
}
