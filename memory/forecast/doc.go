// Package forecast foretells the next sample of a series, such as an executor's memory once a minute, with the
// variance of that forecast.
//
// # Source
//
// Pace, "Mechanisms for Efficient and Responsive Distributed Applications in Compute Clusters" (thesis, 2018),
// 2.2.1, 2.2.2 and 4.2.1. Three predictors stand in one table by name:
//
//	peak   the greatest of the last ten samples, with variance 0
//	arima  ARIMA(p, d, q), Eq 2.1 and 2.2, p and q at most 3, d at most 1, chosen by Akaike's criterion; fitted by
//	       least squares in the two steps of Hannan and Rissanen (Biometrika 1982)
//	gp     Gaussian process regression on patterns of past samples, Eq 2.3 to 2.6, 4.1 and 4.2, with an exponential
//	       kernel; lengths and noises of a grid weighted by their evidence, the signal's variance in closed form
//
// A series is in any unit, oldest sample first, at equal distances in time. A mean is in that unit and a variance
// in its square. Where arima or gp cannot say anything (a short or constant series, samples that are not numbers),
// peak stands in and the error says why.
//
// The functions are pure and safe for concurrent use; they start no goroutine.
//
// # What it does not do
//
// It looks one sample ahead and no further, keeps no state between calls, and knows nothing of memory: package
// shaping decides what a forecast is good for.
package forecast
