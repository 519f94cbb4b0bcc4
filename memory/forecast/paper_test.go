package forecast

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// vectors are what other libraries make of some series; testdata/vectors.py makes them.
type vectors struct {
	ARMA []struct {
		Series []float64
		P, Q   int
		AR, MA []float64
	}
	GP []struct {
		Series                                []float64
		Length, Noise, Signal, Mean, Variance float64
	}
}

func readVectors(t *testing.T) (v vectors) {
	t.Helper()
	body, err := os.ReadFile("testdata/vectors.json")
	if err == nil {
		err = json.Unmarshal(body, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*max(1, math.Abs(b)) }

// Eq 2.1 and 2.2, fitted as statsmodels' hannan_rissanen does.
func TestARMAIsThatOfStatsmodels(t *testing.T) {
	for _, v := range readVectors(t).ARMA {
		m, err := HannanRissanen(v.Series, v.P, v.Q)
		if err != nil {
			t.Fatal(err)
		}
		close := func(a, b float64) bool { return near(a, b, 1e-6) }
		if !slices.EqualFunc(m.AR, v.AR, close) || !slices.EqualFunc(m.MA, v.MA, close) {
			t.Errorf("ARMA(%d,%d): %v and %v, statsmodels %v and %v", v.P, v.Q, m.AR, m.MA, v.AR, v.MA)
		}
	}
}

// Eq 4.1 and 4.2, by scikit-learn's process with the same kernel.
func TestThePosteriorIsThatOfScikitLearn(t *testing.T) {
	for _, v := range readVectors(t).GP {
		p := DefaultGP
		center, scale := moments(v.Series)
		inputs, targets := p.patterns(v.Series, center, scale)
		g, fits := fit(inputs[:p.Patterns], targets, v.Length, v.Noise)
		if !fits {
			t.Fatal("the kernel cannot be inverted")
		}
		g.signal = v.Signal
		mean, variance := g.posterior(inputs[p.Patterns])
		if mean, variance = center+scale*mean, scale*scale*variance; !near(mean, v.Mean, 1e-6) ||
			!near(variance, v.Variance, 1e-6) {
			t.Errorf("length %g: mean %g, variance %g; scikit-learn %g, %g", v.Length, mean, variance, v.Mean, v.Variance)
		}
	}
}

// The variance of the signal in closed form is the one of the greatest evidence.
func TestTheSignalsVarianceMakesTheEvidenceGreatest(t *testing.T) {
	series := readVectors(t).GP[0].Series
	center, scale := moments(series)
	inputs, targets := DefaultGP.patterns(series, center, scale)
	g, _ := fit(inputs[:10], targets, 4, 0.1)
	evidence := func(signal float64) float64 {
		var k mat.SymDense
		g.factor.ToSym(&k)
		k.ScaleSym(signal, &k)
		var factor mat.Cholesky
		factor.Factorize(&k)
		y, solved := mat.NewVecDense(10, targets), mat.NewVecDense(10, nil)
		if err := factor.SolveVecTo(solved, y); err != nil {
			t.Fatal(err)
		}
		return -mat.Dot(y, solved)/2 - factor.LogDet()/2 - 5*math.Log(2*math.Pi)
	}
	if !near(evidence(g.signal), g.evidence, 1e-9) {
		t.Errorf("evidence %g, want %g", g.evidence, evidence(g.signal))
	}
	if evidence(g.signal*1.01) >= g.evidence || evidence(g.signal*0.99) >= g.evidence {
		t.Error("another variance of the signal has a greater evidence")
	}
}

func TestPeakIsTheGreatestOfTheLastTen(t *testing.T) {
	series := []float64{99, 1, 2, 3, 4, 9, 5, 4, 3, 2, 1}
	mean, variance, err := peak(series)
	if mean != 9 || variance != 0 || err != nil {
		t.Errorf("%g, %g, %v", mean, variance, err)
	}
}

// A series that goes on as it did is foretold by the model that made it.
func TestArimaForetellsALineAndAnAlternation(t *testing.T) {
	var line, alternating []float64
	for i := range 30 {
		line = append(line, 3+2*float64(i))
		alternating = append(alternating, 10+5*math.Pow(-1, float64(i)))
	}
	if mean, _, err := ARIMA(line); err != nil || !near(mean, 63, 1e-9) {
		t.Errorf("line: %g, %v, want 63", mean, err)
	}
	if mean, _, err := ARIMA(alternating); err != nil || !near(mean, 15, 1e-6) {
		t.Errorf("alternation: %g, %v, want 15", mean, err)
	}
}

func TestPeakStandsInForWhatCannotBeForetold(t *testing.T) {
	constant, ramp := slices.Repeat([]float64{7}, 30), []float64{}
	for i := range 30 {
		ramp = append(ramp, float64(i))
	}
	gap := slices.Clone(ramp)
	gap[12], gap[13] = math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name   string
		series []float64
		want   float64
	}{
		{"constant", constant, 7}, {"short", ramp[:5], 4}, {"gap", gap, 29}, {"NaN at the end", append(slices.Clone(ramp), math.NaN()), 29},
	} {
		for _, name := range []string{"arima", "gp"} {
			p, err := Named(name)
			if err != nil {
				t.Fatal(err)
			}
			mean, variance, err := p(c.series)
			if !errors.Is(err, ErrStandsIn) || mean != c.want || variance != 0 {
				t.Errorf("%s, %s: %g, %g, %v; want peak's %g and why", c.name, name, mean, variance, err, c.want)
			}
		}
	}
	for _, name := range Names() {
		p, _ := Named(name)
		for _, none := range [][]float64{nil, {math.NaN()}} {
			if _, _, err := p(none); err == nil || errors.Is(err, ErrStandsIn) {
				t.Errorf("%s of %v: %v, want that there is no number", name, none, err)
			}
		}
	}
	if _, err := Named("oracle"); err == nil {
		t.Error("an unknown name is taken")
	}
}
