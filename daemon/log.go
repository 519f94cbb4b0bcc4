package daemon

import (
	"context"
	"log/slog"
	"maps"
	"sync"

	"golang.org/x/time/rate"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/metrics"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/node"
)

// logger returns l for a component; nil discards.
func logger(l *slog.Logger, component string, args ...any) *slog.Logger {
	if l == nil {
		l = slog.New(slog.DiscardHandler)
	}
	return l.With("component", component).With(args...)
}

// quiet bounds how often lines of one kind are logged: the first 20 pass, then 5
// a second; the next line that passes says how many did not.
type quiet struct {
	mu    sync.Mutex
	kinds map[string]*kindLimit
}

type kindLimit struct {
	limit   *rate.Limiter
	skipped int
}

// mostKinds bounds the kinds that are remembered: those go of which as many lines may come as of a new one. Where
// there are more than that, those that are new count together.
const mostKinds = 1024

func newQuiet() *quiet { return &quiet{kinds: map[string]*kindLimit{}} }

// pass reports whether a line of the kind may be logged, and how many were not
// since the last that was.
func (q *quiet) pass(kind string) (ok bool, skipped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	k := q.kinds[kind]
	if k == nil && len(q.kinds) >= mostKinds-1 {
		maps.DeleteFunc(q.kinds, func(_ string, k *kindLimit) bool { return k.limit.Tokens() >= 20 })
		if len(q.kinds) >= mostKinds-1 {
			kind = ""
			k = q.kinds[kind]
		}
	}
	if k == nil {
		k = &kindLimit{limit: rate.NewLimiter(5, 20)}
		q.kinds[kind] = k
	}
	if !k.limit.Allow() {
		k.skipped++
		return false, 0
	}
	skipped, k.skipped = k.skipped, 0
	return true, skipped
}

// line logs one line of a kind unless there are too many of them.
func (q *quiet) line(log *slog.Logger, level slog.Level, kind, text string, args ...any) {
	if !log.Enabled(context.Background(), level) {
		return
	}
	ok, skipped := q.pass(kind)
	if !ok {
		return
	}
	if skipped > 0 {
		args = append(args, "not_logged", skipped)
	}
	log.Log(context.Background(), level, text, append([]any{"event", kind}, args...)...)
}

// faults logs what a connection could not deliver or take.
func faults(log *slog.Logger) func(error) {
	q := newQuiet()
	return func(err error) { q.line(log, slog.LevelWarn, "bus fault", err.Error()) }
}

func level(trouble bool) slog.Level {
	if trouble {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// observeNode logs and counts a node engine's events, one line each.
func observeNode(log *slog.Logger, count *metrics.Node) func(node.Event) {
	q := newQuiet()
	return func(e node.Event) {
		count.Event(e.Kind.String())
		if e.Kind == node.EventTicksSkipped {
			count.Missed(e.Count)
		}
		var args []any
		if e.Key != (node.Key{}) {
			args = append(args, "app", string(e.Key.App), "executor", string(e.Key.ID))
		}
		if e.HasStage {
			args = append(args, "stage", e.Stage.Stage, "attempt", e.Stage.Attempt)
		}
		if e.Epoch > 0 {
			args = append(args, "epoch", e.Epoch)
		}
		q.line(log, level(e.Kind.Trouble()), e.Kind.String(), e.String(), args...)
	}
}

// observePlanner logs and counts what a planner has recorded, one line for each fact that a log
// does not leave out.
func observePlanner(log *slog.Logger, count *metrics.Planner) func(ledger.Change) {
	q := newQuiet()
	return func(c ledger.Change) {
		countFact(count, c.Fact)
		if line := c.Line(); line.Text != "" {
			q.line(log, level(line.Trouble), line.Name, line.Text, line.Fields...)
		}
	}
}

func countFact(count *metrics.Planner, fact ledger.Fact) {
	switch f := fact.(type) {
	case ledger.Registered:
		if f.Promise.Deadline > 0 {
			count.Due(f.Promise.Profile)
		}
		if f.Seats != nil {
			count.Admitted(f.Promise.Verdict)
		}
	case ledger.TurnedDown:
		count.Rejected(api.KindOf(f.Err))
	case ledger.Archived:
		ended := metrics.Run{Profile: f.Detail.Profile, Result: string(f.Run.Result()),
			Work: f.Run.Work, Freed: f.Run.Freed(), Margin: f.Run.Deadline - f.Run.Duration}
		if e := f.Detail.ErrorPct; e != nil {
			ended.Error = *e / 100
		}
		count.Ended(ended)
	case ledger.PublishFailed:
		count.PublishFailed()
	case ledger.ExecutorTaken:
		count.Taken()
	}
}
