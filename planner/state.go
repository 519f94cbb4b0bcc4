package planner

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// stateVersion is the layout's:
//
//	planner/epoch        counters: newest epoch, application number and term; the store's name
//	app/ID               a running application (appRecord)
//	app/ID/marks         what every event changes of it (markRecord)
//	app/ID/profile       the profile that it is matched to (api.Profile)
//	app/ID/stage/S.A     attempt A of its stage S (stageRecord)
//	app/ID/figures/S.A   what nodes told of it ([]figure)
//	app/ID/usage         the CPU time of its executors, in core-seconds
//	app/ID/samples/S.A/N a piece of that one's samples (appendSamples)
//	plan/NODE            a node and the epoch of its Plan (nodeRecord)
//	profile/NAME         a profile (api.Profile); NAME is escaped as in a URL's path
//	history/ID           an application that is over (endedApp)
//
// All values but samples, figures and usage (appendNumbers) are JSON. Version 1, in which
// app/ID had the marks, a stage its figures, and samples were JSON, is read too, and 2, in
// which figures were JSON and the CPU time was only in app/ID. A Plan's content follows from its
// applications' records and is made again from them: a stage's event need not write a
// record for each of its nodes (restorePlans). Not kept: silences, who is connected;
// these come back with the next statuses. Samples, and other figures of running stages,
// may lack what came in the last seconds (flushEvery).
const (
	stateVersion  = 3
	oldestVersion = 1
)

const (
	counterKey    = "planner/epoch"
	appPrefix     = "app/"
	planPrefix    = "plan/"
	profilePrefix = "profile/"
	historyPrefix = "history/"
)

// Prefixes are those of all keys that an engine saves: what is stored under
// them, and only that, is handed to New.
func Prefixes() []string {
	return []string{"planner/", appPrefix, planPrefix, profilePrefix, historyPrefix}
}

// flushEvery is how often figures of nodes are saved that came without an event.
// Applications that came together are not saved together: what comes to the loop
// during a tick waits for it. So a tick saves leastFlushes more than have to be in
// each, and those whose turn does not come have it in one of the next.
const (
	flushEvery   = 5 * time.Second
	leastFlushes = 4
)

type counterRecord struct {
	V      int    `json:"v"`
	Epoch  uint64 `json:"epoch"`
	Serial uint64 `json:"serial"`
	// Planner is the store's name (Config.Identity), Term how often a planner has
	// started on it.
	Planner string `json:"planner,omitempty"`
	Term    uint64 `json:"term,omitempty"`
}

func appKey(id api.AppID) string                     { return appPrefix + string(id) }
func planKey(node string) string                     { return planPrefix + node }
func profileKey(name string) string                  { return profilePrefix + url.PathEscape(name) }
func historyKey(id api.AppID) string                 { return historyPrefix + string(id) }
func ownProfile(id api.AppID) string                 { return appKey(id) + "/profile" }
func stagePrefix(id api.AppID) string                { return appKey(id) + "/stage/" }
func marksKey(id api.AppID) string                   { return appKey(id) + "/marks" }
func usageKey(id api.AppID) string                   { return appKey(id) + "/usage" }
func figuresPrefix(id api.AppID) string              { return appKey(id) + "/figures/" }
func stageKey(id api.AppID, k api.StageKey) string   { return stagePrefix(id) + keyText(k) }
func figuresKey(id api.AppID, k api.StageKey) string { return figuresPrefix(id) + keyText(k) }
func keyText(k api.StageKey) string                  { return strconv.Itoa(k.Stage) + "." + strconv.Itoa(k.Attempt) }

// put saves v under key. What the engine saves are its own plain structs with
// finite numbers, so that encoding them cannot fail; if it did, the record would
// be missing after a restart and nothing else.
func (e *Engine) put(key string, v any) {
	value, err := json.Marshal(v)
	e.putText(key, value, err)
}

// putText saves an encoded value, or says why there is none.
func (e *Engine) putText(key string, value []byte, err error) {
	if err != nil {
		e.occur(StoreFailed{Err: fmt.Errorf("encode %s: %w", key, err)})
		return
	}
	e.changes = append(e.changes, Change{Key: key, Value: value})
}

func (e *Engine) remove(key string) { e.changes = append(e.changes, Change{Key: key}) }

func (e *Engine) saveCounters() {
	if e.counters {
		e.counters = false
		e.put(counterKey, counterRecord{V: stateVersion, Epoch: e.epoch, Serial: e.serial, Planner: e.identity, Term: e.term})
	}
}

// saveApp saves what has changed of a.
func (e *Engine) saveApp(a *app) {
	if a.profile != nil && !a.saved {
		e.put(ownProfile(a.ID), a.profile.body)
	}
	for _, s := range a.order {
		flush := s.stale && a.flush
		// A profile is made of the figures: those of a stage that is done are not left
		// to the next flush. Samples are many: no event waits for them.
		if flush || s.stale && s.dirty && s.Done != nil {
			putNumbers(e, figuresKey(a.ID, s.key()), s.figures)
		}
		if s.dirty {
			s.dirty = false
			e.put(stageKey(a.ID, s.key()), s.stageRecord)
		}
		if flush {
			s.stale = false
			e.saveSamples(a.ID, s)
		}
	}
	if a.dirty || a.aged && a.flush {
		e.put(appKey(a.ID), a.appRecord)
		a.dirty, a.aged = false, false
	}
	if a.flush {
		e.putUsage(a)
	}
	if a.marked {
		a.marks.V, a.marks.PlanEpochs = stateVersion, a.marks.PlanEpochs[:0]
		for _, x := range a.Executors {
			a.marks.PlanEpochs = append(a.marks.PlanEpochs, x.planEpoch)
		}
		e.put(marksKey(a.ID), a.marks)
	}
	a.saved, a.marked, a.flush = true, false, false
}

func (e *Engine) removeApp(a *app) {
	e.remove(appKey(a.ID))
	e.remove(marksKey(a.ID))
	e.remove(usageKey(a.ID))
	if a.profile != nil {
		e.remove(ownProfile(a.ID))
	}
	for _, s := range a.order {
		e.removeStage(a.ID, s)
	}
}

func (e *Engine) removeStage(id api.AppID, s *stage) {
	e.remove(stageKey(id, s.key()))
	e.remove(figuresKey(id, s.key()))
	e.removeSamples(id, s)
}
