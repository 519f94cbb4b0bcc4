package attach

import (
	"cmp"
	"fmt"
)

// Options say how many applications run.
type Options struct {
	// Seeds is how many, 300 if 0. Stop, when it is closed, ends the runs.
	Seeds int
	Stop  <-chan struct{}
}

// Result is what became of an application.
type Result struct {
	Seed     uint64
	Deadline float64
	// Ended is when it ended, in seconds, Held how many executors it had in the mean until then, and Asked how many it
	// asked for first.
	Ended, Held float64
	Asked       int
	// Fewest is the least number of executors with which the oracle keeps the deadline, 0 for none, and Needs how many
	// it has then in the mean.
	Fewest int
	Needs  float64
}

// Runs are all of them.
type Runs []Result

// Run runs applications.
func Run(o Options) (Runs, error) {
	var all Runs
	for seed := range cmp.Or(o.Seeds, 300) {
		select {
		case <-o.Stop:
			return all, fmt.Errorf("stopped after %d runs", len(all))
		default:
		}
		r, err := run(uint64(seed))
		if err != nil {
			return all, fmt.Errorf("seed %d: %w", seed, err)
		}
		all = append(all, r)
	}
	return all, nil
}

func run(seed uint64) (Result, error) {
	r := Result{Seed: seed}
	j, err := draw(seed)
	if err != nil {
		return r, err
	}
	r.Deadline = j.deadline
	for n := 1; n <= most && r.Fewest == 0; n++ {
		w := newWorld(j, &fixed{n: n})
		if _, err := w.run(); err != nil {
			return r, err
		}
		if w.now <= j.deadline {
			r.Fewest, r.Needs = n, w.held/w.now
		}
	}
	p, err := plan(j)
	if err != nil {
		return r, err
	}
	r.Asked = p.wanted()
	w := newWorld(j, p)
	if _, err := w.run(); err != nil {
		return r, err
	}
	r.Ended, r.Held = w.now, w.held/w.now
	return r, p.fault
}

// LatePct is how many in a hundred ended after their deadlines, of those that could be met.
func (r Runs) LatePct() float64 {
	late, could := 0, 0
	for _, x := range r {
		if x.Fewest > 0 {
			if could++; x.Ended > x.Deadline {
				late++
			}
		}
	}
	return 100 * float64(late) / float64(max(1, could))
}

// ExecutorsRatio is how many executors there were over the fewest that the oracle needs, in the mean over the time of
// each run and over all runs whose deadlines could be met.
func (r Runs) ExecutorsRatio() float64 {
	held, needs := 0.0, 0.0
	for _, x := range r {
		if x.Fewest > 0 {
			held, needs = held+x.Held, needs+x.Needs
		}
	}
	return held / needs
}
