package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
)

// versionNumber reads the number of a version.
func versionNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, command.Usagef("version %q: want the number of a version, such as 3", text)
	}
	return n, nil
}

// asksHistory asks for the versions of a profile, and what has changed between two of them where q says so.
func (of profileCommands) askHistory(c *cobra.Command, name string, whose *whose,
	q *api.Query) (*api.ProfileHistory, error) {
	reply, err := of.sh.ask(c.Context(), api.VerbVersions,
		api.ControlRequest{Profile: name, Owner: whose.owner, Shared: whose.shared, Query: q})
	if err == nil && (reply.History == nil || q != nil && reply.History.Diff == nil) {
		err = fmt.Errorf("the planner's answer about profile %s is empty", name)
	}
	return reply.History, err
}

func (of profileCommands) history() *cobra.Command {
	c := &cobra.Command{Use: "history NAME", Short: "List the versions of a profile", Args: cobra.ExactArgs(1),
		ValidArgsFunction: of.names,
		Long: "List the versions of a profile that are kept, the newest first: the last five, and one that is pinned.\n" +
			"Each run that teaches a profile makes one, and each put. `pacer profiles show NAME --version N` prints one.\n" +
			"HOW says what made it, such as \"recorded\" by a run or \"put\", BY the application or the user. A PINNED one\n" +
			"is planned with.\n" +
			"STAGES, DURATION and CORE-SECONDS are as in `pacer profiles list`."}
	form, whose := outputFlag(c), whoseFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		h, err := of.askHistory(c, args[0], whose, nil)
		if err != nil {
			return err
		}
		if form.encodes() {
			return form.print(of.sh.Stdout, h)
		}
		rows := make([][]string, 0, len(h.Versions))
		for _, v := range h.Versions {
			since, pinned := "-", "-"
			if !v.Since.IsZero() {
				since = v.Since.Local().Format(time.DateTime)
			}
			if v.Pinned {
				pinned = "pinned"
			}
			rows = append(rows, []string{strconv.Itoa(v.Number), since, dash(v.How), dash(v.By), pinned, strconv.Itoa(v.Runs),
				strconv.Itoa(v.Stages), seconds(v.Duration), fmt.Sprintf("%.1f", float64(v.Work))})
		}
		return table(of.sh.Stdout,
			[]string{"VERSION", "SINCE", "HOW", "BY", "PINNED", "RUNS", "STAGES", "DURATION", "CORE-SECONDS"}, rows)
	}
	return c
}

func (of profileCommands) diff() *cobra.Command {
	c := &cobra.Command{Use: "diff NAME [FROM [TO]]", Short: "Say what has changed between two versions of a profile",
		Args: cobra.RangeArgs(1, 3), ValidArgsFunction: of.names,
		Long: "Say in words what has changed from one version of a profile to another one: stages that are new or\n" +
			"gone, and what takes or reads more. TO is the newest version, FROM the one before it, where they are left out."}
	form, whose := outputFlag(c), whoseFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		var q api.Query
		for i, to := range []*int{&q.From, &q.To} {
			if len(args) > i+1 {
				n, err := versionNumber(args[i+1])
				if err != nil {
					return err
				}
				*to = n
			}
		}
		h, err := of.askHistory(c, args[0], whose, &q)
		switch {
		case err != nil:
			return err
		case form.encodes():
			return form.print(of.sh.Stdout, h.Diff)
		}
		said := h.Diff.Said
		if len(said) == 0 {
			said = []string{"nothing that is worth a word"}
		}
		fmt.Fprintf(of.sh.Stdout, "profile %s, from version %d to %d:\n", command.Visible(h.Name), h.Diff.From, h.Diff.To)
		for _, line := range said {
			fmt.Fprintf(of.sh.Stdout, "  %s\n", command.Visible(line))
		}
		return nil
	}
	return c
}

func (of profileCommands) pin() *cobra.Command {
	c := orders(&cobra.Command{Use: "pin NAME [VERSION]", Short: "Plan with a version of a profile, whatever runs teach",
		Args: cobra.RangeArgs(1, 2), ValidArgsFunction: of.names,
		Long: "Plan with a version of a profile from now on, the newest one if none is named. It is kept; runs go on\n" +
			"teaching the newest. Applications that run keep what they are planned with."})
	whose := whoseFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		q := api.ControlRequest{Profile: args[0], Owner: whose.owner, Shared: whose.shared}
		if len(args) > 1 {
			n, err := versionNumber(args[1])
			if err != nil {
				return err
			}
			q.Query = &api.Query{To: n}
		}
		return of.sh.order(c, api.VerbPin, q)
	}
	return c
}

func (of profileCommands) unpin() *cobra.Command {
	c := orders(&cobra.Command{Use: "unpin NAME", Short: "Plan with the newest version of a profile again",
		Args: cobra.ExactArgs(1), ValidArgsFunction: of.names})
	whose := whoseFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return of.sh.order(c, api.VerbUnpin, api.ControlRequest{Profile: args[0], Owner: whose.owner, Shared: whose.shared})
	}
	return c
}
