package torture

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// history is what has happened to a cluster, from which the judgement knows what was left of
// it.
type history struct {
	mu     sync.Mutex
	began  time.Time
	faults []time.Time
	// down are the times in which a node's executors cannot work, away those in which no
	// executor can be started, runs the times of applications.
	down map[string][]wall
	away []wall
	runs map[*application]*wall
}

// wall is a time on the clock of this process; a to of zero is not over.
type wall struct{ from, to time.Time }

func newHistory() *history {
	return &history{began: time.Now(), down: map[string][]wall{}, runs: map[*application]*wall{}}
}

// noted adds a fault to the history that lasts from now on for long: it keeps executors of a
// node from working where node is not "", and others from being started where away is true.
func (h *history) noted(long time.Duration, node string, away bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	h.faults = append(h.faults, now)
	if node != "" {
		h.down[node] = append(h.down[node], wall{now, now.Add(long)})
	}
	if away {
		h.away = append(h.away, wall{now, now.Add(long)})
	}
}

// begin and end note when an application ran.
func (h *history) begin(a *application) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs[a] = &wall{from: a.run.Began()}
}

func (h *history) end(a *application) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs[a].to = time.Now()
}

// of fills in what r needs to know of the history of a's time: a's part of the capacity is
// that of all that ran then.
func (h *history) of(a *application, r *Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	edges := []float64{0}
	for _, at := range h.faults {
		r.Faults = append(r.Faults, a.since(at))
	}
	for _, w := range h.away {
		r.Away = append(r.Away, Span{max(0, a.since(w.from)), a.since(w.to)})
	}
	r.Away = merged(r.Away)
	for _, spans := range h.down {
		for _, w := range spans {
			edges = append(edges, a.since(w.from), a.since(w.to))
		}
	}
	for _, w := range h.runs {
		edges = append(edges, a.since(w.from))
		if !w.to.IsZero() {
			edges = append(edges, a.since(w.to))
		}
	}
	slices.Sort(edges)
	for _, at := range slices.Compact(edges) {
		if at < 0 {
			continue
		}
		running := 0
		for other, w := range h.runs {
			if from := a.since(w.from); other == a || from <= at && (w.to.IsZero() || a.since(w.to) > at) {
				running++
			}
		}
		up := 0
		for _, node := range a.c.names {
			if !slices.ContainsFunc(h.down[node], func(w wall) bool { return a.since(w.from) <= at && at < a.since(w.to) }) {
				up++
			}
		}
		r.Capacity = append(r.Capacity, Level{at, cores * float64(up) / float64(running)})
	}
}

// merged are spans in order, those that touch as one.
func merged(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return int(1e6 * (a.From - b.From)) })
	var out []Span
	for _, s := range spans {
		if n := len(out); n > 0 && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
		} else if s.To > 0 {
			out = append(out, s)
		}
	}
	return out
}

func TestSpansAreMerged(t *testing.T) {
	got := merged([]Span{{5, 7}, {0, -3}, {1, 2}, {6, 9}, {2, 3}, {20, 21}})
	if want := []Span{{1, 3}, {5, 9}, {20, 21}}; !slices.Equal(got, want) {
		t.Error(fmt.Sprint(got), "want", want)
	}
}
