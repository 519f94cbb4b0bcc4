package paper

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// leastRuns is how many durations tell how runs differ.
const leastRuns = 5

// measured has the durations of runs on real Spark, a file for each application.
//
//go:embed runs/*.txt
var measured embed.FS

// MeasuredRuns are the speed factors of all runs that were measured on real Spark, for
// plant.Config.Runs.
func MeasuredRuns() ([]float64, error) {
	files, err := measured.ReadDir("runs")
	if err != nil {
		return nil, fmt.Errorf("measured runs: %w", err)
	}
	var all []float64
	for _, file := range files {
		text, err := measured.ReadFile("runs/" + file.Name())
		if err != nil {
			return nil, fmt.Errorf("measured runs: %w", err)
		}
		factors, err := RunFactors(string(text))
		if err != nil {
			return nil, fmt.Errorf("measured runs: %s: %w", file.Name(), err)
		}
		all = append(all, factors...)
	}
	return all, nil
}

// RunFactors makes speed factors for plant.Config.Runs of the durations of one application's
// runs, in seconds, a line each: the median over each. What follows # is
// a comment. The error says the line and what was expected.
func RunFactors(text string) ([]float64, error) {
	var durations []float64
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		d, err := strconv.ParseFloat(line, 64)
		if err != nil || !(d > 0 && d < 1e7) {
			return nil, fmt.Errorf("line %d: %q, want a duration in seconds", i+1, line)
		}
		durations = append(durations, d)
	}
	if len(durations) < leastRuns {
		return nil, fmt.Errorf("%d durations, want at least %d", len(durations), leastRuns)
	}
	slices.Sort(durations)
	n := len(durations)
	median := (durations[(n-1)/2] + durations[n/2]) / 2
	for i := range durations {
		durations[i] = median / durations[i]
	}
	return durations, nil
}
