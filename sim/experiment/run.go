package experiment

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/sparkpacer/pacer/sim/des"
)

// Case is a case of an experiment: Of is its cell, Run runs it with a seed, from 0 on, and Runs are what that gave.
type Case[C, R any] struct {
	Name string
	Of   C
	Run  func(seed int) (R, error)
	Runs []R
}

// Run runs the cases that o picks with all seeds, as many at a time as there are cores, and returns them with what they
// gave. The last ones, which in most tables are the largest, are begun first.
func Run[C, R any](o Options, cases []Case[C, R]) ([]Case[C, R], error) {
	cases = slices.DeleteFunc(cases, func(c Case[C, R]) bool { return !strings.Contains(c.Name, o.Only) })
	seeds := max(1, o.Seeds)
	if o.Listed {
		seeds = 0
	}
	for i := range cases {
		cases[i].Runs = make([]R, seeds)
	}
	all := len(cases) * seeds
	faults, begun, done, failed, turn := make([]error, all), 0, 0, false, sync.Mutex{}
	next := func() int { // The number of the run that is to begin, below 0 for none.
		turn.Lock()
		defer turn.Unlock()
		if begun++; failed {
			return -1
		}
		return all - begun
	}
	ended := func(i int, err error) {
		turn.Lock()
		defer turn.Unlock()
		faults[i], failed = err, failed || err != nil
		if done++; o.Progress != nil {
			o.Progress(done, all)
		}
	}
	var running sync.WaitGroup
	for range min(all, runtime.GOMAXPROCS(0)) {
		running.Go(func() {
			for i := next(); i >= 0; i = next() {
				c, seed := &cases[i/seeds], i%seeds
				var err error
				if c.Runs[seed], err = once(o.Stop, c.Run, seed); err != nil {
					err = fmt.Errorf("%s, seed %d: %w", c.Name, seed+1, err)
				}
				ended(i, err)
			}
		})
	}
	running.Wait()
	for _, err := range faults {
		if err != nil {
			return cases, err
		}
	}
	return cases, nil
}

// RunAll is Run for cases that are compared with each other: all of them run, whatever Only says.
func RunAll[C, R any](o Options, cases []Case[C, R]) ([]Case[C, R], error) {
	o.Only = ""
	return Run(o, cases)
}

// once runs a case with a seed, unless all is to end.
func once[R any](stop <-chan struct{}, run func(int) (R, error), seed int) (r R, err error) {
	select {
	case <-stop:
		return r, des.ErrStopped
	default:
		return run(seed)
	}
}

// CaseNames are the names of cases.
func CaseNames[C, R any](cases []Case[C, R]) (names []string) {
	for _, c := range cases {
		names = append(names, c.Name)
	}
	return names
}
