package node

import "sync"

// jobs runs functions that may take long, such as starting a JVM, beside the
// loop: those of one Key one after another in the order given, those of
// different Keys at the same time. The zero value is ready to use.
type jobs struct {
	wg sync.WaitGroup

	mu      sync.Mutex
	waiting map[Key][]func() // An entry, even an empty one, says that a goroutine serves the Key.
	results []result
}

// result is how a job ended; err is nil when it did what it should.
type result struct {
	kind ActionKind
	key  Key
	err  error
}

// run queues f for the key.
func (j *jobs) run(key Key, f func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.waiting == nil {
		j.waiting = make(map[Key][]func())
	}
	queue, served := j.waiting[key]
	j.waiting[key] = append(queue, f)
	if !served {
		j.wg.Go(func() { j.serve(key) })
	}
}

// serve runs what is queued for the key until nothing is left.
func (j *jobs) serve(key Key) {
	for {
		j.mu.Lock()
		queue := j.waiting[key]
		if len(queue) == 0 {
			delete(j.waiting, key)
			j.mu.Unlock()
			return
		}
		j.waiting[key] = queue[1:]
		j.mu.Unlock()
		queue[0]()
	}
}

// done records a result for take.
func (j *jobs) done(r result) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.results = append(j.results, r)
}

// take returns the results since the last call.
func (j *jobs) take() []result {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.results
	j.results = nil
	return r
}

// wait returns once nothing runs and nothing is queued.
func (j *jobs) wait() { j.wg.Wait() }
