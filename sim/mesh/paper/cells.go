package paper

import (
	"runtime"
	"sync"
)

// inParallel does n things, as many at a time as there are cores, and returns the first error in their order.
func inParallel(n int, do func(i int) error) error {
	todo, faults := make(chan int), make([]error, n)
	var all sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := range todo {
				faults[i] = do(i)
			}
		})
	}
	for i := range n {
		todo <- i
	}
	close(todo)
	all.Wait()
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}
