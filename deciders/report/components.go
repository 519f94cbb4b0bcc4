package report

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/ledger"
)

// components are the rows of a's components that nodes run, the main one first: their logs are there.
func components(a *ledger.App) []api.AppExecutor {
	g := component.GroupOf(a)
	var first, rest []api.AppExecutor
	for _, m := range g.Members {
		if m.Last == "" {
			continue
		}
		row := api.AppExecutor{ID: g.ID(m), Node: m.Last, State: api.ExecutorStarting, Registered: m.Running, Exit: m.Exit}
		switch {
		case m.Node == "":
			row.State = api.ExecutorExited
		case m.Running:
			row.State = api.ExecutorRunning
		}
		if m.Of == g.Main {
			first = append(first, row)
		} else {
			rest = append(rest, row)
		}
	}
	return append(first, rest...)
}
