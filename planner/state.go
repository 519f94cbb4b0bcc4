package planner

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// stateVersion is the layout's:
//
//	planner/epoch        counters: newest epoch and application number
//	app/ID               a running application (appRecord)
//	app/ID/marks         what every event changes of it (markRecord)
//	app/ID/profile       the profile that it is matched to (api.Profile)
//	app/ID/stage/S.A     attempt A of its stage S (stageRecord)
//	app/ID/figures/S.A   what nodes told of it (figureRecord)
//	app/ID/samples/S.A/N a piece of that one's samples (appendSamples)
//	plan/NODE            a node and the epoch of its Plan (nodeRecord)
//	profile/NAME         a profile (api.Profile); NAME is escaped as in a URL's path
//	history/ID           an application that is over (endedApp)
//
// All values but samples are JSON. Version 1, in which app/ID had the marks, a stage
// its figures and samples were JSON, is read too. A Plan's content follows from its applications' records and
// is made again from them: a stage's event need not write a record for each of its
// nodes (restorePlans). Not kept: silences, who is connected; these come back with
// the next statuses. Samples and other figures of running stages may lack what
// came in the last seconds (flushEvery).
const (
	stateVersion  = 2
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
}

func appKey(id api.AppID) string                     { return appPrefix + string(id) }
func planKey(node string) string                     { return planPrefix + node }
func profileKey(name string) string                  { return profilePrefix + url.PathEscape(name) }
func historyKey(id api.AppID) string                 { return historyPrefix + string(id) }
func ownProfile(id api.AppID) string                 { return appKey(id) + "/profile" }
func stagePrefix(id api.AppID) string                { return appKey(id) + "/stage/" }
func marksKey(id api.AppID) string                   { return appKey(id) + "/marks" }
func figuresPrefix(id api.AppID) string              { return appKey(id) + "/figures/" }
func stageKey(id api.AppID, k api.StageKey) string   { return stagePrefix(id) + keyText(k) }
func figuresKey(id api.AppID, k api.StageKey) string { return figuresPrefix(id) + keyText(k) }
func keyText(k api.StageKey) string                  { return strconv.Itoa(k.Stage) + "." + strconv.Itoa(k.Attempt) }

// put saves v under key. What the engine saves are its own plain structs with
// finite numbers, so that encoding them cannot fail; if it did, the record would
// be missing after a restart and nothing else.
func (e *Engine) put(key string, v any) {
	value, err := json.Marshal(v)
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
		e.put(counterKey, counterRecord{V: stateVersion, Epoch: e.epoch, Serial: e.serial})
	}
}

// saveApp saves what has changed of a.
func (e *Engine) saveApp(a *app) {
	if a.profile != nil && !a.saved {
		e.put(ownProfile(a.ID), a.profile.body)
	}
	for _, s := range a.order {
		if s.dirty {
			s.dirty = false
			e.put(stageKey(a.ID, s.key()), s.stageRecord)
		}
		if s.stale && a.flush {
			// Samples are many: no event waits for them.
			s.stale = false
			e.put(figuresKey(a.ID, s.key()), s.figureRecord)
			e.saveSamples(a.ID, s)
		}
	}
	if a.dirty || a.flush {
		e.put(appKey(a.ID), a.appRecord)
	}
	if a.marked {
		a.marks.V, a.marks.PlanEpochs = stateVersion, a.marks.PlanEpochs[:0]
		for _, x := range a.Executors {
			a.marks.PlanEpochs = append(a.marks.PlanEpochs, x.planEpoch)
		}
		e.put(marksKey(a.ID), a.marks)
	}
	a.saved, a.dirty, a.marked, a.flush = true, false, false, false
}

func (e *Engine) removeApp(a *app) {
	e.remove(appKey(a.ID))
	e.remove(marksKey(a.ID))
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

// restore reads what an earlier engine saved.
func (e *Engine) restore(records []Record) error {
	parts := make(map[api.AppID][]Record)
	for _, r := range records {
		var err error
		switch {
		case r.Key == counterKey:
			err = e.restoreCounters(r)
		case strings.HasPrefix(r.Key, appPrefix):
			id, _, _ := strings.Cut(strings.TrimPrefix(r.Key, appPrefix), "/")
			parts[api.AppID(id)] = append(parts[api.AppID(id)], r)
		case strings.HasPrefix(r.Key, planPrefix):
			err = e.restoreNode(r)
		case strings.HasPrefix(r.Key, profilePrefix):
			err = e.restoreProfile(r)
		case strings.HasPrefix(r.Key, historyPrefix):
			err = e.restoreHistory(r)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.Key, err)
		}
	}
	for _, id := range sortedKeys(parts) {
		if err := e.restoreApp(id, parts[id]); err != nil {
			return fmt.Errorf("%s: %w", appKey(id), err)
		}
	}
	e.restorePlans()
	slices.SortFunc(e.ended, func(a, b *endedApp) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Detail.ID, b.Detail.ID))
	})
	return nil
}

// decode reads a record; v points to a struct with the version *version.
func decode(r Record, v any, version *int) error {
	if err := json.Unmarshal(r.Value, v); err != nil {
		return err
	}
	if version != nil && (*version < oldestVersion || *version > stateVersion) {
		return fmt.Errorf("its layout is version %d, this planner reads %d to %d", *version, oldestVersion, stateVersion)
	}
	return nil
}

func (e *Engine) restoreCounters(r Record) error {
	var c counterRecord
	if err := decode(r, &c, &c.V); err != nil {
		return err
	}
	e.epoch, e.serial = c.Epoch, c.Serial
	return nil
}

// restorePlans makes the content of the Plans in force again; their epochs are the
// newest of those saved with the node and with the applications there. Where an
// experiment held executors the Plan is no longer what it was, and gets a new epoch
// when the node speaks.
func (e *Engine) restorePlans() {
	for _, n := range e.inOrder() {
		n.plan = e.entries(n)
		for _, here := range e.tenants[n.Node] {
			for _, x := range here.executors {
				n.Epoch = max(n.Epoch, x.planEpoch)
			}
		}
		if slices.ContainsFunc(e.tenants[n.Node], func(t *tenant) bool { return t.app.Held }) {
			n.Epoch = 0
		}
	}
}

// restoreNode takes a node to be there until it has been silent for long enough.
func (e *Engine) restoreNode(r Record) error {
	n := &node{state: nodeReady}
	if err := decode(r, &n.nodeRecord, &n.V); err != nil {
		return err
	}
	e.nodes[n.Node], e.ordered = n, nil
	return nil
}

func (e *Engine) restoreProfile(r Record) error {
	stored, err := decodeProfile(r)
	if err == nil {
		e.profiles[stored.body.Name] = stored
	}
	return err
}

func decodeProfile(r Record) (*annotated, error) {
	var p api.Profile
	if err := decode(r, &p, nil); err != nil {
		return nil, err
	}
	return annotate(p)
}

func (e *Engine) restoreHistory(r Record) error {
	d := &endedApp{}
	if err := decode(r, d, &d.V); err != nil {
		return err
	}
	e.ended = append(e.ended, d)
	return nil
}

// restoreApp puts an application together again from its records.
func (e *Engine) restoreApp(id api.AppID, records []Record) error {
	a := newApp(appRecord{})
	a.saved = true
	var pieces []piece
	figures := make(map[string]Record)
	for _, r := range records {
		var err error
		switch {
		case r.Key == appKey(id):
			err = a.restoreRecord(r)
		case r.Key == marksKey(id):
			err = decode(r, &a.marks, &a.marks.V)
		case r.Key == ownProfile(id):
			err = a.restoreProfile(r, e.cfg.Beta)
		case strings.HasPrefix(r.Key, stagePrefix(id)):
			err = a.restoreStage(r)
		case strings.HasPrefix(r.Key, figuresPrefix(id)):
			figures[r.Key] = r
		case strings.HasPrefix(r.Key, samplesPrefix(id)):
			var p piece
			p, err = restorePiece(id, r)
			pieces = append(pieces, p)
		}
		if err != nil {
			return err
		}
	}
	if a.ID != id {
		return fmt.Errorf("the record of the application itself is missing")
	}
	for i, epoch := range a.marks.PlanEpochs[:min(len(a.marks.PlanEpochs), len(a.Executors))] {
		a.Executors[i].planEpoch = epoch
	}
	slices.SortFunc(a.order, func(x, y *stage) int { return cmp.Compare(x.Seq, y.Seq) })
	for _, s := range a.order {
		if r, ok := figures[figuresKey(id, s.key())]; ok {
			if err := decode(r, &s.figureRecord, nil); err != nil {
				return err
			}
		}
		a.stages[s.key()] = s
		if s.Done == nil {
			a.opened = append(a.opened, s)
		}
		if s.Annotation != unmatched && a.profile != nil {
			a.profile.match.Matched[s.key().Stage] = s.Annotation
		}
	}
	slices.SortFunc(a.opened, compareStages)
	a.restoreSamples(pieces)
	e.apps[id], e.lineup = a, nil
	for _, x := range a.alive() {
		e.settleIn(a, x)
	}
	return nil
}

// restoreRecord reads a's own record, which has the marks too in version 1.
func (a *app) restoreRecord(r Record) error {
	if err := decode(r, &a.appRecord, &a.V); err != nil || a.V == stateVersion {
		return err
	}
	a.V, a.dirty = stateVersion, true
	if a.marks.V > 0 {
		return nil // They have been saved, and read, since.
	}
	var epochs struct {
		Executors []struct {
			PlanEpoch uint64 `json:"plan_epoch"`
		} `json:"executors"`
	}
	if err := errors.Join(json.Unmarshal(r.Value, &a.marks), json.Unmarshal(r.Value, &epochs)); err != nil {
		return err
	}
	for _, x := range epochs.Executors {
		a.marks.PlanEpochs = append(a.marks.PlanEpochs, x.PlanEpoch)
	}
	a.marked = true
	return nil
}

// restoreStage reads a stage's record, which has its figures too in version 1.
func (a *app) restoreStage(r Record) error {
	var record stageRecord
	if err := decode(r, &record, &record.V); err != nil {
		return err
	}
	s := newStage(record)
	a.order = append(a.order, s)
	if s.V == stateVersion {
		return nil
	}
	s.V, s.dirty, s.stale = stateVersion, true, true
	return json.Unmarshal(r.Value, &s.figureRecord)
}

func (a *app) restoreProfile(r Record, beta float64) error {
	stored, err := decodeProfile(r)
	if err == nil {
		a.profile = stored.forRun(beta)
	}
	return err
}
