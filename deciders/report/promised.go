package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
)

// Promised is what applications are promised of all nodes from now on, those whose end nobody knows last.
func Promised(o *estimate.Outlook) []api.PromisedCores {
	var nodes []string
	for _, n := range o.View.Nodes() {
		nodes = append(nodes, n.Node)
	}
	nobody := &ledger.App{Promise: ledger.Promise{Start: o.View.Now()}}
	promises := o.Promised(nobody, nodes)
	slices.SortFunc(promises, func(a, b estimate.Promise) int {
		return cmp.Or(cmp.Compare(a.Until, b.Until), cmp.Compare(a.App, b.App))
	})
	all := make([]api.PromisedCores, 0, len(promises))
	for _, p := range promises {
		x := api.PromisedCores{App: p.App, Cores: p.Cores}
		if p.Ends() {
			x.Until = time.Unix(0, int64(o.View.Now().Add(p.Until.Duration()))).UTC()
		}
		all = append(all, x)
	}
	return all
}
