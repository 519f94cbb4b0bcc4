package mesh

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/sim/mesh/probe"
)

var rewriteGolden = flag.Bool("rewrite", false, "write the golden file again")

// Small worlds of each system, and of Peacock under each reading of its switches, to the byte.
func TestSmallWorldsAreAsTheyWere(t *testing.T) {
	const file = "testdata/small.txt"
	var b strings.Builder
	run := func(name, choice string) {
		c, jobs := small(80, 100, 0.5, 3)
		if choice != "" {
			var err error
			if c.Rules, err = c.Rules.With(choice); err != nil {
				t.Fatal(err)
			}
		}
		out, err := Run(name, c, jobs)
		if err != nil {
			t.Fatal(err)
		}
		var sum time.Duration
		for _, d := range out.Took {
			sum += d
		}
		fmt.Fprintf(&b, "%-13s %-24s mean %9.3f s, %6d hops, %5d by job, %4d noops\n", name, choice, (sum / 80).Seconds(), out.Hops,
			out.JobHops, out.Noops)
	}
	for _, name := range Systems() {
		run(name, "")
	}
	for _, s := range probe.Switches {
		name, values, _ := strings.Cut(s, " ")
		for _, v := range strings.Split(values, "|")[1:] {
			run("peacock", name+" "+v)
		}
	}
	if *rewriteGolden {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("-rewrite writes it again:\n%s", d)
	}
}
