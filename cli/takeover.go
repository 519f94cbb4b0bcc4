package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/infra/bus"
)

// takeoverWithin is how long pacer submit waits for a planner: a standby takes over within 5 s,
// and its first writes may take as long. takenOverAgain is how often it asks.
const (
	takeoverWithin = 10 * time.Second
	takenOverAgain = 250 * time.Millisecond
)

// planner connects to the planner, without which nothing is started. Where a NATS server answers
// without one, a standby may be taking over, which is waited for.
func (l *launch) planner(ctx context.Context) (client, func(), error) {
	conn, done, err := dialPlanner(ctx, l.config.Client)
	until, said := time.Now().Add(takeoverWithin), false
	for api.KindOf(err) == api.KindTransient && !errors.Is(err, bus.ErrNoServer) && time.Now().Before(until) {
		if !said {
			fmt.Fprintf(l.Stderr, "pacer: %v; waiting up to %v for one that takes over\n", err, takeoverWithin)
			said = true
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(takenOverAgain):
		}
		conn, done, err = dialPlanner(ctx, l.config.Client)
	}
	if err != nil && api.KindOf(err) != api.KindDenied {
		err = command.Coded(command.ExitUnavailable, err)
	}
	return conn, done, err
}
