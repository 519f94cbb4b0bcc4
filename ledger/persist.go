package ledger

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// flushEvery is how often counters of nodes are saved that came without an event.
// Applications that came together are not saved together: what comes to the loop
// during a tick waits for it. So a tick saves leastFlushes more than have to be in
// each, and those whose turn does not come have it in one of the next.
const (
	flushEvery   = 5 * time.Second
	leastFlushes = 4
)

// appRecord is what is stored of a running application. Its stages, its profile and what
// every event changes have keys of their own, so that an event rewrites little.
type appRecord struct {
	V         int           `json:"v"`
	ID        api.AppID     `json:"id"`
	Name      string        `json:"name"`
	Tenant    Tenant        `json:"tenant"`
	Promise   Promise       `json:"promise"`
	Outcome   Outcome       `json:"outcome"`
	Notice    string        `json:"notice,omitempty"`
	Notices   []string      `json:"notices,omitempty"`
	Directive api.Directive `json:"directive"`
}

type markRecord struct {
	V int `json:"v"`
	Marks
	// PlanEpochs are its executors'.
	PlanEpochs []uint64 `json:"plan_epochs,omitempty"`
}

type stageRecord struct {
	V int `json:"v"`
	StageRecord
}

type nodeRecord struct {
	V int `json:"v"`
	NodeRecord
	Theirs []UnknownExecutors `json:"theirs,omitempty"` // See Allegiance.
	Lend   api.Lending        `json:"lend,omitzero"`    // As its Plan says.
}

// save has v saved under key as JSON. What a ledger saves are its own plain structs with
// finite numbers, so that encoding them cannot fail; if it did, the record would
// be missing after a restart and nothing else.
func (b *batch) save(key string, v any) {
	value, err := json.Marshal(v)
	b.encoded(key, value, err)
}

// encoded saves an encoded value, or keeps why there is none.
func (b *batch) encoded(key string, value []byte, err error) {
	if err != nil {
		b.faults = append(b.faults, fmt.Errorf("encode %s: %w", key, err))
		return
	}
	b.put(key, value)
}

// counters is the record of the ledger's own.
func (l *Ledger) counters() counterRecord {
	return counterRecord{V: Layout, Epoch: l.epoch, Serial: l.serial, Planner: l.identity, Term: l.term,
		Division: l.wishes.division, QueuePolicy: l.wishes.policy}
}

// saveCounters saves the ledger's own.
func (l *Ledger) saveCounters() {
	if now := l.counters(); now != l.batch.saved {
		l.batch.saved = now
		l.batch.save(counterKey, now)
	}
}

// saveApp saves what has changed of a.
func (b *batch) saveApp(a *App) {
	number, v, flushes := b.number, &a.versions, b.isNew(a, partFlush)
	if a.Folded != nil && b.isNew(a, partFolded) {
		b.save(foldedKey(a.ID), a.Folded)
	}
	if a.Profile != nil && b.isNew(a, partProfile) {
		b.save(ownProfile(a.ID), a.Profile.Recorded)
	}
	for _, s := range a.Order {
		stale, dirty := s.versions.counted > s.versions.flushed, s.versions.changed == number
		flush := stale && flushes
		// A profile is made of the counters: those of a stage that is done are not left
		// to the next flush. Samples are many: no event waits for them.
		if flush || stale && dirty && s.Done != nil {
			value, err := appendNumbers(s.Counters)
			b.encoded(countersKey(a.ID, s.Key()), value, err)
		}
		if dirty {
			b.save(stageKey(a.ID, s.Key()), stageRecord{Layout, s.StageRecord})
		}
		if flush {
			s.versions.flushed = number
			b.saveSamples(a.ID, s)
		}
	}
	if b.isNew(a, partRecord) || flushes && v.newer(partFigures, v.kept) {
		v.kept = number
		b.save(appKey(a.ID), appRecord{V: Layout, ID: a.ID, Name: a.Name, Tenant: a.stored(), Promise: a.Promise,
			Outcome: a.Outcome, Notice: a.Notice, Notices: a.Notices, Directive: a.Directive})
	}
	if flushes {
		b.saveUsage(a)
	}
	if b.isNew(a, partMarks) {
		r := markRecord{V: Layout, Marks: a.Marks}
		for _, x := range a.Tenant.Executors {
			r.PlanEpochs = append(r.PlanEpochs, x.planEpoch)
		}
		b.save(marksKey(a.ID), r)
	}
}

// saveUsage saves the CPU time of a's executors: it grows all the time, and their
// record need not be written for it.
func (b *batch) saveUsage(a *App) {
	used := make([]units.Work, 0, len(a.Tenant.Executors))
	for _, x := range a.Tenant.Executors {
		used = append(used, x.CPU)
	}
	value, err := appendNumbers(used)
	b.encoded(usageKey(a.ID), value, err)
}

// saveSamples saves what has come since it was called last; all, where what was
// saved has been thinned since.
func (b *batch) saveSamples(id api.AppID, s *Stage) {
	if s.Samples.thinned {
		b.removeSamples(id, s)
	}
	fresh := s.Samples.list[s.Samples.saved:]
	if len(fresh) == 0 {
		return
	}
	b.put(pieceKey(id, s.Key(), s.Samples.pieces), appendSamples(make([]byte, 0, 2+sampleSize*len(fresh)), fresh))
	s.Samples.saved = len(s.Samples.list)
	s.Samples.pieces++
}

// removeSamples removes what is saved of s's samples.
func (b *batch) removeSamples(id api.AppID, s *Stage) {
	for number := range s.Samples.pieces {
		b.put(pieceKey(id, s.Key(), number), nil)
	}
	s.Samples.saved, s.Samples.pieces, s.Samples.thinned = 0, 0, false
}

func (b *batch) removeApp(a *App) {
	b.put(appKey(a.ID), nil)
	b.put(marksKey(a.ID), nil)
	b.put(usageKey(a.ID), nil)
	b.put(foldedKey(a.ID), nil)
	if a.Profile != nil {
		b.put(ownProfile(a.ID), nil)
	}
	for _, s := range a.Order {
		b.removeStage(a.ID, s)
	}
}

func (b *batch) removeStage(id api.AppID, s *Stage) {
	b.put(stageKey(id, s.Key()), nil)
	b.put(countersKey(id, s.Key()), nil)
	b.removeSamples(id, s)
}
