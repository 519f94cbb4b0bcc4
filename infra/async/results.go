package async

import "sync"

// Results keeps how work has ended until somebody takes it. The zero value is ready to
// use. It is safe for concurrent use.
type Results[R any] struct {
	mu  sync.Mutex
	all []R
}

// Add keeps a result.
func (r *Results[R]) Add(result R) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, result)
}

// Take returns the results since the last call, in their order.
func (r *Results[R]) Take() []R {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	return all
}
