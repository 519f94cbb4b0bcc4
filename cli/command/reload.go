package command

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/sparkpacer/pacer/cli/config"
)

// reloadWithin bounds how long a daemon takes to go by another configuration.
const reloadWithin = 10 * time.Second

// reloader reads a daemon's configuration again at each SIGHUP, from the same file, environment
// and flags, and has the daemon go by what of it may change. With a fault anywhere in it nothing
// changes.
type reloader struct {
	hangups <-chan os.Signal
	// cfg is what the daemon goes by, sections are how the keys begin that it has to do with.
	cfg      config.Config
	sections []string
	log      *slog.Logger
	level    *slog.LevelVar

	read func() (config.Config, error)
	// check reports every fault of the sections, apply has the daemon go by what may change.
	check func(config.Config) error
	apply func(context.Context, config.Config) error
}

// start reloads in the background until stop, which waits for it, is called.
func (r *reloader) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case <-r.hangups:
				r.reload(ctx)
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// reload says in a line what has changed, in one what would need a restart, or in one all that is
// wrong.
func (r *reloader) reload(ctx context.Context) {
	next, err := r.read()
	if err == nil {
		err = r.check(next)
	}
	merged := r.cfg.With(next)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, reloadWithin)
		defer cancel()
		err = r.apply(ctx, merged)
	}
	if err != nil {
		r.log.Error("SIGHUP: nothing is changed, the configuration has faults: " + oneLine(err))
		return
	}
	merged.Log.Follow(r.level)
	changed, waits := r.cfg.Changed(merged, r.sections...), merged.Changed(next, r.sections...)
	r.cfg = merged
	if len(changed) > 0 {
		r.log.Info("SIGHUP: changed: " + strings.Join(changed, ", "))
	}
	if len(waits) > 0 {
		r.log.Warn("SIGHUP: needs a restart: " + strings.Join(waits, ", "))
	}
	if len(changed)+len(waits) == 0 {
		r.log.Info("SIGHUP: the configuration is what it was")
	}
}

// catchHangups has SIGHUP end nothing.
func catchHangups() chan os.Signal {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	return hangups
}

// endsOnHangup returns a context that SIGHUP ends, unless whoever has started this process has it
// ignored, as nohup does.
func endsOnHangup(ctx context.Context) (context.Context, context.CancelFunc) {
	hangup := Heeded(syscall.SIGHUP)
	if len(hangup) == 0 { // NotifyContext would take none for all.
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(ctx, hangup...)
}
