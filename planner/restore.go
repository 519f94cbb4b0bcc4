package planner

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
)

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
	e.epoch, e.serial, e.identity, e.term = c.Epoch, c.Serial, c.Planner, c.Term
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
	e.nodes[n.Node] = n
	e.relist()
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
	var usage []byte
	figures := make(map[string]Record)
	for _, r := range records {
		var err error
		switch {
		case r.Key == appKey(id):
			err = a.restoreRecord(r)
		case r.Key == marksKey(id):
			err = decode(r, &a.marks, &a.marks.V)
		case r.Key == usageKey(id):
			usage = r.Value
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
	if usage != nil {
		if err := a.restoreUsage(usage); err != nil {
			return fmt.Errorf("usage: %w", err)
		}
	}
	for i, epoch := range a.marks.PlanEpochs[:min(len(a.marks.PlanEpochs), len(a.Executors))] {
		a.Executors[i].planEpoch = epoch
	}
	slices.SortFunc(a.order, func(x, y *stage) int { return cmp.Compare(x.Seq, y.Seq) })
	for _, s := range a.order {
		if r, ok := figures[figuresKey(id, s.key())]; ok {
			var err error
			if s.figures, err = readFigures(r.Value); err != nil {
				return fmt.Errorf("figures: %w", err)
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

// restoreRecord reads a's own record, which has the marks too in version 1: both are
// saved at once as they are now.
func (a *app) restoreRecord(r Record) error {
	err := decode(r, &a.appRecord, &a.V)
	version := a.V
	if err != nil || version == stateVersion {
		return err
	}
	a.V, a.dirty = stateVersion, true
	if version > 1 {
		return nil
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
	s := &stage{stageRecord: record}
	a.order = append(a.order, s)
	version := s.V
	if s.V = stateVersion; version > 1 {
		return nil
	}
	s.dirty, s.stale = true, true
	var err error
	s.figures, err = readFigures(r.Value)
	return err
}

func (a *app) restoreProfile(r Record, beta float64) error {
	stored, err := decodeProfile(r)
	if err == nil {
		a.profile = stored.forRun(beta)
	}
	return err
}
