package store

import (
	"errors"
	"fmt"
	"strings"

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
