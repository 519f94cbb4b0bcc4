package cli

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/units"
)

// planAsked is what `pacer plan` is asked.
type planAsked struct {
	eventlogs                                      []string
	profile, cores, executors, input, deadline, by string
	empty, stages                                  bool
	certainty                                      float64
}

func planCommand(sh *shell) *cobra.Command {
	var q planAsked
	c := &cobra.Command{
		Use:   "plan --profile NAME|FILE|--eventlog PATH [--deadline D]",
		Short: "Say what a deadline would mean, without running anything",
		Args:  cobra.NoArgs,
		Long: "Say what a deadline would mean for a profile beside the applications that run: the\n" +
			"verdict, and for each stage its start, deadline and cores. Exit code 0 when it is feasible or tight, " +
			"76 when it is\ninfeasible.\n\n" +
			"Without --deadline, with several numbers of cores, or with --eventlog, --executors, --input, --by or\n" +
			"--stage-deadlines it says what the application takes alone on these, with bounds, and on how few of them the\n" +
			"deadline is kept. It needs no planner for a file. Exit code 76 when an input keeps the deadline on none\n" +
			"(docs/whatif.md).",
	}
	form := outputFlag(c)
	c.Flags().StringVar(&q.profile, "profile", "", "stored profile, else a profile file (./FILE in any case)")
	c.Flags().StringArrayVar(&q.eventlogs, "eventlog", nil,
		"in place of a profile: the event log of a run, as from-eventlog takes it, or of several when it is repeated")
	c.Flags().StringVar(&q.deadline, "deadline", "", "deadline, such as 90s or 15m")
	c.Flags().StringVar(&q.by, "by", "", "deadline as a time, such as 06:00, of a run that starts now")
	c.Flags().StringVar(&q.cores, "cores", "",
		"plan with this many cores instead of what the nodes offer, or with each of 4,8,16")
	c.Flags().StringVar(&q.executors, "executors", "", "plan with so many executors of so many cores: 4x8, or 2x8,4x8")
	c.Flags().StringVar(&q.input, "input", "", "plan with another input than the profile's: 2x, 1x,3x or 0.5x..3x")
	c.Flags().BoolVar(&q.stages, "stage-deadlines", false, "say what the deadline means for each stage")
	c.Flags().BoolVar(&q.empty, "empty", false, "plan as if nothing else ran")
	c.Flags().Float64Var(&q.certainty, "certainty", float64(api.UsualCertainty),
		"how likely it is to be in time, 0.5 to 0.99")
	_ = c.RegisterFlagCompletionFunc("profile", func(c *cobra.Command, _ []string, prefix string) ([]string,
		cobra.ShellCompDirective) {
		names, _ := profileCommands{sh}.names(c, nil, prefix)
		return names, cobra.ShellCompDirectiveDefault
	})
	c.RunE = func(c *cobra.Command, _ []string) error {
		late, err := answerPlan(sh, c, q, *form)
		if err == nil && late {
			return command.Coded(command.ExitInfeasible, nil)
		}
		return err
	}
	return c
}

// answerPlan prints the answer, and says whether it is that a deadline cannot be kept.
func answerPlan(sh *shell, c *cobra.Command, q planAsked, form output) (late bool, err error) {
	switch {
	case (q.profile == "") == (len(q.eventlogs) == 0):
		return false, command.Usagef("want one of --profile and --eventlog")
	case q.deadline != "" && q.by != "":
		return false, command.Usagef("--deadline and --by exclude each other")
	case q.cores != "" && q.executors != "":
		return false, command.Usagef("--cores and --executors exclude each other")
	case q.whatIf():
		return answerWhatIf(sh, c, q, form)
	}
	reply, err := sh.plan(c, q)
	if _, isFile := os.Stat(q.profile); isFile == nil && api.KindOf(err) == api.KindTransient {
		return answerWhatIf(sh, c, q, form)
	}
	switch {
	case err != nil:
		return false, err
	case form.encodes():
		err = form.print(sh.Stdout, reply)
	default:
		err = printPlan(sh.Stdout, reply)
	}
	if v := reply.Verdict; err == nil && v != api.VerdictFeasible && v != api.VerdictTight && v != api.VerdictInfeasible {
		err = fmt.Errorf("the verdict is %s: %s", v, reply.Reason)
	}
	return reply.Verdict == api.VerdictInfeasible, err
}

// plan sends the query.
func (sh *shell) plan(c *cobra.Command, q planAsked) (api.PlanReply, error) {
	r := api.PlanRequest{Profile: q.profile, Empty: q.empty, Certainty: units.Fraction(q.certainty)}
	d, err := typedDeadline("--deadline", q.deadline)
	if err != nil {
		return api.PlanReply{}, err
	}
	if q.cores != "" {
		cores, err := strconv.ParseFloat(q.cores, 64)
		if err != nil || !(cores >= 0) {
			return api.PlanReply{}, command.Usagef("--cores is %q, want a number > 0", q.cores)
		}
		r.Cores = units.Cores(cores)
	}
	r.Deadline = d
	conn, done, err := sh.dial(c.Context())
	if err != nil {
		return api.PlanReply{}, err
	}
	defer done()
	var reply api.PlanReply
	err = withProfile(sh.Stdin, q.profile, func(name string, body *api.Profile) (err error) {
		r.Profile, r.Body = name, body
		reply, err = conn.PlanQuery(c.Context(), r)
		return err
	})
	if err == nil && reply.Stages == nil {
		reply.Stages = []api.PlanReplyLine{}
	}
	return reply, err
}

// needs is the number of cores that a deadline needs, where that is known and there are so many.
func needs(r api.PlanReply) string {
	if r.Needed <= 0 || r.Verdict == api.VerdictInfeasible {
		return "-"
	}
	return r.Needed.String() + " cores on average"
}

func printPlan(w io.Writer, r api.PlanReply) error {
	if err := fields(w, "verdict", string(r.Verdict), "reason", r.Reason, "earliest deadline", seconds(r.Earliest),
		"needs", needs(r), "reserve", reserve(r.Reserve), "cores", r.Cores.String()); err != nil {
		return err
	}
	rows, bound := make([][]string, 0, len(r.Stages)), false
	for _, s := range r.Stages {
		rows = append(rows, []string{strconv.Itoa(s.ID), stageName(s.Name, 40), seconds(s.Start), seconds(s.Deadline),
			s.Cores.String()})
		bound = bound || s.Binds != ""
	}
	head := []string{"STAGE", "NAME", "START", "DEADLINE", "CORES"}
	if bound {
		head = append(head, "BOUND BY")
		for i, s := range r.Stages {
			rows[i] = append(rows[i], s.Binds)
		}
	}
	return table(w, head, rows)
}
