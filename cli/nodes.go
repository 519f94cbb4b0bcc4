package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

func nodesCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{Use: "nodes", Short: "List nodes, drain them, have them sleep", Args: cobra.NoArgs,
		Long: nodesHelp}
	form := outputFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		reply, err := sh.ask(c.Context(), api.VerbNodes, api.ControlRequest{})
		if err != nil {
			return err
		}
		if form.encodes() {
			return form.print(sh.Stdout, map[string]any{"nodes": append([]api.NodeSummary{}, reply.Nodes...)})
		}
		rows := make([][]string, 0, len(reply.Nodes))
		for _, n := range reply.Nodes {
			rows = append(rows, []string{n.Node, n.Host, n.State, n.Offered.String(), n.Total.String(), n.Memory.String(),
				rate(n.Disk, n.DiskSeen), rate(n.Network, n.NetworkSeen), strconv.Itoa(n.Executors),
				strconv.FormatUint(n.Epoch, 10), waits(n.Pressure), n.Version})
		}
		if err := table(sh.Stdout, []string{"NODE", "HOST", "STATE", "OFFERED", "TOTAL", "MEMORY", "DISK/S", "NETWORK/S",
			"EXECUTORS", "EPOCH", "PRESSURE", "VERSION"}, rows); err != nil {
			return err
		}
		for _, n := range reply.Nodes {
			if n.Lacks != "" {
				fmt.Fprintf(sh.Stdout, "%s: its kernel has %s\n", n.Node, n.Lacks)
			}
			switch l := n.Lends; {
			case l == nil:
			case l.Not != "":
				fmt.Fprintf(sh.Stdout, "%s: it lends nothing: %s\n", n.Node, l.Not)
			default:
				fmt.Fprintf(sh.Stdout, "%s: %s is lent to batch work, %s of what executors claim is lendable\n", n.Node, l.Lent,
					l.Lendable)
			}
		}
		return nil
	}
	apply := false
	consolidate := orders(&cobra.Command{Use: "consolidate", Short: "Say which node may sleep, or who is in the way",
		Long: "Say whether the least used node could be empty: others have room for its executors, and\n" +
			"no deadline there would be missed. With --apply it drains and sleeps until it is wanted: when\n" +
			"somebody comes who would wait or be late without it, a deadline is in danger, or another node\n" +
			"is overloaded. No machine is powered off. planner.consolidate has the planner do that by itself.",
		Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
			verb := api.VerbSpare
			if apply {
				verb = api.VerbEmpty
			}
			return sh.order(c, verb, api.ControlRequest{})
		}})
	consolidate.Flags().BoolVar(&apply, "apply", false, "have that node sleep")
	c.AddCommand(consolidate,
		nodeOrder(sh, "drain", "Let a node's executors leave and give it no new ones", api.VerbDrain,
			"Give a node no new executors and let those that it has leave: their running tasks\n"+
				"end, their blocks move to other executors, then they exit. An application that has\n"+
				"executors nowhere else keeps them until it has, or ends."),
		nodeOrder(sh, "undrain", "Let a drained node have executors again", api.VerbUndrain,
			"Let a drained node have executors again, of running applications too."))
	return c
}

const nodesHelp = `List the nodes, drain them, have them sleep.

STATE is "ready"; "lost", not heard for some seconds; "left", stopped by its operator;
"another's", while executors of another planner run there; "draining" and, once it is empty,
"drained"; or "asleep", drained until it is wanted.

OFFERED cores of TOTAL are for executors, and MEMORY. DISK/S and NETWORK/S are rates that its
operator has set, and the highest that were seen. EPOCH numbers the Plan that it follows.
PRESSURE is for what tasks of the machine waited, in per cent of the last ten seconds.`

// waits says for what tasks of a machine have waited, in parts of the last ten seconds.
func waits(p api.Pressure) string {
	var waits []string
	for _, w := range []struct {
		name string
		part units.Fraction
	}{{"cpu", p.CPU}, {"memory", p.Memory}, {"io", p.IO}} {
		if w.part >= 0.005 {
			waits = append(waits, fmt.Sprintf("%s %.0f%%", w.name, 100*w.part))
		}
	}
	if waits == nil {
		return "-"
	}
	return strings.Join(waits, ", ")
}

// rate is a device's as its operator has set it, with the highest that was seen.
func rate(set, seen units.Bytes) string {
	text := "-"
	if set > 0 {
		text = set.Words()
	}
	if seen > 0 {
		text += " (seen " + seen.Words() + ")"
	}
	return text
}

// nodeOrder is a command that asks one thing of one node.
func nodeOrder(sh *shell, use, short string, verb api.Verb, long string) *cobra.Command {
	return orders(&cobra.Command{Use: use + " NODE", Short: short, Long: long, Args: cobra.ExactArgs(1),
		ValidArgsFunction: sh.completeNodes,
		RunE: func(c *cobra.Command, args []string) error {
			return sh.order(c, verb, api.ControlRequest{Node: args[0]})
		}})
}

// completeNodes offers the names of nodes to the shell's completion.
func (sh *shell) completeNodes(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return complete(c, sh, args, api.VerbNodes, func(r *api.ControlReply) []api.NodeSummary { return r.Nodes },
		func(n api.NodeSummary) string { return n.Node + "\t" + n.State })
}
