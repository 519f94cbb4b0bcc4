package daemon

import (
	"context"
	"errors"
	"slices"

	"github.com/oklog/run"
)

// cleanup is what has to be undone, in reverse order. Every constructor adds to
// it as it goes, and undoes all when it fails half-way.
type cleanup []func() error

func (c *cleanup) add(f func() error) { *c = append(*c, f) }

func (c *cleanup) close() error {
	var faults []error
	for _, f := range slices.Backward(*c) {
		faults = append(faults, f())
	}
	*c = nil
	return errors.Join(faults...)
}

// untilDone adds the actor that ends when ctx does: the first to return, it has
// all others interrupted in the order in which they were added.
func untilDone(ctx context.Context, g *run.Group) {
	ctx, cancel := context.WithCancel(ctx)
	g.Add(func() error {
		<-ctx.Done()
		return nil
	}, func(error) { cancel() })
}

// inOrder adds an actor whose interrupt waits until it has returned, so that
// those added after it outlive it.
func inOrder(g *run.Group, f func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	g.Add(func() error {
		defer close(ended)
		return f(ctx)
	}, func(error) {
		cancel()
		<-ended
	})
}
