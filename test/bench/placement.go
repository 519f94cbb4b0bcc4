package main

import (
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/infra/trace"
	"github.com/sparkpacer/pacer/memory/forecast"
	"github.com/sparkpacer/pacer/test/benchline"
)

// placementRows are about where executors go, traces of clusters, and forecasts of what executors use.
func placementRows(o trialOptions) []row {
	return []row{
		placementLiveRow(o),
		experiments(row{name: "prophet", minutes: 1}, 5, "prophet"),
		{name: "norm", minutes: 0.1, measure: normed},
		{name: "trace", minutes: 3, measure: traced},
		{name: "forecast", minutes: 0.5, measure: forecastCovered},
	}
}

// normed measures one placement of an application of 20 stages on 10,000 nodes with ten pieces each: a score for each.
func normed(t testing.TB, add adder) {
	const nodes, pieces, stages, rounds = 10_000, 10, 20, 20
	r := rand.New(rand.NewPCG(1, 1))
	capacity := placement.Rates{330e6, 250e6}
	free := make([][]placement.Piece, nodes)
	for i := range free {
		for k := range pieces {
			free[i] = append(free[i], placement.Piece{From: 10 * float64(k), To: 10 * float64(k+1),
				Free: placement.Rates{330e6 * r.Float64(), 250e6 * r.Float64()}})
		}
	}
	var demand []placement.Span
	for k := range stages {
		demand = append(demand, placement.Span{From: 5 * float64(k), To: 5 * float64(k+1),
			Rate: placement.Rates{330e6 * r.Float64(), 250e6 * r.Float64()}})
	}
	var took []float64
	for range rounds {
		began, sum := time.Now(), 0.0
		for i := range free {
			sum += placement.DefaultNorms.Norm(capacity, free[i], demand)
		}
		if took = append(took, time.Since(began).Seconds()*1000); !(sum > 0) {
			t.Fatal("no node has a norm")
		}
	}
	add("placement.norm_ms.10k", benchline.Median(took), "ms")
}

// traceScale is the scale of the trace that is read: as many instances as the source's trace has, 15 million.
const traceScale = 1

// traced measures the reading of a trace of 15 million instances in a process of its own.
func traced(t testing.TB, add adder) {
	dir := t.TempDir()
	if err := trace.Generate(traceScale, 1, func(name string) (io.WriteCloser, error) {
		return os.Create(filepath.Join(dir, name))
	}); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(self, traceChild, dir).Output()
	var read logRead
	if err != nil || json.Unmarshal(out, &read) != nil {
		t.Fatalf("%s: %v: %s", traceChild, err, out)
	}
	add("trace.s", benchline.One(read.Seconds), "s")
	add("trace.rss_mib", benchline.One(read.MiB), "MiB")
}

// readTrace reads the trace in a directory and prints what that took.
func readTrace(dir string) error {
	began := time.Now()
	if _, err := trace.Read(os.DirFS(dir)); err != nil {
		return err
	}
	return tellRead(began)
}

// Of so many drawn series of so many samples each is foretold from forecastFrom on.
const forecastSeries, forecastSamples, forecastFrom = 600, 60, 20

// forecastCovered counts how many samples lie within three standard deviations of what was foretold of them: a third of
// the series are steps, a third saws of a collector, a third AR(1) with bursts.
func forecastCovered(t testing.TB, add adder) {
	for _, name := range []string{"arima", "gp"} {
		foretell, err := forecast.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		var within []float64
		for seed := range uint64(forecastSeries) {
			series := used(seed)
			for k := forecastFrom; k < len(series); k++ {
				mean, variance, _ := foretell(series[:k])
				within = append(within, percent(math.Abs(series[k]-mean) <= 3*math.Sqrt(variance)))
			}
		}
		add("forecast.coverage_pct."+name, benchline.Mean(within), "%")
	}
}

// used is a series of memory in use, in GiB, a sample a minute. Steps and bursts come once in 50 minutes, a collector
// collects every 4 to 15; there are 0.02 GiB of noise.
func used(seed uint64) (series []float64) {
	r := rand.New(rand.NewPCG(seed, 61))
	level, burst := 1+3*r.Float64(), 0.0
	period, phase := 4+r.IntN(12), r.IntN(12)
	for k := range forecastSamples {
		switch seed % 3 {
		case 0:
			if r.Float64() < 0.02 {
				level = 1 + 3*r.Float64()
			}
			series = append(series, level+0.02*r.NormFloat64())
		case 1:
			saw := level * (0.4 + 0.6*float64((k+phase)%period)/float64(period))
			series = append(series, saw+0.02*r.NormFloat64())
		case 2:
			burst = 0.8*burst + 0.1*r.NormFloat64()
			if r.Float64() < 0.02 {
				burst += 0.5 + 0.5*r.Float64()
			}
			series = append(series, level+burst)
		}
	}
	return series
}
