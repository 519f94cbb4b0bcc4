package bench

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/daemon"
)

// deadlineOptions are those of `make bench-deadlines ARGS="..."`.
type deadlineOptions struct {
	workloads []workload
	laws      []string
	slacks    []int // Per cent of stock Spark's duration.
	reps      int
	slice     bool
	set       []string
}

// parseDeadlines reads the options.
func parseDeadlines(args []string) (o deadlineOptions, err error) {
	f := flag.NewFlagSet("bench-deadlines", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	only := f.String("only", "", "workloads to run, separated by commas")
	laws := f.String("law", daemon.DefaultNodeConfig().Law, "values of node.law, separated by commas")
	slacks := f.String("slack", "0,20,40", "deadlines over stock Spark's time, in per cent")
	f.IntVar(&o.reps, "reps", 1, "repetitions, each with a stock run of its own")
	f.BoolVar(&o.slice, "slice", false, "take the size of about 15 s instead of 60 s")
	f.Func("set", "a setting of `pacer up`, KEY=VALUE; may be repeated", func(s string) error { o.set = append(o.set, s); return nil })
	if err := f.Parse(args); err != nil {
		return o, fmt.Errorf("%w: want -only, -law, -slack, -reps, -slice, -set", err)
	}
	if f.NArg() > 0 || o.reps < 1 {
		return o, fmt.Errorf("bench-deadlines: %v, -reps %d: want options only and 1 or more repetitions", f.Args(), o.reps)
	}
	if o.workloads, err = chosen(list(*only)); err != nil {
		return o, err
	}
	for _, name := range list(*laws) {
		if _, err := controller.Preset(name); err != nil {
			return o, fmt.Errorf("-law: %w", err)
		}
		o.laws = append(o.laws, name)
	}
	for _, s := range list(*slacks) {
		slack, err := strconv.Atoi(s)
		if err != nil || slack < 0 || slack > 1000 {
			return o, fmt.Errorf("-slack %s: want whole per cent from 0 to 1000", s)
		}
		o.slacks = append(o.slacks, slack)
	}
	return o, nil
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

func TestDeadlineOptions(t *testing.T) {
	names := func(args ...string) []string {
		o, err := parseDeadlines(args)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, w := range o.workloads {
			out = append(out, w.name)
		}
		return out
	}
	if n := names(); len(n) != 8 || slices.Contains(n, "group-by-zipf-1") {
		t.Errorf("by default %v", n)
	}
	if d := cmp.Diff([]string{"group-by", "group-by-zipf-2"}, names("-only", "group-by-zipf-2,group-by")); d != "" {
		t.Error(d)
	}
	byDefault := daemon.DefaultNodeConfig().Law
	o, err := parseDeadlines([]string{"-slice", "-reps", "3", "-law", "authors," + byDefault, "-slack", "20", "-set", "planner.split=paper", "-set", "planner.alpha=1"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"authors", byDefault}
	if !o.slice || o.reps != 3 || !slices.Equal(o.laws, want) || !slices.Equal(o.slacks, []int{20}) || len(o.set) != 2 {
		t.Errorf("%+v", o)
	}
	for _, wrong := range [][]string{{"-only", "KMeans"}, {"-law", "fuzzy"}, {"-reps", "0"}, {"-slack", "-5"}, {"-slack", "x"}, {"group-by"}, {"-fast"}} {
		if o, err := parseDeadlines(wrong); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %+v, %v", wrong, o, err)
		}
	}
}
