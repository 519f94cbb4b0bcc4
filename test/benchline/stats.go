package benchline

import (
	"math"
	"slices"
)

// Measured is a value that stands for several.
type Measured struct {
	Value float64 `json:"value"`
	// N is of how many values it was taken.
	N int `json:"n"`
	// Spread is the least and the greatest of them.
	Spread [2]float64 `json:"spread"`
	// Each are the values themselves, where other figures are made of them.
	Each []float64 `json:"each,omitempty"`
}

// One is a value that was measured once.
func One(v float64) Measured { return measured(v, []float64{v}) }

// Median is the median of values, which are at least one.
func Median(values []float64) Measured { return measured(median(values), values) }

// Mean is the mean of values, which are at least one.
func Mean(values []float64) Measured {
	return measured(Sum(values).Value/float64(len(values)), values)
}

// Sum is the sum of values, which are at least one; its spread is theirs.
func Sum(values []float64) Measured {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return measured(sum, values)
}

// Quantile is the value at rank q of values, which are at least one: the nearest above.
func Quantile(values []float64, q float64) Measured { return measured(quantile(values, q), values) }

// Ratio is the median of values over the median of base; its spread is that of values
// over the same.
func Ratio(values, base []float64) Measured {
	over, m := median(base), Median(values)
	return Measured{Value: m.Value / over, N: m.N, Spread: [2]float64{m.Spread[0] / over, m.Spread[1] / over}}
}

// Farthest is the value that is farthest from zero, with its sign.
func Farthest(values []float64) Measured {
	worst := 0.0
	for _, v := range values {
		if math.Abs(v) > math.Abs(worst) {
			worst = v
		}
	}
	return measured(worst, values)
}

// Times multiplies all of m by a positive factor.
func (m Measured) Times(factor float64) Measured {
	return Measured{Value: m.Value * factor, N: m.N, Spread: [2]float64{m.Spread[0] * factor, m.Spread[1] * factor}}
}

func measured(v float64, of []float64) Measured {
	return Measured{Value: v, N: len(of), Spread: [2]float64{slices.Min(of), slices.Max(of)}}
}

// median is the middle value, the mean of the two where there are two.
func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

func quantile(v []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[min(len(s)-1, int(q*float64(len(s))))]
}
