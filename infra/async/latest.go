package async

import "sync"

// Ticket names a value that was handed to a Latest; the zero Ticket names none.
type Ticket uint64

// Latest carries out a function for the newest of the values that are handed to it, one at a time. While one is under
// way the newest waits, in the place of an older one that waits. Handing over never blocks, however long the function
// takes. It is safe for concurrent use.
type Latest[T any] struct {
	carry func(*T)
	copy  func(into, from *T)

	mu    sync.Mutex
	ended sync.Cond // Of mu: done has grown.
	wg    sync.WaitGroup
	// given and done are the newest values that were handed over and carried out; held
	// says that next is still to be.
	given, done  Ticket
	held, served bool
	next, now    *T
}

// NewLatest returns a Latest that calls carry for each value that is not replaced by a
// newer one. copy copies a value, which stays the caller's, into one that carry may read
// until it returns: values are used again, with the memory that they have.
func NewLatest[T any](carry func(*T), copy func(into, from *T)) *Latest[T] {
	l := &Latest[T]{carry: carry, copy: copy, next: new(T), now: new(T)}
	l.ended.L = &l.mu
	return l
}

// Offer hands a copy of the value over.
func (l *Latest[T]) Offer(value *T) Ticket {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.copy(l.next, value)
	l.given++
	l.held = true
	if !l.served {
		l.served = true
		l.wg.Go(l.serve)
	}
	return l.given
}

// serve carries values out until none waits.
func (l *Latest[T]) serve() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.held {
		l.held = false
		l.next, l.now = l.now, l.next
		value, ticket := l.now, l.given
		l.mu.Unlock()
		l.carry(value)
		l.mu.Lock()
		l.done = ticket
		l.ended.Broadcast()
	}
	l.served = false
}

// Await returns once the value of the ticket, or a newer one, was carried out.
func (l *Latest[T]) Await(t Ticket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.done < t {
		l.ended.Wait()
	}
}

// Wait returns once nothing is under way and nothing waits.
func (l *Latest[T]) Wait() { l.wg.Wait() }
