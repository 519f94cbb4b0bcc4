package async

import "sync"

// Jobs runs functions: those of one key one after another in the order given, those of
// different keys at the same time. The zero value is ready to use. It is safe for
// concurrent use.
type Jobs[K comparable] struct {
	wg sync.WaitGroup

	mu      sync.Mutex
	waiting map[K][]func() // An entry, even an empty one, says that a goroutine serves the key.
}

// Run queues f for the key. It never blocks.
func (j *Jobs[K]) Run(key K, f func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.waiting == nil {
		j.waiting = make(map[K][]func())
	}
	queue, served := j.waiting[key]
	j.waiting[key] = append(queue, f)
	if !served {
		j.wg.Go(func() { j.serve(key) })
	}
}

// serve runs what is queued for the key until nothing is left.
func (j *Jobs[K]) serve(key K) {
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

// Wait returns once nothing runs and nothing is queued.
func (j *Jobs[K]) Wait() { j.wg.Wait() }
