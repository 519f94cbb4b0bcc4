package forecast

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// mostOrder is the greatest p and q: the search of the source never takes more.
const mostOrder = 3

// leastSamples is the least number of samples for ARIMA: those that peak looks at.
const leastSamples = recent

// ARIMA foretells by the ARIMA(p, d, q) of the series with the least of Akaike's criterion, p and q at most 3 and
// d at most 1 (Eq 2.1 and 2.2). Its variance is that of the model's residuals, which is that of one step ahead.
func ARIMA(series []float64) (mean, variance float64, err error) {
	if len(series) < leastSamples {
		return 0, 0, fmt.Errorf("it has %d samples of the %d that it needs", len(series), leastSamples)
	}
	best := math.Inf(1)
	for d := range 2 {
		values, from := series, 0.0
		if d == 1 {
			values, from = differences(series), series[len(series)-1]
		}
		center, scale := moments(values)
		if scale == 0 {
			if d == 1 { // A straight line.
				return from + center, 0, nil
			}
			continue
		}
		centered := make([]float64, len(values))
		for i, y := range values {
			centered[i] = (y - center) / scale
		}
		for p := range mostOrder + 1 {
			for q := range mostOrder + 1 {
				m, err := HannanRissanen(centered, p, q)
				if err != nil {
					continue
				}
				next, left := m.next(centered)
				// Residuals of all models are those of the same samples: the later half, in the series' own unit.
				squares, n := 0.0, len(series)/2
				for _, e := range left[len(left)-n:] {
					squares += e * e * scale * scale / float64(n)
				}
				squares = max(squares, 1e-12*scale*scale)
				criterion := float64(n)*math.Log(squares) + 2*float64(p+q+1)
				if criterion < best {
					best, mean, variance = criterion, from+center+scale*next, squares
				}
			}
		}
	}
	if math.IsInf(best, 1) {
		return 0, 0, errors.New("no model fits")
	}
	return mean, variance, nil
}

// Model is an ARMA of a series around 0: AR are its coefficients of past samples, MA those of past errors, the
// nearest first. Variance is that of the errors of the regression.
type Model struct {
	AR, MA   []float64
	Variance float64
}

// HannanRissanen fits an ARMA(p, q) to a series around 0, without the third step that corrects a bias. Residuals of a
// long autoregression by Yule and Walker, of max(floor(ln(n)^2), 2 max(p, q)) samples, stand for the errors in a
// regression by least squares. A series that is too short for it is an error.
func HannanRissanen(series []float64, p, q int) (Model, error) {
	n, errs, from := len(series), []float64(nil), p
	if q > 0 {
		long := max(int(math.Pow(math.Log(float64(n)), 2)), 2*max(p, q))
		if n <= long+q {
			return Model{}, fmt.Errorf("it has %d samples, ARMA(%d,%d) needs more than %d", n, p, q, long+q)
		}
		coefficients, err := yuleWalker(series, long)
		if err != nil {
			return Model{}, err
		}
		errs = make([]float64, n)
		for t := long; t < n; t++ {
			errs[t] = series[t] - past(coefficients, series, t)
		}
		from = long + q
	}
	rows, columns := n-from, p+q
	if rows <= columns {
		return Model{}, fmt.Errorf("it has %d samples, ARMA(%d,%d) needs more than %d", n, p, q, from+columns)
	}
	if columns == 0 {
		_, deviation := moments(series)
		return Model{Variance: deviation * deviation}, nil
	}
	x, y := mat.NewDense(rows, columns, nil), mat.NewVecDense(rows, nil)
	for row := range rows {
		t := from + row
		y.SetVec(row, series[t])
		for i := range p {
			x.Set(row, i, series[t-1-i])
		}
		for i := range q {
			x.Set(row, p+i, errs[t-1-i])
		}
	}
	var solved mat.VecDense
	if err := solved.SolveVec(x, y); err != nil {
		return Model{}, fmt.Errorf("regression of ARMA(%d,%d): %w", p, q, err)
	}
	var left mat.VecDense
	left.MulVec(x, &solved)
	left.SubVec(y, &left)
	all := solved.RawVector().Data
	return Model{AR: all[:p:p], MA: all[p:], Variance: mat.Dot(&left, &left) / float64(rows-columns)}, nil
}

// next is the sample that the model foretells after the series, and its errors before that, with none before the
// first.
func (m Model) next(series []float64) (sample float64, errs []float64) {
	errs = make([]float64, len(series))
	for t := range series {
		errs[t] = series[t] - past(m.AR, series, t) - past(m.MA, errs, t)
	}
	return past(m.AR, series, len(series)) + past(m.MA, errs, len(series)), errs
}

// past is the sum of coefficients times the values before t, the nearest first; those before the first are 0.
func past(coefficients, values []float64, t int) (sum float64) {
	for i, c := range coefficients {
		if t-1-i >= 0 {
			sum += c * values[t-1-i]
		}
	}
	return sum
}

// yuleWalker are the coefficients of an autoregression of that order by autocovariances over n (Levinson's
// recursion).
func yuleWalker(series []float64, order int) ([]float64, error) {
	n := len(series)
	covariance := make([]float64, order+1)
	center, _ := moments(series)
	for lag := range covariance {
		for t := lag; t < n; t++ {
			covariance[lag] += (series[t] - center) * (series[t-lag] - center) / float64(n)
		}
	}
	a, left := make([]float64, 0, order), covariance[0]
	for k := 1; k <= order; k++ {
		if !(left > 0) {
			return nil, errors.New("its past tells all of it")
		}
		reflected := covariance[k]
		for i, c := range a {
			reflected -= c * covariance[k-1-i]
		}
		reflected /= left
		next := make([]float64, k, order)
		for i, c := range a {
			next[i] = c - reflected*a[k-2-i]
		}
		next[k-1] = reflected
		a, left = next, left*(1-reflected*reflected)
	}
	return a, nil
}

func differences(series []float64) []float64 {
	out := make([]float64, len(series)-1)
	for i := range out {
		out[i] = series[i+1] - series[i]
	}
	return out
}
