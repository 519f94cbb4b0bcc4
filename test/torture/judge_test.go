package torture

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/sparkpacer/pacer/test/draws"
)

// alone is a run of 20 core-seconds on 2 cores, 4 s of which no task runs in.
func alone() Run {
	return Run{Deadline: 20, Took: 15, Work: 20, Idle: 4, Capacity: []Level{{0, 2}}, Answer: "a", Want: "a"}
}

func TestWhenADeadlineIsPossible(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Run)
		ends   float64
	}{
		// (4 + 20/2) * 1.1.
		"undisturbed": {func(*Run) {}, 15.4},
		// Half of the work is done at 9: 9 + (10 + 20/2) * 1.1 if it was on the lost one.
		"a lost executor takes its output with it": {func(r *Run) {
			r.Took, r.Deadline, r.Tasks, r.Lost = 40, 40, []Task{{8, 10, "1"}}, []Loss{{9, "1"}}
		}, 31},
		"another one's output stays": {func(r *Run) {
			r.Took, r.Deadline, r.Tasks, r.Lost = 40, 40, []Task{{8, 10, "1"}}, []Loss{{9, "2"}}
		}, 25.5},
		// One core from 4 on: 4 + 20/1.
		"a lost node": {func(r *Run) { r.Capacity = []Level{{0, 2}, {4, 1}} }, 26.4},
		"no node for a while": {func(r *Run) {
			r.Capacity = []Level{{0, 2}, {4, 0}, {14, 2}}
		}, 26.4},
		// Nobody starts executors from 1 to 6: 4 s of start end at 9.
		"a planner that is away": {func(r *Run) { r.Away = []Span{{1, 6}} }, 20.9},
		"one that is away later": {func(r *Run) { r.Away = []Span{{5, 6}} }, 15.4},
		"a fault after the end": {func(r *Run) {
			r.Faults, r.Took = []float64{16}, 15.9
		}, 15.4},
		// Nothing is done at 10: 10 + (20/2) * 1.1.
		"a fault after which all is left": {func(r *Run) { r.Faults = []float64{10} }, 21},
		"never":                           {func(r *Run) { r.Capacity = nil }, math.Inf(1)},
	} {
		t.Run(name, func(t *testing.T) {
			r := alone()
			c.change(&r)
			if _, ends := r.latest(); math.Abs(ends-c.ends) > 1e-9 && ends != c.ends {
				t.Errorf("it can end at %v, want %v", ends, c.ends)
			}
			if j := Judge(r); j.Possible != (c.ends <= r.Deadline) || j.Ending != Right {
				t.Errorf("judged %+v", j)
			}
		})
	}
}

func TestHowARunEnds(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Run)
		want   Judgement
	}{
		"in time":                     {func(*Run) {}, Judgement{Ending: Right, Possible: true}},
		"late":                        {func(r *Run) { r.Took = 20.1 }, Judgement{Ending: Right, Possible: true, Late: true}},
		"late as it had to be":        {func(r *Run) { r.Deadline = 15 }, Judgement{Ending: Right}},
		"another answer":              {func(r *Run) { r.Answer = "b" }, Judgement{Ending: Wrong}},
		"no answer":                   {func(r *Run) { r.Answer = "" }, Judgement{Ending: Wrong}},
		"its driver was killed":       {func(r *Run) { r.Exit, r.Excuse = 1, "kill-driver" }, Judgement{Ending: OwnError}},
		"it failed by itself":         {func(r *Run) { r.Exit = 1 }, Judgement{Ending: Lost}},
		"it has not ended":            {func(r *Run) { r.Hung, r.Excuse = true, "kill-driver" }, Judgement{Ending: Lost}},
		"an excuse that is not taken": {func(r *Run) { r.Excuse = "fill-disk" }, Judgement{Ending: Right, Possible: true}},
	} {
		r := alone()
		c.change(&r)
		got := Judge(r)
		got.Why = ""
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestTimeIsCountedByTheSecond compares waited and worked with counting in steps of 1 ms.
func TestTimeIsCountedByTheSecond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Run{Capacity: []Level{{0, float64(rapid.IntRange(0, 4).Draw(t, "cores"))}}}
		at := 0.0
		for range rapid.IntRange(0, 4).Draw(t, "levels") {
			at += float64(rapid.IntRange(1, 9).Draw(t, "seconds"))
			r.Capacity = append(r.Capacity, Level{at, float64(rapid.IntRange(0, 4).Draw(t, "cores"))})
		}
		at = 0
		for range rapid.IntRange(0, 3).Draw(t, "spans") {
			from := at + float64(rapid.IntRange(1, 5).Draw(t, "up"))
			at = from + float64(rapid.IntRange(1, 5).Draw(t, "away"))
			r.Away = append(r.Away, Span{from, at})
		}
		from := float64(rapid.IntRange(0, 12).Draw(t, "from"))
		long := float64(rapid.IntRange(0, 12).Draw(t, "long"))
		const step = 1e-3
		slow := func(rate func(at float64) float64, amount float64) float64 {
			at := from
			for n := 0; amount > step/2 && n < 100_000; n++ {
				amount -= step * rate(at+step/2)
				at = from + step*float64(n+1)
			}
			if amount > step {
				return math.Inf(1)
			}
			return at
		}
		here := func(at float64) float64 {
			for _, a := range r.Away {
				if at >= a.From && at < a.To {
					return 0
				}
			}
			return 1
		}
		cores := func(at float64) float64 {
			c := r.Capacity[0].Cores
			for _, l := range r.Capacity {
				if l.From <= at {
					c = l.Cores
				}
			}
			return c
		}
		if got, want := r.waited(from, long), slow(here, long); math.Abs(got-want) > 0.01 {
			t.Errorf("waited from %v for %v: %v, want %v", from, long, got, want)
		}
		if got, want := r.worked(from, long), slow(cores, long); got != want && math.Abs(got-want) > 0.01 {
			t.Errorf("worked from %v for %v: %v, want %v", from, long, got, want)
		}
		if up := r.up(from, r.waited(from, long)); math.Abs(up-long) > 1e-9 {
			t.Errorf("up for %v of %v", up, long)
		}
	})
}
