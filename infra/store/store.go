package store

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"

	"github.com/sparkpacer/pacer/api"
)

// Store is what all stores of this package do.
type Store interface {
	// Apply makes all changes or none: each sets its key, or deletes it where its Value is
	// nil. An empty value that is not nil is a value. A later change of the same key wins. It
	// returns an *api.RefusedError, and makes no change, where it would never take one of them.
	Apply(changes []api.Pair) error
	// Load returns the pairs whose keys begin with prefix, in order of key. The
	// caller owns them.
	Load(prefix string) ([]api.Pair, error)
	// Close releases the store; a second call does nothing.
	Close() error
}

// The faults of a store.
var (
	// ErrClosed is returned by a store that was closed.
	ErrClosed = errors.New("store: it is closed")
	// ErrCorrupt says that a file is damaged in a way that no crash explains.
	ErrCorrupt = errors.New("store: the file is damaged")
	// ErrVersion says that a file was written by another release.
	ErrVersion = errors.New("store: the file has another version")
)

// otherVersion refuses what another release has written.
func otherVersion[V any](name string, has, reads V) error {
	return fmt.Errorf("%w: %s has %v, this release reads %v: %s", ErrVersion, name, has, reads, api.OtherRelease)
}

// check returns an *api.RefusedError for keys that not every kind of store keeps.
func check(changes []api.Pair) error {
	var refused *api.RefusedError
	for _, c := range changes {
		var why string
		switch {
		case c.Key == "":
			why = "it is empty"
		case len(c.Key) > api.MostKey:
			why = fmt.Sprintf("it has %d bytes, at most %d are taken", len(c.Key), api.MostKey)
		case strings.ContainsFunc(c.Key, func(r rune) bool { return r < ' ' || r == 0x7f }):
			why = "it has control characters"
		default:
			continue
		}
		if refused == nil {
			refused = &api.RefusedError{Why: why}
		}
		refused.Keys = append(refused.Keys, c.Key)
	}
	if refused == nil {
		return nil
	}
	return refused
}

// memory is a store without a file.
type memory struct {
	mu     sync.Mutex
	values map[string][]byte // nil once closed
}

// Memory returns an empty store that lives as long as the process.
func Memory() Store { return &memory{values: map[string][]byte{}} }

func (m *memory) Apply(changes []api.Pair) error {
	if err := check(changes); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		return ErrClosed
	}
	for _, c := range changes {
		if c.Value == nil {
			delete(m.values, c.Key)
		} else {
			m.values[c.Key] = append([]byte{}, c.Value...)
		}
	}
	return nil
}

func (m *memory) Load(prefix string) ([]api.Pair, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		return nil, ErrClosed
	}
	var out []api.Pair
	for k, v := range m.values {
		if strings.HasPrefix(k, prefix) {
			out = append(out, api.Pair{Key: k, Value: append([]byte{}, v...)})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Key < out[j].Key })
	return out, nil
}

func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values = nil
	return nil
}

// Fault decides whether an operation ("apply" or "load") fails; nil lets it
// pass.
type Fault func(operation string) error

// failing fails when it is told to.
type failing struct {
	inner Store
	fault Fault
}

// Failing returns inner with faults: an operation that fault refuses has no
// effect. Close always passes.
func Failing(inner Store, fault Fault) Store { return &failing{inner, fault} }

func (f *failing) Apply(changes []api.Pair) error {
	if err := f.fault("apply"); err != nil {
		return fmt.Errorf("store: apply: %w", err)
	}
	return f.inner.Apply(changes)
}

func (f *failing) Load(prefix string) ([]api.Pair, error) {
	if err := f.fault("load"); err != nil {
		return nil, fmt.Errorf("store: load: %w", err)
	}
	return f.inner.Load(prefix)
}

func (f *failing) Close() error { return f.inner.Close() }
