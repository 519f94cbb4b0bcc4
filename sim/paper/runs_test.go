package paper

import (
	"slices"
	"strings"
	"testing"
)

func TestRunFactorsAreTheMedianOverEachDuration(t *testing.T) {
	got, err := RunFactors("# Spark 4.3.0\n10\n12.5 # slow\n\n8\n10\n10\n")
	if want := []float64{1.25, 1, 1, 1, 0.8}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for text, want := range map[string]string{
		"10\n11":           "2 durations, want at least 5",
		"10\nfast\n":       `line 2: "fast", want a duration`,
		"1\n1\n1\n1\n0":    `line 5: "0", want a duration`,
		"1\n1\n1\n1\nNaN":  `line 5: "NaN", want a duration`,
		"1\n1\n1\n1\n-2\n": `line 5: "-2", want a duration`,
	} {
		if _, err := RunFactors(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	all, err := MeasuredRuns()
	if err != nil || len(all) < 3*10 {
		t.Fatalf("%d measured runs, %v, want ten of each of three applications", len(all), err)
	}
	if most, least := slices.Max(all), slices.Min(all); most > 1.3 || least < 0.7 {
		t.Errorf("measured runs go %v to %v times as fast as the median", least, most)
	}
}
