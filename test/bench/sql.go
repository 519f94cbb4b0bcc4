package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
)

const (
	// sqlMaker makes the tables, sqlProgram is the report.
	sqlMaker, sqlProgram = "tpch.py", "queries.py"
	// sqlQueries is how many queries TPC-H has.
	sqlQueries = 22
	// sqlSlack is a deadline as a multiple of the time that the recorded run of all queries took.
	sqlSlack = 1.4
	// sqlCertainty is how likely its deadlines are to be kept.
	sqlCertainty = "0.95"
	sqlRuns      = 2
)

// sqlWay is how runs of the report differ from the recorded one.
type sqlWay struct {
	name string
	// kind is which texts the queries have.
	kind string
	// orders are the numbers of the queries, each in an order in which they come.
	orders [][]int
	// less says that six of the queries were not there when it was recorded.
	less bool
}

// sqlWays are those that are measured.
func sqlWays() []sqlWay {
	all, reversed := sqlNumbers(), sqlNumbers()
	slices.Reverse(reversed)
	var drawn [][]int
	for seed := range uint64(2) {
		order, r := sqlNumbers(), rand.New(rand.NewPCG(seed, 0))
		r.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
		drawn = append(drawn, order)
	}
	return []sqlWay{
		{name: "same", kind: "same", orders: [][]int{all}},
		{name: "dates", kind: "dates", orders: [][]int{all}},
		{name: "fewer", kind: "same", orders: [][]int{sqlFewer()}},
		{name: "more", kind: "same", orders: [][]int{all}, less: true},
		{name: "reversed", kind: "same", orders: [][]int{reversed}},
		{name: "shuffled", kind: "same", orders: drawn},
	}
}

func sqlNumbers() (all []int) {
	for n := range sqlQueries {
		all = append(all, n+1)
	}
	return all
}

// sqlFewer are all queries but six, every fourth of them.
func sqlFewer() []int { return slices.DeleteFunc(sqlNumbers(), func(n int) bool { return n%4 == 2 }) }

// sqlRows are the report in all ways, and in each by its name alone.
func sqlRows(o trialOptions) []row {
	if o.runs == 0 {
		o.runs = sqlRuns
	}
	rowOf := func(name string, ways []sqlWay, extra bool) row {
		minutes := 4.5 // The tables, and what is recorded.
		for _, w := range ways {
			minutes += 2.1 * float64(o.runs*len(w.orders))
		}
		return row{name: name, minutes: minutes, spark: true, extra: extra, always: true,
			measure: func(t testing.TB, add adder) { sqlMeasured(t, add, ways, o) }}
	}
	all := sqlWays()
	out := []row{rowOf("sql", all, false)}
	for _, w := range all {
		out = append(out, rowOf("sql-"+w.name, []sqlWay{w}, true))
	}
	return out
}

// sqlReport is the report on one system.
type sqlReport struct {
	t testing.TB
	s *realenv.System
	// tables is the directory of the tables, want what DuckDB answers there by kind and number.
	tables string
	want   map[string]map[string][][]any
	// answered are queries that have been asked, differ those of which an answer differed, wrong how many did.
	answered, differ map[int]bool
	wrong            int
}

// sqlMeasured records the report, whole and without six queries, and runs it in all those ways, each run with a
// deadline by the whole one and from the profile that was recorded.
func sqlMeasured(t testing.TB, add adder, ways []sqlWay, o trialOptions) {
	b := sqlReport{t: t, tables: t.TempDir(), answered: map[int]bool{}, differ: map[int]bool{}}
	b.make(cmp.Or(o.scale, "1"))
	b.s = realenv.StartUp(t)
	took, whole := b.record(sqlNumbers())
	var less []byte
	if slices.ContainsFunc(ways, func(w sqlWay) bool { return w.less }) {
		_, less = b.record(sqlFewer())
	}
	flags, deadline := deadlineAt(sqlSlack*took.Seconds(), cmp.Or(o.certainty, sqlCertainty))
	errs := map[string][]float64{}
	for round := range o.runs {
		for _, w := range ways {
			for i, order := range w.orders {
				profile := whole
				if w.less {
					profile = less
				}
				putProfile(t, b.s, profile)
				wall := b.run(w.kind, order, flags...).Seconds()
				app := ended(b.s)
				r := outcome{wall: wall, coreSeconds: float64(app.CoreSeconds), deadline: deadline, pacing: app.Pacing}
				pct, _ := r.errorPct()
				errs[w.name] = append(errs[w.name], pct)
				_, why := b.s.Pacer("why", string(app.ID))
				t.Logf("%s, order %d, round %d: %s; notices %q\n%s", w.name, i+1, round+1, r, app.Notices, why)
			}
		}
	}
	var all []float64
	for _, w := range ways {
		median := benchline.Median(errs[w.name])
		median.Each, all = errs[w.name], append(all, errs[w.name]...)
		add(at("sql.exit_error_pct."+w.name, o.variant()), median, "%")
	}
	if len(ways) < len(sqlWays()) {
		return
	}
	add(at("sql.late", o.variant()), lateOf(all), "runs")
	add(at("sql.wrong", o.variant()), benchline.One(float64(b.wrong)), "answers")
	add(at("sql.answers", o.variant()), benchline.One(float64(len(b.answered)-len(b.differ))), "queries")
}

// make makes the tables, and asks DuckDB.
func (b *sqlReport) make(scale string) {
	b.t.Helper()
	command := exec.CommandContext(b.t.Context(), os.Getenv("PYSPARK_PYTHON"), filepath.Join(livePrograms, sqlMaker),
		b.tables, scale)
	if out, err := command.CombinedOutput(); err != nil {
		b.t.Fatalf("%s: %v\n%s", sqlMaker, err, out)
	}
	b.read(filepath.Join(b.tables, "answers.json"), &b.want)
}

func (b *sqlReport) read(path string, what any) {
	b.t.Helper()
	body, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(body, what)
	}
	if err != nil {
		b.t.Fatalf("answers: %v", err)
	}
}

// record runs the report without a deadline and returns its time, and the profile that this run alone teaches.
func (b *sqlReport) record(numbers []int) (time.Duration, []byte) {
	b.t.Helper()
	took := b.run("same", numbers)
	name := ended(b.s).Profile
	profile := profileOf(b.t, b.s, name)
	// It is there to be removed a moment after it is shown.
	b.s.Await("the profile to be removed", 30*time.Second, func() bool {
		code, _ := b.s.Pacer("profiles", "rm", name)
		return code == 0
	})
	b.t.Logf("%d queries, recorded in %.1f s", len(numbers), took.Seconds())
	return took, profile
}

// run runs the report to its end, looks at its answers and returns its time.
func (b *sqlReport) run(kind string, numbers []int, flags ...string) time.Duration {
	b.t.Helper()
	var said []string
	for _, n := range numbers {
		said = append(said, strconv.Itoa(n))
	}
	answers := filepath.Join(b.t.TempDir(), "answers.json")
	run := b.s.Submit(slices.Concat(memory, []string{"--driver-memory", "1g"}, flags,
		[]string{filepath.Join(livePrograms, sqlProgram), b.tables, kind, strings.Join(said, ","), answers})...)
	if code := run.Wait(runLimit); code != 0 {
		b.t.Fatalf("%s, %v: exit %d: %s", kind, numbers, code, run.LastWords())
	}
	var got map[string][][]any
	b.read(answers, &got)
	for i, n := range numbers {
		b.answered[n] = true
		if text := differs(got[said[i]], b.want[kind][said[i]], slices.Contains(sqlTies, n)); text != "" {
			b.wrong++
			b.differ[n] = true
			b.t.Errorf("%s, query %d: %s", kind, n, text)
		}
	}
	return run.Took()
}

// sqlTies are the queries whose ORDER BY leaves open which of two rows comes first. Their rows begin with a key.
var sqlTies = []int{3, 5, 10, 11, 18}

// differs says how an answer differs from the one that is wanted, "" where it does not. Decimals have other digits in
// Spark than in DuckDB: a millionth is no difference. Ties says that the order of rows means nothing.
func differs(got, want [][]any, ties bool) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d rows, want %d", len(got), len(want))
	}
	if ties {
		sorted := func(rows [][]any) [][]any {
			return slices.SortedFunc(slices.Values(rows), func(x, y []any) int {
				return cmp.Compare(fmt.Sprint(x), fmt.Sprint(y))
			})
		}
		got, want = sorted(got), sorted(want)
	}
	for i := range want {
		if !slices.EqualFunc(got[i], want[i], sameValue) {
			return fmt.Sprintf("row %d is %v, want %v", i+1, got[i], want[i])
		}
	}
	return ""
}

func sameValue(x, y any) bool {
	a, isA := x.(float64)
	b, isB := y.(float64)
	if !isA || !isB {
		return x == y
	}
	return math.Abs(a-b) <= 1e-6*max(1, math.Abs(a), math.Abs(b))
}
