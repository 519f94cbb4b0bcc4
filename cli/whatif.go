package cli

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/cli/fromlog"
	"github.com/sparkpacer/pacer/sim/whatif"
	"github.com/sparkpacer/pacer/units"
)

// inputSteps are how many inputs a range stands for.
const inputSteps = 6

// whatIf reports whether q is about an application alone, on other cores or with other input.
func (q planAsked) whatIf() bool {
	return q.deadline == "" || strings.Contains(q.cores, ",") || q.stages || len(q.eventlogs) > 0 ||
		q.executors+q.input+q.by != ""
}

// answerWhatIf prints what q's application takes alone, and says whether an input keeps the deadline on no cores.
func answerWhatIf(sh *shell, c *cobra.Command, q planAsked, form output) (late bool, err error) {
	asked, err := q.question(sh)
	if err != nil {
		return false, err
	}
	cores, err := floats[units.Cores]("--cores", q.cores, "")
	if err != nil {
		return false, err
	}
	if len(q.eventlogs) > 0 {
		asked.Profile, err = logProfile(sh, q.eventlogs)
	} else {
		asked.Profile, err = someProfile(sh, c, q.profile)
	}
	if err != nil {
		return false, err
	}
	if len(cores) > 0 {
		asked.Any = true
		asked.Shapes = whatif.Sums(asked.Profile, cores...)
	}
	asked.Stop = c.Context().Done()
	a, err := whatif.Ask(asked)
	if err != nil {
		return false, err
	}
	if form.encodes() {
		err = form.print(sh.Stdout, a)
	} else {
		err = printWhatIf(sh.Stdout, a)
	}
	for _, cheapest := range a.Cheapest {
		late = late || cheapest.Cores == 0
	}
	return late, err
}

// question is what q says besides profile and cores.
func (q planAsked) question(sh *shell) (asked whatif.Question, err error) {
	asked.Certainty, asked.Stages = units.Fraction(q.certainty), q.stages
	switch {
	case q.deadline != "":
		asked.Deadline, err = typedDeadline("--deadline", q.deadline)
	case q.by != "":
		left, fault := untilClock("--by", q.by, sh.now)
		if asked.Deadline, err = units.FromDuration(left), fault; err == nil && left <= 0 {
			err = command.Usagef("--by: %s is past", q.by)
		}
	case q.stages:
		err = command.Usagef("--stage-deadlines: it needs --deadline or --by")
	}
	if err != nil {
		return asked, err
	}
	if asked.Inputs, err = inputs(q.input); err != nil || q.executors == "" {
		return asked, err
	}
	for _, text := range strings.Split(q.executors, ",") {
		n, each, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(text, " ", "")), "x")
		count, err1 := strconv.Atoi(n)
		cores, err2 := strconv.ParseFloat(each, 64)
		if err1 != nil || err2 != nil {
			return asked, command.Usagef("--executors: %q, want a number of executors and cores of each, such as 4x8", text)
		}
		asked.Shapes = append(asked.Shapes, whatif.Shape{Executors: count, Each: units.Cores(cores)})
	}
	return asked, nil
}

// inputs reads multiples of the profile's input: values, or the ends of a range.
func inputs(text string) ([]float64, error) {
	low, high, isRange := strings.Cut(text, "..")
	if !isRange {
		return floats[float64]("--input", text, "x")
	}
	ends, err := floats[float64]("--input", low+","+high, "x")
	switch {
	case err != nil:
		return nil, err
	case len(ends) != 2 || !(ends[0] < ends[1]):
		return nil, command.Usagef("--input: %q, want a range from less to more, such as 0.5x..3x", text)
	}
	var all []float64
	for i := range inputSteps {
		x := ends[0] + (ends[1]-ends[0])*float64(i)/(inputSteps-1)
		all = append(all, math.Round(1000*x)/1000)
	}
	return all, nil
}

// floats reads numbers with commas between them, each with that unit or none.
func floats[T ~float64](flag, text, unit string) (all []T, err error) {
	if text == "" {
		return nil, nil
	}
	for _, part := range strings.Split(text, ",") {
		x, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(part), unit), 64)
		if err != nil || !(x > 0) {
			return nil, command.Usagef("%s: %q, want a number > 0", flag, part)
		}
		all = append(all, T(x))
	}
	return all, nil
}

// logProfile is the profile that event logs of one application make.
func logProfile(sh *shell, paths []string) (p api.Profile, err error) {
	if err := there(paths); err != nil {
		return p, err
	}
	none := func(string) (*api.Profile, error) { return nil, nil }
	made, became, err := fromlog.Shelve(readLogs(sh.Stdin, paths), "", none)
	if err != nil {
		return p, err
	}
	for _, b := range became {
		if b.As == fromlog.Skipped {
			return p, command.Usagef("--eventlog: %s makes no profile: %s", b.Path, b.Why)
		}
	}
	if len(made) != 1 {
		return p, command.Usagef("--eventlog: these are logs of %d applications, %s and %s among them, want those of one",
			len(made), made[0].Name, made[1].Name)
	}
	return made[0], nil
}

// someProfile is the profile that a user means by text, as for withProfile; a file's where no planner answers.
func someProfile(sh *shell, c *cobra.Command, text string) (p api.Profile, err error) {
	_, isFile := os.Stat(text)
	err = withProfile(sh.Stdin, text, func(name string, body *api.Profile) (err error) {
		if body != nil {
			p = *body
			return nil
		}
		p, err = profileCommands{sh}.one(c.Context(), api.ControlRequest{Profile: name})
		if api.KindOf(err) == api.KindTransient && isFile == nil {
			p, err = readProfile(sh.Stdin, text)
		}
		return err
	})
	return p, err
}

func printWhatIf(w io.Writer, a whatif.Answer) error {
	if err := fields(w, "profile", a.Profile, "runs", strconv.Itoa(a.Runs), "recorded",
		fmt.Sprintf("%s at %v cores; replayed %s", seconds(a.Duration), a.Recorded.Cores(), seconds(a.Replayed)),
		"deadline", seconds(a.Deadline), "certainty", fmt.Sprintf("%.0f %%", a.Certainty.Percent())); err != nil {
		return err
	}
	for _, note := range a.Notes {
		fmt.Fprintln(w, "note: "+note)
	}
	for _, c := range a.Cheapest {
		if c.Cores == 0 {
			fmt.Fprintf(w, "cheapest with %gx input: none of these cores keeps the deadline\n", c.Input)
			continue
		}
		fmt.Fprintf(w, "cheapest with %gx input: %v cores, paced to end after %s, %.0f core-seconds (%.0f at all cores)\n",
			c.Input, c.Cores, seconds(c.Finish), float64(c.Work), float64(c.AllCores))
	}
	fmt.Fprintln(w)
	heading := []string{"CORES", "EXECUTORS", "INPUT", "FINISH", "50 %", "90 %", "EARLIEST DEADLINE", "CORE-SECONDS",
		"FLOOR", "CHAIN", "DRIVER", "KEEPS", "SURE", "CRITICAL PATH"}
	between := func(b whatif.Bounds) string { return seconds(b.Low) + " to " + seconds(b.High) }
	var rows, stages [][]string
	for _, c := range a.Cells {
		keeps := "-"
		if c.Keeps != nil {
			keeps = map[bool]string{true: "yes", false: "no"}[*c.Keeps]
		}
		sure := string(c.Sure)
		if len(c.Why) > 0 {
			sure += ": " + strings.Join(c.Why, "; ")
		}
		rows = append(rows, []string{c.Cores.String(), fmt.Sprintf("%d x %v", c.Executors, c.Each),
			fmt.Sprintf("%gx", c.Input), seconds(c.Finish), between(c.Half), between(c.Most), seconds(c.Promise),
			fmt.Sprintf("%.0f", float64(c.Work)), seconds(c.Floor.Finish), seconds(c.Floor.Chain), seconds(c.Floor.Driver),
			keeps, sure, longest(c.Path)})
		for _, s := range c.Stages {
			stages = append(stages, []string{c.Cores.String(), fmt.Sprintf("%gx", c.Input), strconv.Itoa(s.ID),
				stageName(s.Name, 40), seconds(s.Start), seconds(s.Deadline), s.Cores.String()})
		}
	}
	if err := table(w, heading, rows); err != nil || len(stages) == 0 {
		return err
	}
	fmt.Fprintln(w)
	return table(w, []string{"CORES", "INPUT", "STAGE", "NAME", "START", "DEADLINE", "STAGE'S CORES"}, stages)
}

// longest are the longest stages of a path, with their parts of what all of it take.
func longest(path []whatif.Step) string {
	all := units.Seconds(0)
	for _, s := range path {
		all += s.Took
	}
	by := slices.SortedStableFunc(slices.Values(path), func(a, b whatif.Step) int { return cmp.Compare(b.Took, a.Took) })
	var names []string
	for _, s := range by[:min(3, len(by))] {
		names = append(names, fmt.Sprintf("%d %s %.0f %%", s.ID, stageName(s.Name, 24), 100*float64(s.Took/all)))
	}
	return strings.Join(names, ", ")
}
