package forecast

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// GPParams are the numbers of the regression.
type GPParams struct {
	// History is how many past samples a pattern has, h, and Patterns how many of the latest patterns are learnt from, N.
	// Both are 10, the smallest that the source tries, so that 20 samples are enough.
	History, Patterns int
	// Lengths and Noises are the grid: the kernel's length l, and the noise's variance as a part of the signal's.
	// Patterns are standardised, so two of them are some sqrt(2 (h + 1)) apart: lengths go from a tenth of that to
	// ten times it.
	Lengths, Noises []float64
}

// DefaultGP are the numbers that GP uses.
var DefaultGP = GPParams{History: 10, Patterns: 10,
	Lengths: []float64{0.5, 1, 2, 4, 8, 16, 32, 64}, Noises: []float64{1e-4, 1e-3, 1e-2, 0.1, 0.3, 1}}

// GP foretells by Gaussian process regression on the last samples (Eq 2.4 to 2.6, 4.1, 4.2), with DefaultGP.
func GP(series []float64) (mean, variance float64, err error) { return DefaultGP.Predict(series) }

// Predict foretells the sample after the series, of which the last History + Patterns are looked at. A shorter
// series, and one in which these are equal, is an error. The kernels of the grid count by their evidence: ten
// patterns seldom tell lengths apart, and the best alone is too sure of itself.
func (p GPParams) Predict(series []float64) (mean, variance float64, err error) {
	need := p.History + p.Patterns
	if len(series) < need {
		return 0, 0, fmt.Errorf("it has %d samples of the %d that it needs", len(series), need)
	}
	last := series[len(series)-need:]
	center, scale := moments(last)
	if scale == 0 {
		return 0, 0, fmt.Errorf("the last %d samples are equal", need)
	}
	inputs, targets := p.patterns(last, center, scale)
	var fitted []process
	greatest := math.Inf(-1)
	for _, length := range p.Lengths {
		for _, noise := range p.Noises {
			if g, fits := fit(inputs[:p.Patterns], targets, length, noise); fits {
				fitted, greatest = append(fitted, g), max(greatest, g.evidence)
			}
		}
	}
	if len(fitted) == 0 {
		return 0, 0, fmt.Errorf("no kernel of the grid fits its last %d samples", need)
	}
	var all, squares float64
	for i := range fitted {
		weight := math.Exp(fitted[i].evidence - greatest)
		m, v := fitted[i].posterior(inputs[p.Patterns])
		all, mean, squares = all+weight, mean+weight*m, squares+weight*(v+m*m)
	}
	mean /= all
	return center + scale*mean, scale * scale * p.doubt() * (squares/all - mean*mean), nil
}

// doubt is by how much a variance grows because the signal's own variance is learnt from so few patterns. A normal
// whose variance is learnt from N samples is Student's t of N degrees, of variance N / (N - 2).
func (p GPParams) doubt() float64 { return float64(p.Patterns) / float64(max(1, p.Patterns-2)) }

// patterns are the inputs (Eq 2.5: the time of a sample and the History samples before it), one for each target
// and one more for the sample to come, all standardised. The time of a target is its place among the targets,
// standardised as they are spread, so that a pattern's time counts as much as one sample of it.
func (p GPParams) patterns(last []float64, center, scale float64) (inputs [][]float64, targets []float64) {
	middle, spread := float64(p.Patterns-1)/2, math.Sqrt(float64(p.Patterns*p.Patterns-1)/12)
	for i := range p.Patterns + 1 {
		input := []float64{(float64(i) - middle) / max(spread, 1)}
		for _, y := range last[i : i+p.History] {
			input = append(input, (y-center)/scale)
		}
		inputs = append(inputs, input)
		if i < p.Patterns {
			targets = append(targets, (last[i+p.History]-center)/scale)
		}
	}
	return inputs, targets
}

// process is a Gaussian process with its kernel, given what it has learnt from.
type process struct {
	inputs                  [][]float64
	length, noise, evidence float64
	// signal is the variance of the kernel, weights are (k(X,X) + noise)^-1 y in units of it.
	signal  float64
	weights *mat.VecDense
	factor  mat.Cholesky
}

// fit learns targets at inputs with a kernel of that length, and noise as a part of the signal's variance. That
// variance is the one that makes the evidence greatest: y' (K + noise)^-1 y / N. It reports whether the kernel can
// be inverted.
func fit(inputs [][]float64, targets []float64, length, noise float64) (process, bool) {
	n := len(targets)
	kernel := mat.NewSymDense(n, nil)
	for i := range n {
		for k := i; k < n; k++ {
			kernel.SetSym(i, k, exponential(inputs[i], inputs[k], length))
		}
		kernel.SetSym(i, i, 1+noise)
	}
	g := process{inputs: inputs, length: length, noise: noise, weights: mat.NewVecDense(n, nil)}
	y := mat.NewVecDense(n, targets)
	if !g.factor.Factorize(kernel) || g.factor.SolveVecTo(g.weights, y) != nil {
		return process{}, false
	}
	g.signal = mat.Dot(y, g.weights) / float64(n)
	if !(g.signal > 0) {
		return process{}, false
	}
	g.evidence = -float64(n)/2*(math.Log(2*math.Pi*g.signal)+1) - g.factor.LogDet()/2
	return g, true
}

// posterior is what the process foretells at an input (Eq 4.1 and 4.2), with the noise of a sample.
func (g *process) posterior(input []float64) (mean, variance float64) {
	n := len(g.inputs)
	towards, solved := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for i, other := range g.inputs {
		towards.SetVec(i, exponential(input, other, g.length))
	}
	if g.factor.SolveVecTo(solved, towards) != nil {
		return math.NaN(), math.NaN()
	}
	return mat.Dot(towards, g.weights), g.signal * (1 + g.noise - mat.Dot(towards, solved))
}

// exponential is the kernel without its variance: exp(-|a - b| / l).
func exponential(a, b []float64, length float64) float64 {
	var squares float64
	for i := range a {
		squares += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Exp(-math.Sqrt(squares) / length)
}
