package bench

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/internal/benchline"
	"github.com/sparkpacer/pacer/internal/realenv"
	"github.com/sparkpacer/pacer/units"
)

// TestDeadlines is `make bench-deadlines`: the workloads of spark/workloads under
// deadlines of stock Spark's own time and more, by each law asked for.
//
// Deadlines are relative to stock Spark's duration, not to the recorded run's, as
// in the source (section 7.1: plain Spark with all cores is the baseline, and the
// deadlines are "the same as the baseline executions", +20 % and +40 %): what a
// user knows is how long the application takes without Pacer, and a recorded run
// would hide what Pacer itself costs. Both are timed from the command to the end
// of the context. Each repetition has a stock run of its own, just before it.
func TestDeadlines(t *testing.T) {
	path := os.Getenv("PACER_BENCH_LOG")
	if path == "" {
		t.Skip("measures only for `make bench-deadlines`, which sets PACER_BENCH_LOG")
	}
	realenv.RequireSpark(t)
	o, err := parseDeadlines(flag.Args())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(realenv.Remove)
	log, err := benchline.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	cluster := startStandalone(t)
	var all results
	for _, law := range o.laws {
		for _, w := range o.workloads {
			t.Run(law+"/"+w.name, func(t *testing.T) {
				b := &deadlineBench{options: o, law: law, workload: w, cluster: cluster}
				// A run that fails ends its workload; the runs before it count.
				defer func() { all = append(all, b.done...) }()
				b.run(t)
				for _, line := range b.done.figures(o.slice) {
					if err := log.Add(line.Name, line.Value, line.Unit); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	if err := all.table(os.Stdout); err != nil {
		t.Error(err)
	}
	all.summary(os.Stdout)
}

// deadlineBench measures one workload under one law.
type deadlineBench struct {
	options  deadlineOptions
	law      string
	workload workload
	cluster  standalone

	system *realenv.System
	// answer is what the recorded run printed, and every other run has to.
	answer string
	done   results
}

// run records a profile under Pacer without a deadline, then, for each repetition,
// measures stock Spark and runs with each slack.
func (b *deadlineBench) run(t *testing.T) {
	b.system = realenv.New(t)
	// Stock Spark has all cores too.
	args := []string{"--set", "node.reserve=0", "--set", "node.law=" + b.law}
	for _, set := range b.options.set {
		args = append(args, "--set", set)
	}
	b.system.StartUp(args...)
	defer b.system.Up.Stop()
	recorded, printed := b.system.Record(slices.Concat(memory, b.application())...)
	b.compare(t, "the recorded run", printed)
	t.Logf("recorded in %.1f s", float64(recorded.Duration))
	for range b.options.reps {
		base := stockRun(t, b.cluster, b.application()...)
		b.compare(t, "stock", base.Answer)
		b.done = append(b.done, b.result(-1, stockDetail(base), base))
		t.Logf("stock: %.1f s, %.1f core-seconds", base.Duration, base.CoreSeconds)
		for _, slack := range b.options.slacks {
			app := b.paced(t, units.Seconds(base.Duration*(1+float64(slack)/100)))
			r := b.result(slack, app, base)
			b.done = append(b.done, r)
			t.Logf("+%d %%: error %+.2f %%, %.1f core-seconds", slack, r.errorPct, float64(app.CoreSeconds))
		}
	}
}

// application is the workload's command behind the options of spark-submit.
func (b *deadlineBench) application() []string {
	args := append([]string{"--class", "io.sparkpacer.workloads.Main", workloadsJar, b.workload.app}, b.workload.args...)
	switch {
	case b.options.slice:
		return append(args, "--slice")
	case b.workload.scale != "":
		return append(args, "--scale", b.workload.scale)
	}
	return args
}

// memory is the executors', as on stock Spark.
var memory = []string{"--executor-memory", "1g"}

// paced runs the workload under a deadline.
func (b *deadlineBench) paced(t *testing.T, deadline units.Seconds) api.AppDetail {
	t.Helper()
	within := []string{"--pacer-deadline", strconv.FormatInt(deadline.Duration().Milliseconds(), 10) + "ms"}
	run := b.system.Submit(slices.Concat(memory, within, b.application())...)
	if code := run.Wait(runLimit); code != 0 {
		t.Fatalf("under Pacer: exit %d", code)
	}
	b.compare(t, "deadline "+deadline.String(), run.Answer())
	app := ended(b.system)
	// To be late is a result, not a fault.
	if !realenv.Paced(app) {
		t.Errorf("deadline %v: %s, not paced: %s", deadline, app.Pacing, app.Reason)
	}
	return app
}

// compare wants the line that all runs print.
func (b *deadlineBench) compare(t *testing.T, what, printed string) {
	t.Helper()
	answer, err := realenv.Line(printed, "RESULT ")
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if b.answer == "" {
		b.answer = answer
	}
	if answer != b.answer {
		t.Errorf("%s answers %q, the recorded run %q", what, answer, b.answer)
	}
}

func (b *deadlineBench) result(slack int, app api.AppDetail, base stock) result {
	r := result{law: b.law, workload: b.workload.name, slack: slack, stock: base.CoreSeconds, app: app}
	if app.ErrorPct != nil {
		r.errorPct = *app.ErrorPct
	}
	return r
}

// stockDetail is a run of stock Spark as a row of the table.
func stockDetail(s stock) api.AppDetail {
	return api.AppDetail{AppSummary: api.AppSummary{Duration: units.Seconds(s.Duration), CoreSeconds: units.Work(s.CoreSeconds),
		MeanCores: units.Cores(s.CoreSeconds / s.Wall())}}
}

// workloadsJar is built by `make workloads`.
const workloadsJar = "../spark/workloads/pacer-workloads.jar"

// workload is an application of the jar as it is measured: under a name, with
// arguments, of a scale ("" for 1), by default or when -only names it.
type workload struct {
	name, app string
	args      []string
	scale     string
	extra     bool
}

// workloads are those of the source's Table 4, and of Table 5 with skewed keys.
func workloads() []workload {
	var all []workload
	for _, app := range []string{"aggregate-by-key", "aggregate-by-key-int", "group-by", "sort-by-key", "sort-by-key-int", "kmeans", "pagerank", "svm"} {
		all = append(all, workload{name: app, app: app})
	}
	for _, s := range []string{"1", "2", "3"} {
		// The most frequent key's task runs alone, and its group must fit in memory.
		all = append(all, workload{name: "group-by-zipf-" + s, app: "group-by", args: []string{"--zipf", s}, scale: "0.5", extra: true})
	}
	return all
}

// chosen are the workloads of the names, the default ones without names.
func chosen(names []string) ([]workload, error) {
	var out []workload
	var known []string
	for _, w := range workloads() {
		known = append(known, w.name)
		if slices.Contains(names, w.name) || (len(names) == 0 && !w.extra) {
			out = append(out, w)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("-only %s: want some of %v", name, known)
		}
	}
	return out, nil
}
