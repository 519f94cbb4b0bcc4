package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/units"
)

const appsHelp = `Show applications, the newest first: those that run or wait, and the 20 that ended last.

All times are counted from the submission to the exit of pacer submit, or of the driver
where it was started without. DUE is the deadline, ENDS when an application ended or is
predicted to end, on this machine's clock; a "?" behind it says that the exit is not known.
MARGIN is how long before its deadline that is, -40.0s 40 seconds late. CORES are those that
it has used in the mean. With -o wide the exit that is not known is named: (stop) the stop
of the SparkContext, (silence) the planner, which gave up a driver that it did not hear.

STATE is "queued" for memory; "running"; "ending", while its last word is awaited;
"finished" with exit code 0; "failed", with the code where that is known; "unknown"; or
"refused", for its deadline cannot be kept.

PACING says how an application runs: "paced" to its deadline; "recording", at all cores, for
the profile that a deadline needs; "observed", on paper only; "released" to all cores;
"unpaced" or "off". VERDICT is what the planner said at the start: "feasible"; "tight", with
hardly anything left; "infeasible"; "unknown", without a profile; "none", without a deadline.

ERROR is (deadline - duration) / deadline: +2.0% ended early by 2 % of the deadline,
-2.0% late. A stage's ERROR is how far it ended from its own deadline, either way, in
per cent of the application's. An application that failed has no error, nor an "unknown" one: it has ended,
and its exit code is not known. Nor has one that was late and could not have been in time.

An application that waits for memory is "queued" with its place, as in "queued 2/3"; STARTED
is then when it is expected to start, as in "~06:41:00", or "-" where nobody knows.

With -o wide DEADLINE, DURATION and PREDICTED are times from the submission, SUBMITTED and
STARTED times of day. MEAN CORES are what CORES are; CORE-SECONDS are all that were used.

An ID is what "pacer apps" prints, or any part of the whole one that begins it and no other.`

const showHelp = `Show one application, with its executors and its stages. The words that "pacer apps" prints
are explained there (pacer apps --help).

An executor is "starting", "running" or "exited", and EXIT says how. It is REGISTERED once the
driver has it. HEAP and OFF-HEAP are its memory there, what it owes included; RESIDENT is what
the kernel counts for it, PAGE CACHE what of that the kernel can take back.

A STAGE is "running", "done", "failed", "coming", or "gone" where this run has left it out.
PROFILE is the stage of the profile that it is taken for, and how sure that is; PARENTS are the
stages that it reads from. START and DURATION are seconds, its DEADLINE counts from START, and
ERROR is how far it ended from that. RECORDS are read ones, CORE-SECONDS its work. QUOTA CHANGES are how often the cores
of its EXECUTORS were set, CORES OVER TIME how many these had, "all" for no quota; of one that
is coming, what is planned.`

// picking says which applications are listed.
type picking struct {
	user, state, profile string
	since                time.Duration
	all                  bool
}

func pickFlags(c *cobra.Command) *picking {
	var p picking
	f := c.Flags()
	f.StringVar(&p.user, "user", "", "only this user's")
	f.StringVar(&p.state, "state", "", "only those in this state, such as queued, running, finished or failed")
	f.StringVar(&p.profile, "profile", "", "only those of this profile")
	f.DurationVar(&p.since, "since", 0, "also all that were submitted in this time, such as 24h")
	f.BoolVar(&p.all, "all", false, "also all that have ended")
	return &p
}

// mostEnded is how many of those that have ended are listed where no more are asked for.
const mostEnded = 20

// of are those of apps that are listed, the newest first.
func (p *picking) of(apps []api.AppSummary, now time.Time) []api.AppSummary {
	apps = slices.Clone(apps)
	slices.SortFunc(apps, func(a, b api.AppSummary) int {
		return cmp.Or(b.Submitted.Compare(a.Submitted), cmp.Compare(b.ID, a.ID))
	})
	picked, ended := []api.AppSummary{}, 0
	for _, a := range apps {
		switch {
		case p.user != "" && a.User != p.user, p.state != "" && string(a.State) != p.state,
			p.profile != "" && a.Profile != p.profile:
			continue
		case p.since > 0 && a.Submitted.Before(now.Add(-p.since)) && !lives(a):
			continue
		case !lives(a) && !p.all && p.since == 0:
			if ended++; ended > mostEnded {
				continue
			}
		}
		picked = append(picked, a)
	}
	return picked
}

// lives reports whether a has not ended.
func lives(a api.AppSummary) bool {
	return a.State == api.AppQueued || a.State == api.AppRunning || a.State == api.AppEnding
}

// printApps prints `pacer apps`; times of day are in now's time zone.
func printApps(w io.Writer, apps []api.AppSummary, form output, now time.Time) error {
	switch {
	case form.encodes():
		return form.print(w, map[string]any{"applications": apps})
	case form == "wide":
		return printWide(w, apps, now)
	}
	rows := make([][]string, 0, len(apps))
	ids := shortened(apps)
	for i, a := range apps {
		rows = append(rows, []string{ids[i], cut(a.Name, 20), cut(a.User, 10), state(a), dueAt(a, now), endsAt(a, now),
			margin(a), figure(a.MeanCores, 2)})
	}
	return table(w, []string{"ID", "NAME", "USER", "STATE", "DUE", "ENDS", "MARGIN", "CORES"}, rows)
}

// printWide prints all that is known of each in one line.
func printWide(w io.Writer, apps []api.AppSummary, now time.Time) error {
	rows := make([][]string, 0, len(apps))
	for _, a := range apps {
		rows = append(rows, []string{string(a.ID), a.Name, dash(a.User), state(a), a.Pacing, string(a.Verdict),
			seconds(a.Deadline), seconds(a.Duration), seconds(a.Predicted), errorOf(a), submittedAt(a, now), started(a, now),
			clockTime(a, a.Deadline, now), ends(a, now), margin(a), figure(a.MeanCores, 2), figure(a.CoreSeconds, 1)})
	}
	return table(w, []string{"ID", "NAME", "USER", "STATE", "PACING", "VERDICT", "DEADLINE", "DURATION", "PREDICTED",
		"ERROR", "SUBMITTED", "STARTED", "DUE", "ENDS", "MARGIN", "MEAN CORES", "CORE-SECONDS"}, rows)
}

// margin is how long before its deadline a ended, or is predicted to end; "-" where that is not known.
func margin(a api.AppSummary) string {
	end := a.Predicted
	if !lives(a) {
		end = a.Duration
	}
	if a.Deadline <= 0 || end <= 0 || a.State == api.AppFailed || a.State == api.AppRefused {
		return "-"
	}
	return span(a.Deadline - end)
}

// dueAt and endsAt are those times to the second today, to the minute on other days.
func dueAt(a api.AppSummary, now time.Time) string { return narrow(a, a.Deadline, now) }

func endsAt(a api.AppSummary, now time.Time) string {
	switch {
	case a.EndedBy == "":
		return narrow(a, a.Predicted, now)
	case !a.EndedBy.Known():
		return narrow(a, a.Duration, now) + "?"
	}
	return narrow(a, a.Duration, now)
}

func narrow(a api.AppSummary, at units.Seconds, now time.Time) string {
	return readAt(a, at, now, "Jan 2 15:04")
}

// cut is s in at most n characters, "-" where it is empty.
func cut(s string, n int) string {
	s = dash(command.Visible(s))
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// shortened are ids of applications cut after what planners count, or where they differ.
func shortened(apps []api.AppSummary) []string {
	short := make([]string, len(apps))
	seen := map[string]int{}
	for i, a := range apps {
		short[i] = shortID(a.ID)
		seen[short[i]]++
	}
	for i, a := range apps {
		if seen[short[i]] > 1 {
			short[i] = string(a.ID)
		}
	}
	return short
}

// shortID is id without the marks of its planner and of its owner.
func shortID(id api.AppID) string {
	parts := strings.SplitN(string(id), "-", 4)
	return strings.Join(parts[:min(3, len(parts))], "-")
}

// whole is the id of the only application whose id begins with part; part itself where there is none.
func whole(ctx context.Context, c client, part api.AppID) (api.AppID, error) {
	reply, err := c.Control(ctx, api.VerbApps, api.ControlRequest{})
	if err != nil {
		return "", err
	}
	var found []string
	for _, a := range reply.Apps {
		if strings.HasPrefix(string(a.ID), string(part)) {
			found = append(found, string(a.ID))
		}
	}
	switch len(found) {
	case 0:
		return part, nil
	case 1:
		return api.AppID(found[0]), nil
	}
	slices.Sort(found)
	return "", command.Usagef("%q begins the ids of %d applications, such as %s and %s", part, len(found), found[0],
		found[1])
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
	return timeOfDay(a.Submitted, now, dayAndTime)
}

func clockTime(a api.AppSummary, at units.Seconds, now time.Time) string {
	return readAt(a, at, now, dayAndTime)
}

// readAt is the time of day at a reading of a's deadline clock; a day other than now's is in that layout.
func readAt(a api.AppSummary, at units.Seconds, now time.Time, layout string) string {
	if a.Submitted.IsZero() || at == 0 {
		return "-"
	}
	return timeOfDay(a.Submitted.Add(at.Duration()), now, layout)
}

const dayAndTime = "Jan 2 15:04:05"

func timeOfDay(t, now time.Time, layout string) string {
	t = t.In(now.Location()).Round(time.Second)
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format(layout)
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
