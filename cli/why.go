package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/units"
)

func whyCommand(w io.Writer, ask asks, complete cobra.CompletionFunc) *cobra.Command {
	c := &cobra.Command{Use: "why ID", Short: "Say where the time of an application goes", Args: cobra.ExactArgs(1),
		ValidArgsFunction: complete,
		Long: `Say where the time of an application goes, or went.

The parts do not overlap and add up to the time since its submission. The time of its stages is divided:
"as planned" is until their deadlines or, where they had none, what they take at all cores by the profile;
of that "held back too much" is what an application that is late was held back for longer than what came
afterwards left; what they took longer is "short of cores" that they asked for, "more work" than was predicted for them,
or "unexplained"; further attempts are "repeated attempts". "stages" are those of which nothing says what
they should take. WHO HAD THEM names applications with the cores that it was short of. Under that the
causes are named, the largest first.`}
	form := outputFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		reply, err := ask(c.Context(), api.VerbWhy, api.ControlRequest{App: api.AppID(args[0])})
		switch {
		case err != nil:
			return err
		case reply.Why == nil:
			return fmt.Errorf("the planner's answer about %s is empty", args[0])
		case form.encodes():
			return form.print(w, reply.Why)
		}
		return printWhy(w, reply.Why)
	}
	return c
}

// printWhy prints `pacer why ID`.
func printWhy(w io.Writer, y *api.Why) error {
	fmt.Fprintf(w, "%s: %s\n", y.App, command.Visible(y.Headline))
	if len(y.Parts) == 0 {
		fmt.Fprintln(w, "\nwhere its time went was not kept")
	} else if err := printParts(w, y.Parts); err != nil {
		return err
	}
	if y.Reserve != nil {
		fmt.Fprintln(w, "\nreserve: "+reserve(y.Reserve))
	}
	if len(y.Causes) > 0 {
		fmt.Fprintln(w, "\ncauses:")
		for _, cause := range y.Causes {
			fmt.Fprintf(w, "  %s\n", command.Visible(cause))
		}
	}
	return nil
}

func printParts(w io.Writer, parts []api.WhyPart) error {
	all := units.Seconds(0)
	for _, p := range parts {
		all += p.For
	}
	rows := make([][]string, 0, len(parts)+1)
	for _, p := range parts {
		var who []string
		for _, x := range p.Who {
			who = append(who, fmt.Sprintf("%s (%.1f core-seconds)", x.App.Whose(), float64(x.CoreSeconds)))
		}
		rows = append(rows, []string{string(p.Part), seconds(p.For), fmt.Sprintf("%.0f %%", float64(100*p.For/all)),
			strings.Join(who, ", ")})
	}
	fmt.Fprintln(w)
	return table(w, []string{"PART", "TIME", "SHARE", "WHO HAD THEM"}, append(rows, []string{"all", seconds(all), "", ""}))
}
