package daemon

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/executor"
)

const (
	// archiveQuiet is how long a node has had no executor before it makes an
	// archive: longer than the next driver takes to ask for executors.
	archiveQuiet = 15 * time.Second
	// archivePatience is how long an archive is waited for on a node that is never
	// without executors; after that it is made beside them, behind everything.
	archivePatience = 10 * time.Minute
	// archivesKept is how many archives a node keeps, of some 160 MiB each.
	archivesKept = 3
)

// errInterrupted ends a training run because executors have come.
var errInterrupted = errors.New("executors have come")

// wish is an archive that executors would have used.
type wish struct {
	archive executor.Archive
	since   time.Time
}

// wishes decides when which archive is made. It is a value without a clock, not
// safe for concurrent use.
type wishes struct {
	waiting []wish
	dropped map[string]bool // By key: made, or failed until the next start of the daemon.
	quiet   time.Time       // Since when the node has been idle; zero while it is not.
}

// add notes that an executor has started without the archive.
func (w *wishes) add(a executor.Archive, now time.Time) {
	if !w.dropped[a.Key] && !slices.ContainsFunc(w.waiting, func(o wish) bool { return o.archive.Key == a.Key }) {
		w.waiting = append(w.waiting, wish{a, now})
	}
}

// due returns the archive to be made now, if any, and whether executors that
// come end it.
func (w *wishes) due(now time.Time, idle bool) (a executor.Archive, yields, ok bool) {
	switch {
	case !idle:
		w.quiet = time.Time{}
	case w.quiet.IsZero():
		w.quiet = now
	}
	for _, o := range w.waiting {
		if now.Sub(o.since) >= archivePatience {
			return o.archive, false, true
		}
	}
	if len(w.waiting) == 0 || w.quiet.IsZero() || now.Sub(w.quiet) < archiveQuiet {
		return executor.Archive{}, false, false
	}
	return w.waiting[0].archive, true, true
}

// drop ends the wish for good.
func (w *wishes) drop(key string) {
	w.dropped[key] = true
	w.waiting = slices.DeleteFunc(w.waiting, func(o wish) bool { return o.archive.Key == key })
}

// archives makes the class-data archives that a node's executors have missed, one
// at a time. A nil one does nothing.
type archives struct {
	node executor.NodeSettings
	log  *slog.Logger
	idle func() bool
	make func(context.Context, executor.Archive) error
	asks chan executor.Archive

	mu   sync.Mutex
	said map[string]bool // Why there can be no archive.
}

func newArchives(node executor.NodeSettings, log *slog.Logger, idle func() bool,
	train func(context.Context, executor.Archive) error) *archives {
	return &archives{node: node, log: log, idle: idle, asks: make(chan executor.Archive, 16), said: map[string]bool{},
		make: train}
}

// seen asks for the archive that an executor of launch, and of that user, is about to miss. It
// is safe for concurrent use and does not wait.
func (a *archives) seen(launch api.Launch, user executor.Credential) {
	if a == nil {
		return
	}
	node := a.node
	node.User = user
	archive, err := executor.ArchiveOf(launch, node)
	if err != nil {
		a.sayOnce(err)
		return
	}
	a.ask(archive)
}

func (a *archives) ask(archive executor.Archive) {
	if archive.Made(a.node.Archives) {
		return
	}
	select {
	case a.asks <- archive:
	default: // The next executor asks again.
	}
}

func (a *archives) sayOnce(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if text := err.Error(); !a.said[text] {
		a.said[text] = true
		a.log.Info("executors start without a class-data archive", "reason", text)
	}
}

// run makes archives until ctx ends, the node's own Spark's without being asked.
func (a *archives) run(ctx context.Context) error {
	if home := os.Getenv("SPARK_HOME"); a.node.SparkHome != "" || home != "" {
		a.seen(api.Launch{SparkHome: home}, executor.Credential{})
	}
	w := wishes{dropped: map[string]bool{}}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case archive := <-a.asks:
			w.add(archive, time.Now())
		case now := <-tick.C:
			if archive, yields, ok := w.due(now, a.idle()); ok && a.attempt(ctx, archive, yields) {
				w.drop(archive.Key)
			}
		}
	}
}

// attempt makes an archive and reports whether the wish ends, one way or the
// other; false to try again later.
func (a *archives) attempt(ctx context.Context, archive executor.Archive, yields bool) (ends bool) {
	making, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if yields {
		go a.interrupt(making, cancel)
	}
	began := time.Now()
	a.log.Debug("making a class-data archive", "spark", archive.Spark, "key", archive.Key)
	switch err := a.make(making, archive); {
	case err == nil:
		a.log.Info("class-data archive made: executors and drivers start faster from now on", "spark", archive.Spark,
			"file", archive.File(a.node.Archives), "took", time.Since(began).Round(time.Second))
	case making.Err() != nil || errors.Is(err, executor.ErrArchiveBusy):
		return false
	default:
		a.log.Warn("no class-data archive: executors start without one", "spark", archive.Spark, "error", err)
	}
	return true
}

// interrupt ends a making once the node has executors.
func (a *archives) interrupt(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if !a.idle() {
				cancel(errInterrupted)
				return
			}
		}
	}
}
