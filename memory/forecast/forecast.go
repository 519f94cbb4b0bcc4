package forecast

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
)

// ErrStandsIn is in the error of a forecast that peak made in the place of the predictor that was asked.
var ErrStandsIn = errors.New("peak stands in")

// errNoNumber is why peak stands in for a model that was fitted.
var errNoNumber = errors.New("what came out is no number")

// Predictor foretells the sample that follows a series. Its error is ErrStandsIn, with a reason, where the mean is
// that of peak; a series without any number gives another error and no mean.
type Predictor func(series []float64) (mean, variance float64, err error)

// predictors is the table. A new predictor is one file and one entry.
var predictors = map[string]Predictor{"peak": peak, "arima": orPeak("arima", ARIMA), "gp": orPeak("gp", GP)}

// Named returns the predictor of that name, or an error that lists the names.
func Named(name string) (Predictor, error) {
	if p := predictors[name]; p != nil {
		return p, nil
	}
	return nil, api.Errorf(api.KindInvalid, "forecast %q is unknown: one of %s", name, strings.Join(Names(), ", "))
}

// Names are the names of the predictors, in order.
func Names() []string { return slices.Sorted(maps.Keys(predictors)) }

// recent is how many samples peak looks at: the source's prototype learns from ten.
const recent = 10

// peak foretells the greatest of the last samples. Samples that are not numbers are passed over.
func peak(series []float64) (mean, variance float64, err error) {
	known := slices.DeleteFunc(slices.Clone(series), func(y float64) bool { return !isNumber(y) })
	if len(known) == 0 {
		return 0, 0, api.Errorf(api.KindInvalid, "forecast of %d samples of which none is a number", len(series))
	}
	return slices.Max(known[max(0, len(known)-recent):]), 0, nil
}

// orPeak is a predictor that leaves to peak what it cannot foretell.
func orPeak(name string, p Predictor) Predictor {
	return func(series []float64) (mean, variance float64, err error) {
		reason := unfit(series)
		if reason == nil {
			if mean, variance, reason = p(series); reason == nil && isNumber(mean) && isNumber(variance) {
				return mean, max(0, variance), nil
			}
		}
		if mean, variance, err = peak(series); err == nil {
			err = fmt.Errorf("forecast by %s: %w: %w", name, ErrStandsIn, cmp.Or(reason, errNoNumber))
		}
		return mean, variance, err
	}
}

// unfit says why no model can be fitted to a series.
func unfit(series []float64) error {
	if len(series) == 0 {
		return errors.New("there are no samples")
	}
	for i, y := range series {
		if !isNumber(y) {
			return fmt.Errorf("sample %d of %d is no number", i+1, len(series))
		}
	}
	if slices.Max(series) == slices.Min(series) {
		return fmt.Errorf("all %d samples are equal", len(series))
	}
	return nil
}

func isNumber(y float64) bool { return !math.IsNaN(y) && !math.IsInf(y, 0) }

// moments are the mean and the standard deviation (by n) of values.
func moments(values []float64) (mean, deviation float64) {
	for _, y := range values {
		mean += y / float64(len(values))
	}
	for _, y := range values {
		deviation += (y - mean) * (y - mean) / float64(len(values))
	}
	return mean, math.Sqrt(deviation)
}
