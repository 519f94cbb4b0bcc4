package attach

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/sim/experiment"
)

// The planner asks for about as many executors as are needed, and deadlines that can be met are.
func TestFewExecutorsKeepDeadlines(t *testing.T) {
	r, err := Run(experiment.Options{Seeds: 20})
	if err != nil {
		t.Fatal(err)
	}
	could := 0
	for _, x := range r {
		if x.Fewest > 0 {
			could++
		}
		if x.Asked < 1 || x.Asked > most || x.Held > most {
			t.Errorf("%+v", x)
		}
	}
	if late, ratio := r.LatePct(), r.ExecutorsRatio(); could < 15 || late > 5 || ratio > 1.2 {
		t.Errorf("%.1f %% of %d are late, with %.3f of the executors that are needed", late, could, ratio)
	}
	again, err := Run(experiment.Options{Seeds: 2})
	if err != nil || again[1] != r[1] {
		t.Errorf("%+v, and again %+v: %v", r[1], again[1], err)
	}
}

// More executors never end an application later.
func TestTheOracleIsMonotone(t *testing.T) {
	for seed := range uint64(5) {
		j, err := draw(seed)
		if err != nil {
			t.Fatal(err)
		}
		before := math.Inf(1)
		for n := 1; n <= most; n *= 2 {
			w := newWorld(j, &fixed{n: n})
			if _, err := w.run(); err != nil {
				t.Fatal(err)
			}
			// A delay is drawn for each grant: one more of them may be a long one.
			if w.now > before+mostWait {
				t.Errorf("seed %d: %.0f s with %d executors, %.0f s with half of them", seed, w.now, n, before)
			}
			before = w.now
		}
	}
}

// What is held back to end in time does.
func TestHeldToTheTime(t *testing.T) {
	for _, work := range []float64{10, 100, 400} {
		const task, cores, time = 5.0, 4.0, 120.0
		q := heldTo(time, work, task, cores)
		if takes := work/q + task*q/(2*cores); q < cores && math.Abs(takes-time) > 1e-6 {
			t.Errorf("%v core-seconds take %.3f s with %.3f cores", work, takes, q)
		}
	}
	if q := heldTo(10, 100, 5, 4); q != 4 {
		t.Errorf("what is late has %v cores", q)
	}
}

// The manager gives half of what is lacking, and then of the rest, within a minute each.
func TestTheManagerGivesByHalves(t *testing.T) {
	m := newManager(1)
	lacks, last := 11, 0.0
	var gifts []int
	for now := 0.0; lacks > 0 && now < 1000; now += step {
		if n := m.gives(now, lacks); n > 0 {
			gifts = append(gifts, n)
			if lacks -= n; now-last > mostWait+step {
				t.Errorf("nothing came for %.0f s", now-last)
			}
			last = now
		}
	}
	if want := []int{6, 3, 1, 1}; len(gifts) != len(want) || gifts[0] != 6 || gifts[1] != 3 {
		t.Errorf("gifts %v, want %v", gifts, want)
	}
}
