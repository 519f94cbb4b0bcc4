package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/units"
)

const reportHelp = `Add up the runs that have ended: your own, or all for who operates.

A run with a deadline that has finished is MET or LATE; MARGIN is the median of how long
before their deadlines these ended, late below 0, MARGIN % in parts of these. CORE-HOURS are those that all runs used.
PACED are those of the runs whose profile says what they take, AT ALL CORES what it says:
pacing lowers the cores that a run holds at a time, which is HELD of OFFERED, not its work.
FREED are core-hours that were offered to runs and left to others.
WITHIN are those that took no more time than they had kept for what nobody foresaw, of
all that had: it is to be their certainty (spark.pacer.certainty).
Runs are kept for 400 days, of many the newest.`

// asks asks the planner.
type asks func(context.Context, api.Verb, api.ControlRequest) (api.ControlReply, error)

func reportCommand(out io.Writer, now time.Time, ask asks) *cobra.Command {
	c := &cobra.Command{Use: "report", Short: "Add up runs: deadlines met, margins, cores", Long: reportHelp,
		Args: cobra.NoArgs}
	form := outputFlag(c)
	bys := make([]string, 0, 4)
	for _, by := range api.ReportBys() {
		bys = append(bys, string(by))
	}
	by := c.Flags().String("by", bys[0], fmt.Sprintf("what the rows are of: %v", api.ReportBys()))
	_ = c.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(bys, cobra.ShellCompDirectiveNoFileComp))
	since := c.Flags().String("since", "30d", "runs that ended in the last so long")
	c.RunE = func(c *cobra.Command, _ []string) error {
		long, err := units.ParseDuration(*since)
		if err != nil || long <= 0 {
			return command.Usagef("--since is %q, want a time such as 30d or 12h", *since)
		}
		if !slices.Contains(bys, *by) {
			return command.Usagef("--by %q: want one of %s", *by, strings.Join(bys, ", "))
		}
		_, east := now.Zone()
		reply, err := ask(c.Context(), api.VerbReport, api.ControlRequest{Query: &api.Query{By: api.ReportBy(*by),
			Since: units.FromDuration(long), UTCOffset: east}})
		if err != nil {
			return err
		}
		if reply.Report == nil {
			return fmt.Errorf("the planner's answer about the runs is empty")
		}
		if form.encodes() {
			return form.print(out, reply.Report)
		}
		return printReport(out, reply.Report)
	}
	return c
}

// printReport prints the table of `pacer report`, and under it all together.
func printReport(w io.Writer, r *api.Report) error {
	total := r.Total
	total.Key = "ALL"
	all := r.Rows
	if len(all) != 1 {
		all = append(all[:len(all):len(all)], total)
	}
	rows := make([][]string, 0, len(all))
	for _, x := range all {
		margin := "-"
		if x.Margin != nil {
			margin = span(*x.Margin)
		}
		rows = append(rows, []string{x.Key, strconv.Itoa(x.Runs), strconv.Itoa(x.Met), strconv.Itoa(x.Late),
			strconv.Itoa(x.Failed), strconv.Itoa(x.Killed), strconv.Itoa(x.Refused), margin, percent(x.MarginPct),
			figure(x.CoreHours, 2), known(x.PacedCoreHours), known(x.ProfileCoreHours), known(x.Held), known(x.Offered),
			known(x.FreedCoreHours), within(x)})
	}
	by := map[api.ReportBy]string{api.ByProfile: "PROFILE", api.ByUser: "USER", api.ByClass: "CLASS", api.ByDay: "DAY"}
	return table(w, []string{by[r.By], "RUNS", "MET", "LATE", "FAILED", "KILLED", "REFUSED", "MARGIN", "MARGIN %",
		"CORE-HOURS", "PACED", "AT ALL CORES", "HELD", "OFFERED", "FREED", "WITHIN"}, rows)
}

// within prints the share of the runs of x that took no more than they had kept, "-" of none.
func within(x api.ReportRow) string {
	if x.Kept == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(x.Within)/float64(x.Kept))
}

// known prints a figure to two decimals, "-" for one that nobody knows.
func known[T ~float64](v *T) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(float64(*v), 'f', 2, 64)
}
