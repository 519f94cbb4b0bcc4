package benchline_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/test/benchline"
	_ "github.com/sparkpacer/pacer/test/draws"
)

func TestStatistics(t *testing.T) {
	v := []float64{3, -1, 2, 10}
	for name, c := range map[string]struct{ got, want benchline.Measured }{
		"median of four":   {benchline.Median(v), benchline.Measured{Value: 2.5, N: 4, Spread: [2]float64{-1, 10}}},
		"median of three":  {benchline.Median(v[:3]), benchline.Measured{Value: 2, N: 3, Spread: [2]float64{-1, 3}}},
		"mean":             {benchline.Mean(v), benchline.Measured{Value: 3.5, N: 4, Spread: [2]float64{-1, 10}}},
		"p99":              {benchline.Quantile(v, 0.99), benchline.Measured{Value: 10, N: 4, Spread: [2]float64{-1, 10}}},
		"ratio":            {benchline.Ratio([]float64{90, 110, 100}, []float64{50, 200, 30}), benchline.Measured{Value: 2, N: 3, Spread: [2]float64{1.8, 2.2}}},
		"farthest":         {benchline.Farthest([]float64{1, -3, 2}), benchline.Measured{Value: -3, N: 3, Spread: [2]float64{-3, 2}}},
		"one":              {benchline.One(7), benchline.Measured{Value: 7, N: 1, Spread: [2]float64{7, 7}}},
		"in another unit":  {benchline.Median(v).Times(10), benchline.Measured{Value: 25, N: 4, Spread: [2]float64{-10, 100}}},
		"farthest of none": {benchline.Farthest([]float64{0, 0}), benchline.Measured{Value: 0, N: 2, Spread: [2]float64{0, 0}}},
	} {
		if d := cmp.Diff(c.want, c.got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestAValueLiesWithinItsSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 20).Draw(t, "values")
		before := append([]float64(nil), v...)
		for name, m := range map[string]benchline.Measured{"median": benchline.Median(v), "mean": benchline.Mean(v),
			"quantile": benchline.Quantile(v, rapid.Float64Range(0, 1).Draw(t, "rank")), "farthest": benchline.Farthest(append(v, 0))} {
			const rounding = 1e-6
			if m.Value < m.Spread[0]-rounding || m.Value > m.Spread[1]+rounding || m.N < len(before) {
				t.Fatalf("%s: %+v", name, m)
			}
		}
		for i := range before {
			if math.Float64bits(v[i]) != math.Float64bits(before[i]) {
				t.Fatal("the values were changed")
			}
		}
	})
}
