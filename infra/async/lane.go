package async

import (
	"slices"
	"sync"
)

// Lane runs functions that somebody has asked for, one at a time, and those of different keys in
// turn: who asks for many waits for others no less than these for it. A key has at most Each
// places at once, all keys together All: who has no place is turned away at once, and does not
// wait. A Lane is safe for concurrent use; its bounds are set before it is used.
type Lane[K comparable] struct {
	Each, All int

	wg sync.WaitGroup

	mu      sync.Mutex
	places  map[K]int // Places that are taken.
	taken   int
	waiting map[K][]func()
	turns   []K // The keys of waiting, whose turn comes first first.
	served  bool
}

// Enter takes a place for the key and reports whether there was one. Leave gives it back.
func (l *Lane[K]) Enter(key K) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.places[key] >= l.Each || l.taken >= l.All {
		return false
	}
	if l.places == nil {
		l.places = make(map[K]int)
	}
	l.places[key]++
	l.taken++
	return true
}

// Leave gives back a place that Enter has taken.
func (l *Lane[K]) Leave(key K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken--
	if l.places[key]--; l.places[key] == 0 {
		delete(l.places, key)
	}
}

// Run queues f for the key, which has a place. It never blocks.
func (l *Lane[K]) Run(key K, f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == nil {
		l.waiting = make(map[K][]func())
	}
	if len(l.waiting[key]) == 0 {
		l.turns = append(l.turns, key)
	}
	l.waiting[key] = append(l.waiting[key], f)
	if !l.served {
		l.served = true
		l.wg.Go(l.serve)
	}
}

// serve runs what is queued until nothing is left.
func (l *Lane[K]) serve() {
	for f := l.next(); f != nil; f = l.next() {
		f()
	}
}

// next takes the function out whose turn it is; nil when there is none.
func (l *Lane[K]) next() func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.turns) == 0 {
		l.served = false
		return nil
	}
	key := l.turns[0]
	l.turns = slices.Delete(l.turns, 0, 1)
	f := l.waiting[key][0]
	if rest := l.waiting[key][1:]; len(rest) > 0 {
		l.waiting[key] = rest
		l.turns = append(l.turns, key)
	} else {
		delete(l.waiting, key)
	}
	return f
}

// Wait returns once nothing runs and nothing is queued.
func (l *Lane[K]) Wait() { l.wg.Wait() }
