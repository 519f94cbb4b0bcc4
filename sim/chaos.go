package sim

import (
	"fmt"
	"io"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// RunChaos runs seven applications, six of them with deadlines and some at once, in a world
// with a bad network on which faults rain (World.Chaos), all by a seed. Its error names what
// has broken: an invariant (World.Run), or an application that does not end. history, where it
// is not nil, gets what package replay reads. Worlds may run side by side.
func RunChaos(seed uint64, history io.Writer) error {
	c := Default()
	c.Seed, c.Restarts, c.Limit, c.History = seed, true, 2*time.Hour, history
	if seed%2 == 1 {
		var err error
		if c, err = WithLaw(c, "pi"); err != nil {
			return err
		}
	}
	c.Net = Network{Delay: time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05, Duplicate: 0.05, Reorder: true}
	if seed%3 == 1 {
		c.Nodes = narrow(c.Nodes)
	}
	w, err := New(c)
	if err != nil {
		return err
	}
	recorded := App{Name: "app", Head: 3, Tail: 0.3}
	for i := range 3 {
		s := Stage{Tasks: 200, Work: 1000, Records: 1_000_000, Written: 1_000_000, Gap: 0.1}
		if i > 0 {
			s.Parents = []int{i - 1}
		}
		recorded.Stages = append(recorded.Stages, s)
	}
	if seed%3 == 1 {
		recorded.Memory = crowded()
	}
	d, err := w.Submit(w.Now(), recorded)
	if err == nil {
		err = w.Run()
	}
	if err != nil {
		return fmt.Errorf("seed %d: the run that is recorded: %w", seed, err)
	}
	alone := d.Result().Duration
	for i := range 3 {
		for _, factor := range []units.Seconds{1.4, 3} {
			a := recorded
			a.Deadline = alone * factor
			if _, err := w.Submit(w.Now()+units.Seconds(10*i), a); err != nil {
				return fmt.Errorf("seed %d: %w", seed, err)
			}
		}
	}
	if err := w.Chaos(8, w.Now()+300); err != nil {
		return fmt.Errorf("seed %d: %w", seed, err)
	}
	if err := w.Run(); err != nil {
		return fmt.Errorf("seed %d: %w", seed, err)
	}
	return nil
}
