package cli

import (
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/units"
)

func appsCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{Use: "apps", Short: "List applications", Args: cobra.NoArgs, Long: appsHelp}
	form, pick := outputFlag(c, "wide"), pickFlags(c)
	watch := c.Flags().Bool("watch", false, "go on, and print again what has changed, until interrupted")
	c.RunE = func(c *cobra.Command, _ []string) error {
		list := drawing(func(p *page, ask asking, now time.Time) error {
			reply, err := ask(api.VerbApps, api.ControlRequest{})
			if err != nil {
				return err
			}
			return printApps(p, pick.of(reply.Apps, now), *form, now)
		})
		return list.print(c, sh, *watch)
	}
	show := &cobra.Command{Use: "show ID", Short: "Show one application", Long: showHelp, Args: cobra.ExactArgs(1),
		ValidArgsFunction: sh.completeApps}
	showForm := outputFlag(show)
	show.RunE = func(c *cobra.Command, args []string) error {
		app, err := sh.app(c, args[0])
		if err != nil {
			return err
		}
		if showForm.encodes() {
			return showForm.print(sh.Stdout, app)
		}
		return printApp(sh.Stdout, app, sh.now)
	}
	// All that is done with one application; the commands stand at the root, too.
	c.AddCommand(show, killCommand(sh.order, sh.completeApps), capCommand(sh.order, sh.completeApps),
		releaseCommand(sh), deadlineCommand(sh), logsCommand(sh), whyCommand(sh.Stdout, sh.ask, sh.completeApps))
	return c
}

// ordering sends a request whose reply is one line.
type ordering func(c *cobra.Command, verb api.Verb, r api.ControlRequest) error

func capCommand(order ordering, complete cobra.CompletionFunc) *cobra.Command {
	return orders(&cobra.Command{
		Use: "cap ID CORES", Short: "Bound the cores that an application gets on a node (0: no cap)",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: complete,
		RunE: func(c *cobra.Command, args []string) error {
			cores, err := strconv.ParseFloat(args[1], 64)
			if err != nil || !(cores >= 0) {
				return command.Usagef("cores: %q, want a number of cores, 0 for no cap", args[1])
			}
			return order(c, api.VerbCap, api.ControlRequest{App: api.AppID(args[0]), Cap: units.Cores(cores)})
		},
	})
}

func killCommand(order ordering, complete cobra.CompletionFunc) *cobra.Command {
	return orders(&cobra.Command{
		Use: "kill ID", Short: "End an application, whether it runs or is queued", Args: cobra.ExactArgs(1),
		ValidArgsFunction: complete,
		Long: "End an application. Its driver is told, and ends its context with a line that names\n" +
			"you; if it does not within ten seconds its executors are stopped all the same. A queued\n" +
			"application is out of the queue at once.",
		RunE: func(c *cobra.Command, args []string) error {
			return order(c, api.VerbKill, api.ControlRequest{App: api.AppID(args[0]), User: userName()})
		},
	})
}

// userName is who runs this program, as its operating system says.
func userName() string {
	if who, err := user.Current(); err == nil {
		return who.Username
	}
	return "user " + strconv.Itoa(os.Getuid())
}

// app asks for one application.
func (sh *shell) app(c *cobra.Command, id string) (*api.AppDetail, error) {
	reply, err := sh.ask(c.Context(), api.VerbApp, api.ControlRequest{App: api.AppID(id)})
	if err != nil {
		return nil, err
	}
	if reply.App == nil {
		return nil, fmt.Errorf("the planner's answer about %s is empty", id)
	}
	return reply.App, nil
}

// reserve prints what an application keeps for what nobody foresees, "" of nothing.
func reserve(r *api.Reserve) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("%s for what nobody foresees, by %d earlier runs (certainty %.2f)", seconds(r.Time), r.Runs,
		float64(r.Certainty))
}

// printApp prints `pacer apps show ID`.
func printApp(w io.Writer, a *api.AppDetail, now time.Time) error {
	cores, changes, would := "CORES OVER TIME", "QUOTA CHANGES", ""
	if a.WouldCores != nil {
		cores, changes = "WOULD-BE CORES OVER TIME", "WOULD-BE QUOTAS"
		would = fmt.Sprintf("%.2f (observed: no quota is written)", float64(*a.WouldCores))
	}
	if a.Headline != "" { // A planner of before says none.
		fmt.Fprintf(w, "%s\n\n", command.Visible(a.Headline))
	}
	err := fields(w,
		"id", string(a.ID), "name", a.Name, "profile", a.Profile, "user", a.User, "spark ui", a.UIWebURL,
		"state", state(a.AppSummary), "pacing", a.Pacing, "verdict", string(a.Verdict), "reason", a.Reason,
		"deadline", seconds(a.Deadline), "duration", seconds(a.Duration), "predicted finish", seconds(a.Predicted),
		"error", errorOf(a.AppSummary), "risk", string(a.Risk), "not recorded", a.Unrecorded, "submitted",
		submittedAt(a.AppSummary, now),
		"started", started(a.AppSummary, now), "due", clockTime(a.AppSummary, a.Deadline, now),
		"ends", ends(a.AppSummary, now), "earliest deadline", seconds(a.Earliest),
		"mean cores", figure(a.MeanCores, 2), "would-be cores", would, "core-seconds", figure(a.CoreSeconds, 1),
		"quota changes", strconv.Itoa(a.QuotaChanges))
	if err != nil {
		return err
	}
	if q := a.Queue; q != nil {
		fmt.Fprintf(w, "waits: %s\n", q.Why)
		if q.Latest > 0 {
			fmt.Fprintf(w, "latest start: %s\n", clockTime(a.AppSummary, q.Latest, now))
		}
	}
	for _, n := range a.Notices {
		fmt.Fprintf(w, "notice: %s\n", n)
	}
	if a.Cap > 0 {
		fmt.Fprintf(w, "cap: %s cores on a node\n", a.Cap)
	}
	for _, s := range a.Shortages {
		fmt.Fprintf(w, "short: %s\n", sayShortage(s))
	}
	for _, l := range a.Losses {
		fmt.Fprintf(w, "lost: %.1f core-seconds to %s\n", float64(l.CoreSeconds), l.To.Whose())
	}
	printMoves(w, a)
	if len(a.Executors) > 0 {
		fmt.Fprintln(w)
		rows := make([][]string, 0, len(a.Executors))
		for _, e := range a.Executors {
			rows = append(rows, []string{string(e.ID), e.Node, string(e.State), yes(e.Registered), memorySize(e.Memory.Heap),
				offHeap(&e.Memory),
				memorySize(e.Memory.Resident), memorySize(e.Memory.Cache), e.Exit})
		}
		if err := table(w, []string{"EXECUTOR", "NODE", "STATE", "REGISTERED", "HEAP", "OFF-HEAP", "RESIDENT", "PAGE CACHE",
			"EXIT"}, rows); err != nil {
			return err
		}
	}
	if len(a.Stages) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	rows := make([][]string, 0, len(a.Stages))
	for _, s := range a.Stages {
		over := coresOverTime(s.Samples)
		if s.Cores > 0 {
			over = figure(s.Cores, 2) + " planned"
		}
		rows = append(rows, []string{stageID(s.StageKey), stageName(s.Name, 32), s.State, matchOf(s.Match),
			parentsOf(s), strconv.Itoa(s.Tasks),
			seconds(s.Start), seconds(s.Deadline), seconds(s.Duration), percent(s.ErrorPct), count(s.Records),
			figure(s.CoreSeconds, 1), list(s.Executors), strconv.Itoa(s.QuotaChanges), over})
	}
	return table(w, []string{"STAGE", "NAME", "STATE", "PROFILE", "PARENTS", "TASKS", "START", "DEADLINE", "DURATION",
		"ERROR", "RECORDS", "CORE-SECONDS", "EXECUTORS", changes, cores}, rows)
}

// sayShortage says when an application was short of cores where, and who had them.
func sayShortage(s api.AppShortage) string {
	when := "since " + seconds(s.Begin)
	if s.End > 0 {
		when = seconds(s.Begin) + " to " + seconds(s.End)
	}
	text := fmt.Sprintf("%s on %s: it asked for %.2f cores and had %.2f, most had %s", when, s.Node, float64(s.Asked),
		float64(s.Had), s.To.Whose())
	if s.GivenUp {
		text += "; given up, since not all there could be in time"
	}
	return text
}

// printMoves says how a's off-heap memory has moved, if it has.
func printMoves(w io.Writer, a *api.AppDetail) {
	var sum api.ExecutorMemory
	for i := range a.Executors {
		sum.Add(&a.Executors[i].Memory)
	}
	if sum.Moves > 0 {
		fmt.Fprintf(w, "memory: moved %d times, %.1f s in all; %s of blocks evicted for that, %s spilled by tasks\n",
			sum.Moves, float64(sum.Moving), memorySize(sum.Evicted), memorySize(sum.Spilled))
	}
}

// memorySize is a size where it is known.
func memorySize(b units.Bytes) string {
	if b == 0 {
		return "-"
	}
	return (b / units.MiB * units.MiB).String()
}

// offHeap is what an executor has off its heap, and what it is to give back.
func offHeap(m *api.ExecutorMemory) string {
	text := memorySize(m.OffHeap)
	if m.Owed > 0 {
		text += " (owes " + memorySize(m.Owed) + ")"
	}
	return text
}

// coresOverTime prints at most eight of a stage's grants, evenly picked, summed
// over its executors by the executors' order in the samples.
func coresOverTime(samples []api.AppSample) string {
	const most = 8
	var out []string
	step := max(1, (len(samples)+most-1)/most)
	for i := 0; i < len(samples); i += step {
		if g := samples[i].Grant; g < 0 {
			out = append(out, "all")
		} else {
			out = append(out, fmt.Sprintf("%.2f", float64(g)))
		}
	}
	return strings.Join(out, " ")
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func releaseCommand(sh *shell) *cobra.Command {
	return orders(&cobra.Command{
		Use: "release ID", Short: "Give an application all cores from now on", Args: cobra.ExactArgs(1),
		ValidArgsFunction: sh.completeApps,
		RunE: func(c *cobra.Command, args []string) error {
			return sh.order(c, api.VerbRelease, api.ControlRequest{App: api.AppID(args[0])})
		},
	})
}

func deadlineCommand(sh *shell) *cobra.Command {
	return orders(&cobra.Command{
		Use: "deadline ID +10m|90s|06:00", Short: "Extend (+) or replace an application's deadline", Args: cobra.ExactArgs(2),
		Long: "Extend an application's deadline (+10m) or replace it: 90s is counted from the\n" +
			"application's submission, 06:00 is the next such time, as with pacer submit --pacer-by.\n" +
			"The planner plans anew with the time that is then left.",
		ValidArgsFunction: sh.completeApps,
		RunE: func(c *cobra.Command, args []string) error {
			r, err := sh.deadlineRequest(c, args[0], args[1])
			if err != nil {
				return err
			}
			return sh.order(c, api.VerbDeadline, r)
		},
	})
}

func (sh *shell) deadlineRequest(c *cobra.Command, id, text string) (api.ControlRequest, error) {
	r := api.ControlRequest{App: api.AppID(id)}
	if strings.ContainsAny(text, ":-") && !strings.HasPrefix(text, "-") {
		left, err := untilClock("deadline", text, sh.now)
		if err == nil && left <= 0 {
			err = command.Usagef("deadline: %s is past", text)
		}
		if err != nil {
			return r, err
		}
		app, err := sh.app(c, id)
		if err != nil {
			return r, err
		}
		if app.Submitted.IsZero() {
			return r, fmt.Errorf("the planner does not say when %s was submitted: give its deadline as a time from then", id)
		}
		r.Deadline = units.FromDuration(sh.now.Add(left).Sub(app.Submitted))
		return r, nil
	}
	by, extend := strings.CutPrefix(text, "+")
	d, err := typedDeadline("deadline", by)
	if err != nil {
		return r, err
	}
	if extend {
		r.Extend = d
	} else {
		r.Deadline = d
	}
	return r, nil
}

// orders adds -o to a command that gives an order.
func orders(c *cobra.Command) *cobra.Command {
	outputFlag(c)
	return c
}

// order sends a request whose reply is one line. An application may be named by the first part of its id.
func (sh *shell) order(c *cobra.Command, verb api.Verb, r api.ControlRequest) error {
	reply, err := sh.ask(c.Context(), verb, r)
	if err != nil {
		return err
	}
	if flag := c.Flags().Lookup("output"); flag != nil && output(flag.Value.String()).encodes() {
		return output(flag.Value.String()).print(sh.Stdout, map[string]any{"message": reply.Message})
	}
	if reply.Message != "" {
		fmt.Fprintln(sh.Stdout, reply.Message)
	}
	return nil
}

// completeApps offers the ids of applications to the shell's completion.
func (sh *shell) completeApps(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return complete(c, sh, args, api.VerbApps, func(r *api.ControlReply) []api.AppSummary { return r.Apps },
		func(a api.AppSummary) string { return string(a.ID) + "\t" + a.Name })
}

// complete offers the names of all that a verb asks for to the shell's completion of a first argument.
func complete[T any](c *cobra.Command, sh *shell, args []string, verb api.Verb, all func(*api.ControlReply) []T,
	name func(T) string) (names []string, then cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	reply, err := sh.ask(c.Context(), verb, api.ControlRequest{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	for _, x := range all(&reply) {
		names = append(names, name(x))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
