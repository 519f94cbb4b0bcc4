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
	"github.com/sparkpacer/pacer/units"
)

func appsCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{Use: "apps", Short: "List applications", Args: cobra.NoArgs, Long: appsHelp}
	form := outputFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		reply, err := sh.ask(c.Context(), api.VerbApps, api.ControlRequest{})
		if err != nil {
			return err
		}
		if *form == "json" {
			return printJSON(sh.Stdout, append([]api.AppSummary{}, reply.Apps...))
		}
		return printApps(sh.Stdout, reply.Apps, sh.now)
	}
	show := &cobra.Command{Use: "show ID", Short: "Show one application", Long: appsHelp, Args: cobra.ExactArgs(1),
		ValidArgsFunction: sh.completeApps}
	showForm := outputFlag(show)
	show.RunE = func(c *cobra.Command, args []string) error {
		app, err := sh.app(c, args[0])
		if err != nil {
			return err
		}
		if *showForm == "json" {
			return printJSON(sh.Stdout, app)
		}
		return printApp(sh.Stdout, app, sh.now)
	}
	limit := &cobra.Command{
		Use: "cap ID CORES", Short: "Bound the cores that an application gets on a node (0: no cap)",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: sh.completeApps,
		RunE: func(c *cobra.Command, args []string) error {
			cores, err := strconv.ParseFloat(args[1], 64)
			if err != nil || !(cores >= 0) {
				return fmt.Errorf("%q, expected a number of cores, 0 for no cap", args[1])
			}
			return sh.order(c, api.VerbCap, api.ControlRequest{App: api.AppID(args[0]), Cap: units.Cores(cores)})
		},
	}
	kill := &cobra.Command{
		Use: "kill ID", Short: "End an application, whether it runs or is queued", Args: cobra.ExactArgs(1),
		ValidArgsFunction: sh.completeApps,
		Long: "End an application. Its driver is told, and ends its context with a line that names\n" +
			"you; if it does not within ten seconds its executors are stopped all the same. One that\n" +
			"is queued is out of the queue at once.",
		RunE: func(c *cobra.Command, args []string) error {
			return sh.order(c, api.VerbKill, api.ControlRequest{App: api.AppID(args[0]), User: userName()})
		},
	}
	c.AddCommand(show, limit, kill)
	return c
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

const appsHelp = `Show applications: running ones and those that ended last.

DEADLINE, DURATION and PREDICTED are counted from the submission to the exit of pacer
submit, or of the driver where it was started without. SUBMITTED, STARTED (the first
task), DUE and ENDS (as predicted) or ENDED are the same on this machine's clock. Where
the exit is not known, ENDS says what its time is taken from instead: (stop) the stop of
the SparkContext, (silence) the planner, which gave up a driver that it did not hear.

ERROR is (deadline - duration) / deadline: +2.0% ended early by 2 % of the deadline,
-2.0% late. A stage's ERROR is how far it ended from its own deadline, either way, in
per cent of the application's. What failed has no error, nor what is "unknown": it has ended,
and nobody knows with which exit code, nor one that was late and could not have been in time.

One that waits for memory is "queued" with its place, as in "queued 2/3"; STARTED is then
when it is expected to start, as in "~06:41:00", or "-" where nobody knows.`

// printApps prints the table of `pacer apps`; times of day are in now's time zone.
func printApps(w io.Writer, apps []api.AppSummary, now time.Time) error {
	rows := make([][]string, 0, len(apps))
	for _, a := range apps {
		rows = append(rows, []string{string(a.ID), a.Name, state(a), a.Pacing, string(a.Verdict), seconds(a.Deadline),
			seconds(a.Duration), seconds(a.Predicted), errorOf(a), submittedAt(a, now), started(a, now),
			clockTime(a, a.Deadline, now), ends(a, now), figure(a.MeanCores, 2), figure(a.CoreSeconds, 1)})
	}
	return table(w, []string{"ID", "NAME", "STATE", "PACING", "VERDICT", "DEADLINE", "DURATION", "PREDICTED", "ERROR",
		"SUBMITTED", "STARTED", "DUE", "ENDS", "MEAN CORES", "CORE-SECONDS"}, rows)
}

// errorOf is a's error, "-" where there is none: how late one ended whose deadline nobody could keep
// says nothing of how it was paced.
func errorOf(a api.AppSummary) string {
	if a.Verdict == api.VerdictInfeasible && a.ErrorPct != nil && *a.ErrorPct < 0 {
		return "-"
	}
	return percent(a.ErrorPct)
}

// submittedAt is when a was submitted, clockTime the time of day at a later reading of its
// deadline clock; "-" where that is not known. A day other than now's is named.
func submittedAt(a api.AppSummary, now time.Time) string {
	if a.Submitted.IsZero() {
		return "-"
	}
	return timeOfDay(a.Submitted, now)
}

func clockTime(a api.AppSummary, at units.Seconds, now time.Time) string {
	if a.Submitted.IsZero() || at == 0 {
		return "-"
	}
	return timeOfDay(a.Submitted.Add(at.Duration()), now)
}

func timeOfDay(t, now time.Time) string {
	t = t.In(now.Location()).Round(time.Second)
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format("Jan 2 15:04:05")
}

// ends is when a ended or is predicted to end, and what that is taken from if it is not
// the exit.
func ends(a api.AppSummary, now time.Time) string {
	if a.EndedBy == "" {
		return clockTime(a, a.Predicted, now)
	}
	text := clockTime(a, a.Duration, now)
	if !a.EndedBy.Known() {
		text += " (" + string(a.EndedBy) + ")"
	}
	return text
}

// started is when a's first task was launched or, while it is queued, is expected to be.
func started(a api.AppSummary, now time.Time) string {
	if a.Queue == nil || a.Queue.Start == 0 {
		return clockTime(a, a.FirstLaunch, now)
	}
	return "~" + clockTime(a, a.Queue.Start, now)
}

// state is an application's state, with its exit code where that is known.
func state(a api.AppSummary) string {
	if a.Queue != nil {
		return fmt.Sprintf("%s %d/%d", a.State, a.Queue.Place, a.Queue.Of)
	}
	if a.ExitCode != 0 {
		return fmt.Sprintf("%s (%d)", a.State, a.ExitCode)
	}
	return string(a.State)
}

// printApp prints `pacer apps show ID`.
func printApp(w io.Writer, a *api.AppDetail, now time.Time) error {
	cores, changes, would := "CORES OVER TIME", "QUOTA CHANGES", ""
	if a.WouldCores != nil {
		cores, changes = "WOULD-BE CORES OVER TIME", "WOULD-BE QUOTAS"
		would = fmt.Sprintf("%.2f (observed: no quota is written)", float64(*a.WouldCores))
	}
	err := fields(w,
		"id", string(a.ID), "name", a.Name, "profile", a.Profile, "user", a.User,
		"state", state(a.AppSummary), "pacing", a.Pacing, "verdict", string(a.Verdict), "reason", a.Reason,
		"deadline", seconds(a.Deadline), "duration", seconds(a.Duration), "predicted finish", seconds(a.Predicted),
		"error", errorOf(a.AppSummary), "headline", a.Headline, "not recorded", a.Unrecorded, "submitted",
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
		fmt.Fprintf(w, "lost: %.1f core-seconds to %s\n", float64(l.CoreSeconds), whoHad(l.To))
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
		rows = append(rows, []string{stageID(s.StageKey), stageName(s.Name, 32), s.State, matchOf(s.Match),
			strconv.Itoa(s.Tasks),
			seconds(s.Start), seconds(s.Deadline), seconds(s.Duration), percent(s.ErrorPct), count(s.Records),
			figure(s.CoreSeconds, 1), list(s.Executors), strconv.Itoa(s.QuotaChanges), coresOverTime(s.Samples)})
	}
	return table(w, []string{"STAGE", "NAME", "STATE", "PROFILE", "TASKS", "START", "DEADLINE", "DURATION", "ERROR",
		"RECORDS", "CORE-SECONDS", "EXECUTORS", changes, cores}, rows)
}

// sayShortage says when an application was short of cores where, and who had them.
func sayShortage(s api.AppShortage) string {
	when := "since " + seconds(s.Begin)
	if s.End > 0 {
		when = seconds(s.Begin) + " to " + seconds(s.End)
	}
	text := fmt.Sprintf("%s on %s: it asked for %.2f cores and had %.2f, most had %s", when, s.Node, float64(s.Asked),
		float64(s.Had), whoHad(s.To))
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

// whoHad names who had cores that an application asked for.
func whoHad(id api.AppID) string {
	if id == "" {
		return "what is not Pacer's"
	}
	return string(id)
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
	return &cobra.Command{
		Use: "release ID", Short: "Give an application all cores from now on", Args: cobra.ExactArgs(1),
		ValidArgsFunction: sh.completeApps,
		RunE: func(c *cobra.Command, args []string) error {
			return sh.order(c, api.VerbRelease, api.ControlRequest{App: api.AppID(args[0])})
		},
	}
}

func deadlineCommand(sh *shell) *cobra.Command {
	return &cobra.Command{
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
	}
}

func (sh *shell) deadlineRequest(c *cobra.Command, id, text string) (api.ControlRequest, error) {
	r := api.ControlRequest{App: api.AppID(id)}
	if strings.ContainsAny(text, ":-") && !strings.HasPrefix(text, "-") {
		left, err := untilClock("deadline", text, sh.now)
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
	d, err := deadlineValue("deadline", by)
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

// order sends a request whose reply is one line.
func (sh *shell) order(c *cobra.Command, verb api.Verb, r api.ControlRequest) error {
	reply, err := sh.ask(c.Context(), verb, r)
	if err != nil {
		return err
	}
	if reply.Message != "" {
		fmt.Fprintln(sh.Stdout, reply.Message)
	}
	return nil
}

// completeApps offers the ids of applications to the shell's completion.
func (sh *shell) completeApps(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	reply, err := sh.ask(c.Context(), api.VerbApps, api.ControlRequest{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var ids []string
	for _, a := range reply.Apps {
		ids = append(ids, string(a.ID)+"\t"+a.Name)
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
