package shaped

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/memory/shaping"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/experiment"
	_ "github.com/sparkpacer/pacer/test/draws"
)

// With K1 at 100 % a size is the request: whatever the policy and the forecast, it is the baseline to the digit.
func TestAWholeBufferIsTheBaseline(t *testing.T) {
	apps := trace(200, 2, 1)
	base, err := Simulate(Config{Machines: 2, Seed: 1, Policy: "none", Forecast: "peak"}, apps)
	if err != nil || base.Failed != 0 || base.Saturated < 90 || base.Turnaround == 0 {
		t.Fatalf("%+v, %v: want a cluster that is saturated", base, err)
	}
	for _, policy := range []string{"optimistic", "pessimistic"} {
		for _, by := range []string{"peak", "arima", Oracle} {
			got, err := Simulate(Config{Machines: 2, Seed: 1, Policy: policy, Forecast: by, Params: shaping.Params{K1: 1}}, apps)
			if err != nil || got != base {
				t.Errorf("%s %s: %+v, %v, want %+v", policy, by, got, err, base)
			}
		}
	}
}

// Who knows what will be used and preempts for it never fails, and is done sooner than the baseline.
func TestTheOraclePreemptsAndNeverFails(t *testing.T) {
	for seed := range uint64(3) {
		apps := trace(600, 2, seed)
		base, _ := Simulate(Config{Machines: 2, Seed: seed, Policy: "none", Forecast: "peak"}, apps)
		out, err := Simulate(Config{Machines: 2, Seed: seed, Policy: "pessimistic", Forecast: Oracle}, apps)
		if err != nil || out.Failed != 0 || out.Turnaround >= base.Turnaround || out.Slack >= base.Slack {
			t.Errorf("%+v, %v, beside %+v", out, err, base)
		}
	}
}

// Whatever the policy: memory that is free is what machines have less what sizes take, and under every policy but the
// optimistic one that is never below 0 after a plan; a core is whole; each application ends once.
func TestMemoryIsAccountedFor(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := Config{Machines: rapid.IntRange(2, 4).Draw(r, "machines"), Seed: rapid.Uint64Range(0, 99).Draw(r, "seed"),
			Policy:   rapid.SampledFrom([]string{"none", "optimistic", "pessimistic"}).Draw(r, "policy"),
			Forecast: rapid.SampledFrom([]string{"peak", Oracle}).Draw(r, "forecast"),
			Params:   shaping.Params{K1: rapid.SampledFrom([]float64{0, 0.05, 0.5}).Draw(r, "K1")}}
		w, err := newWorld(c, trace(60, c.Machines, c.Seed))
		if err != nil {
			r.Fatal(err)
		}
		for w.done < len(w.apps) {
			if _, err := w.clock.Turn(des.Never - 1); err != nil {
				r.Fatal(err)
			}
			free, planned := make([]float64, c.Machines), w.ticking.When() > w.clock.Now()
			for i := range free {
				free[i] = machineGB
			}
			for _, x := range w.running {
				count := 0
				for i, host := range x.hosts {
					if host >= 0 {
						count++
						free[host] -= x.size
					} else if i < x.core {
						r.Fatalf("application %d runs without its core", x.id)
					}
				}
				if count != x.count || x.size > x.request {
					r.Fatalf("%d components counted as %d, %v of %v GB each", count, x.count, x.size, x.request)
				}
			}
			for i := range free {
				if d := free[i] - w.free[i]; d > 1e-6 || d < -1e-6 || planned && c.Policy != "optimistic" && free[i] < -1e-6 {
					r.Fatalf("machine %d has %v GB free and counts %v", i, free[i], w.free[i])
				}
			}
		}
		if len(w.running)+len(w.waiting) > 0 {
			r.Fatalf("%d run and %d wait in the end", len(w.running), len(w.waiting))
		}
	})
}

// An unknown name says which ones there are, and a world is stopped.
func TestWhatCannotBeSimulated(t *testing.T) {
	for _, c := range []Config{{Policy: "hope", Forecast: "peak"}, {Policy: "none", Forecast: "hope"}} {
		if _, err := Simulate(c, trace(1, 2, 1)); err == nil {
			t.Errorf("%+v", c)
		}
	}
	stop := make(chan struct{})
	close(stop)
	if _, err := Simulate(Config{Machines: 2, Policy: "none", Forecast: "peak", Stop: stop}, trace(5, 2, 1)); !errors.Is(err, des.ErrStopped) {
		t.Error(err)
	}
	table, err := Experiments()[0].Run(experiment.Options{Jobs: 40, Seeds: 2})
	if cells := table.Cells.([]Cell); err != nil || len(cells) != 8 || len(table.Rows[0]) != 9 {
		t.Errorf("%+v, %v", table, err)
	}
	for _, c := range experiment.Claims(table.Figures) {
		theirs := experiment.Claim{Band: c.Band}.Tried([]float64{c.Theirs})
		if !theirs.Holds || c.Case == "" || c.Seeds != 2 {
			t.Errorf("%+v", c)
		}
	}
}
