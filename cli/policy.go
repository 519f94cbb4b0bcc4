package cli

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
)

func policyCommand(sh *shell) *cobra.Command {
	show := &cobra.Command{Use: "show", Short: "Show how the queue is served, who waits, and who gives nodes to whom",
		Long: policyHelp, Args: cobra.NoArgs}
	form := outputFlag(show)
	show.RunE = func(c *cobra.Command, _ []string) error {
		reply, err := sh.ask(c.Context(), api.VerbPolicy, api.ControlRequest{})
		if err != nil {
			return err
		}
		if reply.Policy == nil {
			return fmt.Errorf("the planner's answer about the queue is empty")
		}
		if form.encodes() {
			return form.print(sh.Stdout, shownPolicy{*reply.Policy, append([]api.AppSummary{}, reply.Apps...)})
		}
		return printPolicy(sh.Stdout, reply.Policy, reply.Apps, sh.now)
	}
	set := &cobra.Command{Use: "set [RULE]", Short: "Serve the queue by another policy from now on", Long: policyHelp,
		ValidArgs: assign.Rules()}
	var p api.QueuePolicy
	flag := func(to *string, name, what string, of []string) {
		set.Flags().StringVar(to, name, "", what+": "+strings.Join(of, ", "))
	}
	flag(&p.Order, "order", "order in which applications wait", assign.Orders())
	flag(&p.Size, "size", "what counts as the size of one", assign.Sizes())
	flag(&p.Admission, "admission", "what is reserved for deadlines that nobody has recorded", assign.Admissions())
	flag(&p.Late, "late", "what becomes of deadlines that cannot be kept", assign.Lates())
	set.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 && p == (api.QueuePolicy{}) {
			return fmt.Errorf("give a rule (%s) or a flag", strings.Join(assign.Rules(), ", "))
		}
		return cobra.MaximumNArgs(1)(c, args)
	}
	set.RunE = func(c *cobra.Command, args []string) error {
		p.Rule = strings.Join(args, "")
		return sh.order(c, api.VerbPolicySet, api.ControlRequest{Policy: &p})
	}
	configured := &cobra.Command{Use: "default", Short: "Serve the queue as the planner is configured again",
		Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
			return sh.order(c, api.VerbPolicySet, api.ControlRequest{})
		}}
	return group("policy", "Show or set how the queue is served: who starts, and who gives nodes back for that", show, set,
		configured)
}

const policyHelp = `How applications that wait for memory are served.

A unit is what an application has on one node. Its core units, without which it cannot
run or keep its deadline, are never taken from it; the rest are elastic. The rules:

  backfill             the first that fits, in order; nothing is given back
  rigid                all units of an application or none
  malleable            what is free goes to those that run, then to the first that waits
  flexible             when one ends, elastic units are given back so that the first starts
  flexible-preemptive  so, and at once for one of a higher priority

An admission says what a deadline gets that nobody has recorded:

  open                 what others leave
  pythia               cores of its own, as many as the deadlines here have needed at most
  justice              cores of its own, as many as they have needed lately

Late says what becomes of a deadline that cannot be kept: share (it runs on what others
leave) or refuse (it is turned down, with the earliest that could be kept). A verdict that is not
known is not refused.

Values that pacer policy set gives are changed, the rest stays; a RULE comes with the order and
the size that are configured where it is given without. A policy that is set holds until it
is taken back (pacer policy default), through restarts of the planner, and before
planner.queue-rule, planner.queue, planner.queue-size, planner.admission and planner.late.

For applications that wait, SUBMITTED, STARTS and DUE are times of day: when each came, is expected to
start, and has its deadline.

The scores: met is the part of the applications with a deadline that ended in time, useful
the part of the work of all that these did, wasted what the others have used, as a part of
the work of all; fairness is Jain's index of what applications have of the nodes that they
could use, in the last hour, and equality that of those that could use as many.`

// shownPolicy is what `pacer policy show -o json` prints.
type shownPolicy struct {
	api.QueueDetail
	Waiting []api.AppSummary `json:"waiting"`
}

// printPolicy prints `pacer policy show`.
func printPolicy(w io.Writer, p *api.QueueDetail, waiting []api.AppSummary, now time.Time) error {
	by := cmp.Or(p.SetBy, "configuration")
	s := p.Scores
	if err := fields(w, "rule", p.Rule, "order", p.Order, "size", p.Size, "admission", p.Admission, "late", p.Late,
		"fraction", fraction(p), "reserved", fmt.Sprintf("%.2f cores", float64(p.Reserved)), "set by", by, "waiting",
		strconv.Itoa(len(waiting)), "met", score(s.Met), "useful", score(s.Useful), "wasted", score(s.Wasted),
		"fairness", score(s.Fairness), "equality", score(s.Equality)); err != nil {
		return err
	}
	for _, m := range p.Idle {
		fmt.Fprintf(w, "idle: %s holds %v of node %s, and has run no task there for a minute\n", m.App, m.Memory, m.Node)
	}
	for _, g := range p.Gifts {
		fmt.Fprintf(w, "gives back: %s gives node %s to %s, which waits\n", g.From, g.Node, g.To)
	}
	if len(waiting) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	rows := make([][]string, 0, len(waiting))
	for _, a := range waiting {
		rows = append(rows, []string{string(a.ID), a.Name, state(a), submittedAt(a, now), started(a, now),
			clockTime(a, a.Deadline, now)})
	}
	return table(w, []string{"ID", "NAME", "STATE", "SUBMITTED", "STARTS", "DUE"}, rows)
}

// fraction says which part of what it could use is reserved for a deadline, and by how many runs that is known.
func fraction(p *api.QueueDetail) string {
	part := "-"
	if p.Fraction != nil {
		part = fmt.Sprintf("%.2f of what one could use", *p.Fraction)
	}
	return fmt.Sprintf("%s (%d runs)", part, p.Runs)
}

// score prints a score, "-" where there is none.
func score(s *float64) string {
	if s == nil {
		return "-"
	}
	return strconv.FormatFloat(*s, 'f', 3, 64)
}
