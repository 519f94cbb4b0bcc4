package bench

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/internal/benchline"
)

// result is a run of a workload. A slack of -1 is stock Spark without Pacer.
type result struct {
	law, workload string
	slack         int
	errorPct      float64 // Eq 4.
	// stock is stock Spark's core-seconds, measured just before.
	stock float64
	app   api.AppDetail
}

// stageErrorPct is the mean of Eq 5 over the stages that had a deadline.
func (r result) stageErrorPct() float64 {
	sum, n := 0.0, 0
	for _, s := range r.app.Stages {
		if s.ErrorPct != nil {
			sum, n = sum+math.Abs(*s.ErrorPct), n+1
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

func (r result) coreSecondsRatio() float64 { return float64(r.app.CoreSeconds) / r.stock }

type results []result

// table prints every run in its order.
func (all results) table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "law\tworkload\tslack\tdeadline\tfinish\terror %\tmean |stage error| %\tmean cores\tcore-seconds\tover stock's\tquota changes\t")
	for _, r := range all {
		if r.slack < 0 {
			fmt.Fprintf(t, "stock\t%s\t-\t-\t%.1f s\t-\t-\t%.2f\t%.1f\t-\t-\t\n", r.workload, float64(r.app.Duration),
				float64(r.app.MeanCores), float64(r.app.CoreSeconds))
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t+%d %%\t%.1f s\t%.1f s\t%+.2f\t%.2f\t%.2f\t%.1f\t%.3f\t%d\t\n", r.law, r.workload, r.slack,
			float64(r.app.Deadline), float64(r.app.Duration), r.errorPct, r.stageErrorPct(), float64(r.app.MeanCores),
			float64(r.app.CoreSeconds), r.coreSecondsRatio(), r.app.QuotaChanges)
	}
	return t.Flush()
}

// group is the runs of one cell: law, workload and slack.
type group struct {
	first result
	runs  results
}

// groups are the runs under deadlines by key, in the order of the first of each.
func (all results) groups(key func(result) string) []group {
	var out []group
	for _, r := range all {
		if r.slack < 0 {
			continue
		}
		i := slices.IndexFunc(out, func(g group) bool { return key(g.first) == key(r) })
		if i < 0 {
			i, out = len(out), append(out, group{first: r})
		}
		out[i].runs = append(out[i].runs, r)
	}
	return out
}

func (all results) values(of func(result) float64) []float64 {
	var out []float64
	for _, r := range all {
		out = append(out, of(r))
	}
	return out
}

// figures are the lines for out/bench.jsonl, medians over the repetitions. Those of
// the slice have a name of their own: errors in per cent of 15 s are not those of
// 60 s.
func (all results) figures(slice bool) []benchline.Line {
	prefix := "deadlines"
	if slice {
		prefix = "deadlines-slice"
	}
	var out []benchline.Line
	for _, g := range all.groups(func(r result) string { return r.law + " " + r.workload + " " + strconv.Itoa(r.slack) }) {
		name := fmt.Sprintf("%s.%s.%s.%d.", prefix, g.first.law, g.first.workload, g.first.slack)
		for _, f := range []struct {
			figure, unit string
			of           func(result) float64
		}{
			{"error_pct", "%", func(r result) float64 { return r.errorPct }},
			{"core_seconds_ratio", "ratio", result.coreSecondsRatio},
			{"mean_cores", "cores", func(r result) float64 { return float64(r.app.MeanCores) }},
		} {
			out = append(out, benchline.Line{Name: name + f.figure, Value: median(g.runs.values(f.of)), Unit: f.unit})
		}
	}
	return out
}

// summary prints a line for each law and slack: how near, how late, how dear.
func (all results) summary(w io.Writer) {
	for _, g := range all.groups(func(r result) string { return r.law + " " + strconv.Itoa(r.slack) }) {
		sum, worst, late := 0.0, 0.0, 0
		for _, r := range g.runs {
			sum += math.Abs(r.errorPct)
			if math.Abs(r.errorPct) > math.Abs(worst) {
				worst = r.errorPct
			}
			if r.errorPct < 0 {
				late++
			}
		}
		fmt.Fprintf(w, "%s +%d %%: mean |error| %.2f %%, worst %+.2f %%, %d of %d late; core-seconds over stock's: %s\n", g.first.law, g.first.slack,
			sum/float64(len(g.runs)), worst, late, len(g.runs), spread(g.runs.values(result.coreSecondsRatio)))
	}
}

func TestDeadlineTableAndFigures(t *testing.T) {
	run := func(slack int, deadline, duration, work float64, stages ...float64) result {
		app := stockDetail(stock{Duration: duration, CoreSeconds: work})
		app.Deadline, app.MeanCores, app.QuotaChanges = app.Duration, 1.5, 7
		for i := range stages {
			app.Stages = append(app.Stages, api.AppStage{ErrorPct: &stages[i]}, api.AppStage{})
		}
		return result{law: "pi", workload: "svm", slack: slack, errorPct: 100 * (deadline - duration) / deadline, stock: 100, app: app}
	}
	all := results{run(-1, 60, 60, 100), run(20, 100, 98, 104, 1, 3), run(20, 100, 101, 110), run(20, 100, 97, 102), run(40, 100, 99, 101)}
	var text bytes.Buffer
	if err := all.table(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"stock", "+2.00", "-1.00", "+20 %", "1.040", "quota changes"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	if got := all[1].stageErrorPct(); got != 2 {
		t.Errorf("mean stage error %v, want 2", got)
	}
	got := map[string]float64{}
	for _, line := range all.figures(false) {
		got[line.Name] = line.Value
	}
	want := map[string]float64{
		"deadlines.pi.svm.20.error_pct": 2, "deadlines.pi.svm.20.core_seconds_ratio": 1.04, "deadlines.pi.svm.20.mean_cores": 1.5,
		"deadlines.pi.svm.40.error_pct": 1, "deadlines.pi.svm.40.core_seconds_ratio": 1.01, "deadlines.pi.svm.40.mean_cores": 1.5,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if name := all.figures(true)[0].Name; name != "deadlines-slice.pi.svm.20.error_pct" {
		t.Errorf("the slice's figure is %s", name)
	}
	text.Reset()
	all.summary(&text)
	if want := "pi +20 %: mean |error| 2.00 %, worst +3.00 %, 1 of 3 late"; !strings.Contains(text.String(), want) {
		t.Errorf("no %q in\n%s", want, &text)
	}
}

func TestUsageIsReadBetweenItsMoments(t *testing.T) {
	u := usage{{100, 1}, {200, 2}, {300, 6}}
	for moment, want := range map[int64]float64{50: 1, 100: 1, 150: 1.5, 250: 4, 300: 6, 400: 6} {
		if got := u.at(moment); math.Abs(got-want) > 1e-9 {
			t.Errorf("at %d: %v, want %v", moment, got, want)
		}
	}
	if got := (usage{}).at(100); got != 0 {
		t.Errorf("without readings %v", got)
	}
}
