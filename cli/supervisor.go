package cli

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/supervisor"
)

func supervisorCommand(sh *shell) *cobra.Command {
	return group("supervisor", "Show or set how nodes divide their cores among applications", supervisorShow(sh),
		supervisorSet(sh))
}

func supervisorShow(sh *shell) *cobra.Command {
	c := &cobra.Command{Use: "show", Short: "Show by what strategy each node divides its cores", Args: cobra.NoArgs,
		Long: "Show by what STRATEGY each node divides its cores where applications ask for more than there are, SET BY\n" +
			"an operator or its configuration. GAMMA is the part of what nobody asks for that is given away, read as\n" +
			"EQ21 says (docs/configuration.md)."}
	form := outputFlag(c)
	node := nodeFlag(c, sh.completeNodes, "of this node only")
	c.RunE = func(c *cobra.Command, _ []string) error {
		reply, err := sh.ask(c.Context(), api.VerbNodes, api.ControlRequest{})
		if err != nil {
			return err
		}
		nodes, err := only(reply.Nodes, *node)
		if err != nil {
			return err
		}
		if form.encodes() {
			return form.print(sh.Stdout, map[string]any{"nodes": nodes})
		}
		rows := make([][]string, 0, len(nodes))
		for _, n := range nodes {
			by := cmp.Or(n.SetBy, "configuration")
			rows = append(rows, []string{n.Node, n.Division.Strategy, strconv.FormatFloat(n.Division.Gamma, 'g', -1, 64),
				n.Division.Eq21, by})
		}
		return table(sh.Stdout, []string{"NODE", "STRATEGY", "GAMMA", "EQ21", "SET BY"}, rows)
	}
	return c
}

// asConfigured is the strategy that takes an operator's back.
const asConfigured = "default"

func supervisorSet(sh *shell) *cobra.Command {
	c := orders(&cobra.Command{
		Use: "set STRATEGY", Short: "Divide cores by another strategy from now on", Args: cobra.ExactArgs(1),
		Long: "Divide the cores of all nodes, or of one, by another strategy from now on, running\n" +
			"applications' too: " + strings.Join(supervisor.Strategies(), ", ") + ";\n" +
			"\"" + asConfigured + "\" is what each node's configuration says.",
		ValidArgs: append(supervisor.Strategies(), asConfigured),
	})
	node := nodeFlag(c, sh.completeNodes, "on this node only")
	gamma := c.Flags().Float64("gamma", 0, "part of what nobody asks for that is given away, from 0 to 1 (Eq 21)")
	reading := c.Flags().String("eq21", "", "how gamma is read: "+strings.Join(supervisor.Eq21Readings(), ", ")+
		" (default: as configured)")
	c.RunE = func(c *cobra.Command, args []string) error {
		q := api.ControlRequest{Node: *node}
		if args[0] != asConfigured {
			q.Division = &api.Division{Strategy: args[0], Gamma: *gamma, Eq21: *reading}
		}
		return sh.order(c, api.VerbDivide, q)
	}
	return c
}

// nodeFlag is the name of one node.
func nodeFlag(c *cobra.Command, complete cobra.CompletionFunc, what string) *string {
	node := c.Flags().String("node", "", what)
	_ = c.RegisterFlagCompletionFunc("node", complete)
	return node
}

// only is the node of that name among nodes; all without one.
func only(nodes []api.NodeSummary, name string) ([]api.NodeSummary, error) {
	if name == "" {
		return append([]api.NodeSummary{}, nodes...), nil
	}
	for _, n := range nodes {
		if n.Node == name {
			return []api.NodeSummary{n}, nil
		}
	}
	return nil, api.Errorf(api.KindNotFound, "node %q is not known: `pacer nodes` lists them", name)
}
