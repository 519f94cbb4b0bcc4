package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

const topHelp = `Show, renewed each second until interrupted, what the cluster offers, who runs, who waits, and
who ended last, those in trouble first: each application with the sentence of pacer why.

Lines are yellow where a deadline is tight and red where an application is or will be late,
unless NO_COLOR is set. Where standard output is no terminal, what has changed is printed.`

func topCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{Use: "top", Short: "Watch the cluster and its applications", Args: cobra.NoArgs, Long: topHelp}
	pick := pickFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return drawing(func(p *page, ask asking, now time.Time) error {
			nodes, err := ask(api.VerbNodes, api.ControlRequest{})
			if err != nil {
				return err
			}
			apps, err := ask(api.VerbApps, api.ControlRequest{})
			if err != nil {
				return err
			}
			return printTop(p, nodes.Nodes, pick.of(apps.Apps, now), now)
		}).print(c, sh, true)
	}
	return c
}

// printTop prints `pacer top`.
func printTop(p *page, nodes []api.NodeSummary, apps []api.AppSummary, now time.Time) error {
	apps = byRisk(apps)
	fmt.Fprintf(p, "%s\n\n", sayCluster(nodes, apps, now))
	rows, ids := make([][]string, 0, len(apps)), shortened(apps)
	p.risks = map[int]api.Risk{}
	for i, a := range apps {
		p.risks[3+i] = a.Risk
		rows = append(rows, []string{ids[i], cut(a.Name, 20), state(a), dueAt(a, now), margin(a), figure(a.MeanCores, 2),
			a.Headline})
	}
	return table(p, []string{"ID", "NAME", "STATE", "DUE", "MARGIN", "CORES", ""}, rows)
}

// byRisk are apps with those first that run or wait and are in trouble, then the others that do, then the rest.
func byRisk(apps []api.AppSummary) []api.AppSummary {
	place := func(a api.AppSummary) int {
		switch {
		case !lives(a):
			return 3
		case a.Risk == api.RiskLate:
			return 0
		case a.Risk == api.RiskTight:
			return 1
		}
		return 2
	}
	return slices.SortedStableFunc(slices.Values(apps), func(a, b api.AppSummary) int { return place(a) - place(b) })
}

// sayCluster says in a line what there is.
func sayCluster(nodes []api.NodeSummary, apps []api.AppSummary, now time.Time) string {
	var offered units.Cores
	ready, run, wait, late := 0, 0, 0, 0
	for _, n := range nodes {
		if n.State == "ready" {
			ready++
			offered += n.Offered
		}
	}
	for _, a := range apps {
		switch {
		case a.State == api.AppQueued:
			wait++
		case lives(a):
			run++
		}
		if lives(a) && a.Risk == api.RiskLate {
			late++
		}
	}
	text := fmt.Sprintf("%s  %d of %d nodes ready, %s cores offered; %d run, %d wait", now.Format(time.TimeOnly), ready,
		len(nodes), offered, run, wait)
	if late > 0 {
		text += fmt.Sprintf("; %d will be late", late)
	}
	return text
}
