package api

import (
	"errors"
	"fmt"
)

// Kind classifies an error that crosses NATS. The numbers are frozen: they are
// part of the wire format. Add at the end, never renumber.
type Kind int

const (
	// KindInternal is a fault of Pacer itself.
	KindInternal Kind = 0
	// KindInvalid is a request that can never succeed as it stands.
	KindInvalid Kind = 1
	// KindNotFound names an application, profile, node or executor that is not known.
	KindNotFound Kind = 2
	// KindInfeasible is a deadline that cannot be met and was required to be.
	KindInfeasible Kind = 3
	// KindConflict is a name or state that is taken already.
	KindConflict Kind = 4
	// KindStale is a message older than one already taken.
	KindStale Kind = 5
	// KindTransient may succeed if tried again.
	KindTransient Kind = 6
	// KindVersion is a peer of another protocol version.
	KindVersion Kind = 7
	// KindDenied is what the peer may not do, or a peer whose credentials are not taken.
	KindDenied Kind = 8
)

var kindNames = [...]string{"internal", "invalid", "not found", "infeasible", "conflict", "stale", "transient",
	"version", "denied"}

// String returns the kind's name in lower case.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind %d", int(k))
	}
	return kindNames[k]
}

// Error is an error as it crosses NATS. The zero Kind is KindInternal.
type Error struct {
	Kind    Kind   `json:"kind"`
	Message string `json:"message"`
}

// Error returns the message alone: it is written for the user.
func (e *Error) Error() string { return e.Message }

// Errorf returns an *Error of the given kind.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// KindOf returns the kind of the first *Error in err's chain, KindInternal if
// there is none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return KindInternal
}

// ToWire returns err as an *Error for a reply; nil stays nil.
func ToWire(err error) *Error {
	if err == nil {
		return nil
	}
	return &Error{Kind: KindOf(err), Message: err.Error()}
}
