package forecast

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/sparkpacer/pacer/test/draws"
)

// Whatever the samples are, a forecast is two numbers, with a reason where peak stands in, or there is an error.
func TestAForecastIsNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sample := rapid.OneOf(rapid.Float64Range(0, 1e13), rapid.SampledFrom([]float64{0, 0, 1, math.NaN(), math.Inf(1), 1e-300}))
		series := rapid.SliceOfN(sample, 0, 45).Draw(t, "series")
		for _, name := range Names() {
			p, _ := Named(name)
			mean, variance, err := p(series)
			if (err == nil || errors.Is(err, ErrStandsIn)) && !(isNumber(mean) && isNumber(variance) && variance >= 0) {
				t.Fatalf("%s of %v: %g, %g, %v", name, series, mean, variance, err)
			}
		}
	})
}

// A series in MiB is foretold as the same series in bytes.
func TestAForecastIsInTheUnitOfItsSeries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		series := rapid.SliceOfN(rapid.Float64Range(100, 1000), 20, 30).Draw(t, "series")
		bytes := make([]float64, len(series))
		for i, y := range series {
			bytes[i] = y * 1024 * 1024
		}
		for _, name := range Names() {
			p, _ := Named(name)
			mean, variance, err := p(series)
			scaled, spread, scaledErr := p(bytes)
			if (err == nil) != (scaledErr == nil) || !near(scaled/1024/1024, mean, 1e-6) ||
				!near(spread/1024/1024/1024/1024, variance, 1e-5) {
				t.Fatalf("%s: %g, %g, %v in MiB; %g, %g, %v in bytes", name, mean, variance, err, scaled, spread, scaledErr)
			}
		}
	})
}
