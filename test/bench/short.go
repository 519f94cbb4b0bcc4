package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/sim/paper"
	"github.com/sparkpacer/pacer/test/benchline"
)

// shortSeeds is how often each report is run.
const shortSeeds = 20

// shortRows measure applications of many short stages in virtual time.
func shortRows() []row {
	return []row{{name: "short", minutes: 0.1, measure: shortStages}}
}

// shortStages measures how early reports of small queries end, at +25 and +50 %: the error at exit.
func shortStages(t testing.TB, add adder) {
	cells, err := paper.Run("short", experiment.Options{Laws: []string{controller.LawPacer}, Seeds: shortSeeds})
	if err != nil {
		t.Fatal(err)
	}
	var all []float64
	by := make(map[string][]float64)
	for _, c := range cells {
		slack := c.Case[strings.LastIndex(c.Case, "+")+1 : len(c.Case)-1]
		for _, r := range c.Runs {
			all, by[slack] = append(all, r.Error), append(by[slack], r.Error)
		}
	}
	add("short.error_pct", benchline.Mean(all), "%")
	for _, slack := range []string{"25", "50"} {
		add(fmt.Sprintf("short.error_pct.%s", slack), benchline.Mean(by[slack]), "%")
	}
	add("short.late", countOf(all, func(e float64) bool { return e < 0 }), "runs")
}
