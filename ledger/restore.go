package ledger

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/units"
)

// New returns a ledger that goes on from what an earlier one saved: all pairs whose keys
// begin with one of Prefixes. It takes their values out of pairs, so that they are not all there beside what it makes
// of them. A record that cannot be read is set aside (asidePrefix), which
// Effects.Faults says after the first Close; it returns an error where that is one of the ledger
// itself, or of another layout.
func New(cfg Config, pairs []api.Pair) (*Ledger, error) {
	l := &Ledger{cfg: cfg, apps: make(map[api.AppID]*App), nodes: make(map[string]*Node), profiles: newProfileShelf(),
		taught: make(map[string]uint64), allocations: make(map[string][]*Allocation), learnt: make(map[string][]byte),
		claims: make(map[string]claims)}
	l.batch.nodes, l.batch.number = make(map[string]bool), 1
	if err := l.restore(pairs); err != nil {
		return nil, err
	}
	l.batch.saved = l.counters()
	l.identity = cmp.Or(l.identity, cfg.Identity)
	if l.identity != "" {
		l.term++ // Saved before a Plan carries it.
	}
	return l, nil
}

// restore reads what an earlier ledger saved.
func (l *Ledger) restore(pairs []api.Pair) error {
	parts, kept := make(map[api.AppID][]api.Pair), make(keptFacets)
	for i, r := range pairs {
		pairs[i].Value = nil
		var err error
		switch {
		case r.Key == counterKey:
			if err := restoreCounters(l, r); err != nil {
				return fmt.Errorf("%s: %w", r.Key, err) // Its numbers are given once.
			}
		case strings.HasPrefix(r.Key, appPrefix):
			var id string
			name, _, _ := strings.Cut(strings.TrimPrefix(r.Key, appPrefix), "/")
			if id, err = url.PathUnescape(name); err == nil {
				parts[api.AppID(id)] = append(parts[api.AppID(id)], r)
			}
		case strings.HasPrefix(r.Key, planPrefix):
			err = restoreNode(l, r)
		case strings.HasPrefix(r.Key, profilePrefix):
			err = restoreProfile(l, r)
		case strings.HasPrefix(r.Key, queuePrefix):
			err = restoreLearnt(l, r)
		case strings.HasPrefix(r.Key, historyPrefix):
			err = l.history.restore(r)
		case strings.HasPrefix(r.Key, runsPrefix):
			err = l.history.runs.restore(r)
		case strings.HasPrefix(r.Key, facetPrefix):
			kept[r.Key] = r
		}
		if err := l.batch.aside(r.Key, err, r); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(parts)) {
		if err := l.batch.aside(appKey(id), restoreApp(l, id, parts[id]), parts[id]...); err != nil {
			return err
		}
	}
	if err := kept.restore(l); err != nil {
		return err
	}
	for _, a := range sorted(l.apps) {
		for _, x := range a.Alive() {
			l.allocate(a, x)
		}
		lodge(nil, a, l)
		pending := a.Tenant.Pending
		a.Tenant.Pending = nil
		pend(l, a, pending)
	}
	restorePlans(l)
	slices.SortFunc(l.history.ended, func(a, b *Ended) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Detail.ID, b.Detail.ID))
	})
	return nil
}

// decode reads a record of which version is the layout, nil for one without.
func decode(r api.Pair, v any, version *int) error {
	if err := json.Unmarshal(r.Value, v); err != nil {
		return err
	}
	if version != nil && *version != Layout {
		return otherLayout(*version)
	}
	return nil
}

func restoreCounters(l *Ledger, r api.Pair) error {
	var c counterRecord
	if err := decode(r, &c, &c.V); err != nil {
		return err
	}
	l.epoch, l.serial, l.identity, l.term = c.Epoch, c.Serial, c.Planner, c.Term
	l.wishes = wishes{c.Division, c.QueuePolicy}
	return nil
}

// restoredTerms is how many starts a store that was copied back is ahead of its copy: nodes go by
// the planner of the greatest term, and it has started on the store that was replaced.
const restoredTerms = 1 << 20

// Restored returns what has to be changed in a store that was copied back from a backup before
// a planner starts on it, given the pairs of which the keys begin with one of Prefixes.
func Restored(pairs []api.Pair) ([]api.Pair, error) {
	for _, p := range pairs {
		if p.Key != counterKey {
			continue
		}
		var c counterRecord
		if err := decode(p, &c, &c.V); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Key, err)
		}
		c.Term += restoredTerms
		body, err := json.Marshal(c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Key, err)
		}
		return []api.Pair{{Key: p.Key, Value: body}}, nil
	}
	return nil, nil // No planner has started on it.
}

// restorePlans makes the content of the Plans in force again; their epochs are the
// newest of those saved with the node and with the applications there. Where an
// experiment held executors the Plan is no longer what it was, and gets a new epoch
// when the node speaks.
func restorePlans(l *Ledger) {
	for _, n := range sorted(l.nodes) {
		n.plan = l.content(n)
		l.leave(n, n.plan)
		for _, here := range l.allocations[n.Node] {
			for _, x := range here.Executors {
				n.Epoch = max(n.Epoch, x.planEpoch)
			}
		}
		held := slices.ContainsFunc(l.allocations[n.Node], func(t *Allocation) bool { return t.App.Promise.Held })
		if held || n.book.lend != l.cfg.Lend {
			n.Epoch = 0
		}
	}
}

// restoreNode takes a node to be there until it has been silent for long enough, and to run what it
// ran: a Plan that goes out before it speaks ends what it does not name.
func restoreNode(l *Ledger, r api.Pair) error {
	name, err := url.PathUnescape(strings.TrimPrefix(r.Key, planPrefix))
	if err != nil {
		return err
	}
	var record nodeRecord
	if err = decode(r, &record, &record.V); err == nil && record.Node != name {
		err = fmt.Errorf("it is that of node %q", record.Node)
	}
	if err != nil {
		record = nodeRecord{NodeRecord: NodeRecord{Node: name}} // Applications may have executors there.
	}
	n := &Node{NodeRecord: record.NodeRecord,
		book:       nodeBook{claims: l.claims[name], tenants: l.allocations[name], lend: record.Lend},
		Allegiance: Allegiance{Theirs: record.Theirs, Foreign: len(record.Theirs) > 0}}
	l.nodes[name] = n
	moved := false
	if err == nil {
		moved, err = takeOver(n, l, r.Value)
	}
	if moved || err != nil {
		n.Drained = n.Drained && !n.book.held.drains // An earlier release counted both together.
		l.batch.changeNode(n, nodeState)             // So that it has one again.
	}
	l.relist()
	return err
}

// restoreLearnt takes what the policy of the queue has learnt as it is.
func restoreLearnt(l *Ledger, r api.Pair) error {
	key, err := url.PathUnescape(strings.TrimPrefix(r.Key, queuePrefix))
	if err == nil && key == DeadlinesKey {
		_, err = assign.ReadLearnt(r.Value)
	}
	if err == nil {
		l.learnt[key] = r.Value
	}
	return err
}

func restoreProfile(l *Ledger, r api.Pair) error {
	stored, used, err := decodeProfile(r)
	if err == nil {
		l.profiles.restore(stored, used, len(r.Value))
	}
	return err
}

// decodeProfile reads a profile, and when it was used last, 0 where that is not said.
func decodeProfile(r api.Pair) (p *Profile, used units.Instant, err error) {
	var record profileRecord
	if err = decode(r, &record, nil); err == nil {
		p, err = NewProfile(record.Profile)
	}
	return p, record.Used, err
}

func (h *history) restore(r api.Pair) error {
	var record endedRecord
	if err := decode(r, &record, &record.V); err != nil {
		return err
	}
	if d := &record.Detail; d.Headline == "" {
		var before struct {
			Detail struct {
				Outcome string `json:"outcome"` // The headline's name in records of before.
			} `json:"detail"`
		}
		if err := decode(r, &before, nil); err != nil {
			return err
		}
		d.Headline = before.Detail.Outcome
	}
	record.Bytes = len(r.Value)
	h.ended, h.bytes = append(h.ended, &record.Ended), h.bytes+record.Bytes
	return nil
}

// piece is what is saved of a stage's samples at once.
type piece struct {
	stage  api.StageKey
	number int
	list   []sample
}

// restoreApp puts an application together again from its records. What nodes have told of it may
// be missing, and is set aside alone.
func restoreApp(l *Ledger, id api.AppID, pairs []api.Pair) error {
	a := &App{Stages: make(map[api.StageKey]*Stage)}
	var pieces []piece
	var used []units.Work
	var marks markRecord
	var before []byte
	counters := make(map[string][]Counters)
	for _, r := range pairs {
		var err error
		switch {
		case r.Key == appKey(id):
			err = a.restoreRecord(r)
			before = r.Value
		case r.Key == marksKey(id):
			err = decode(r, &marks, &marks.V)
		case r.Key == usageKey(id):
			used, err = readNumbers[units.Work](r.Value)
			err = l.batch.aside(r.Key, err, r)
		case r.Key == foldedKey(id):
			err = decode(r, &a.Folded, nil)
		case r.Key == ownProfile(id):
			var stored *Profile
			if stored, _, err = decodeProfile(r); err == nil {
				a.Profile = stored.forRun(l.cfg.Beta)
			}
		case strings.HasPrefix(r.Key, stagePrefix(id)):
			var record stageRecord
			err = decode(r, &record, &record.V)
			a.Order = append(a.Order, &Stage{StageRecord: record.StageRecord})
		case strings.HasPrefix(r.Key, countersPrefix(id)):
			counters[r.Key], err = readNumbers[Counters](r.Value)
			err = l.batch.aside(r.Key, err, r)
		case strings.HasPrefix(r.Key, samplesPrefix(id)):
			var p piece
			if p, err = restorePiece(id, r); err == nil {
				pieces = append(pieces, p)
			}
			err = l.batch.aside(r.Key, err, r)
		}
		if err != nil {
			return err
		}
	}
	if a.ID != id {
		return fmt.Errorf("the record of the application itself is missing")
	}
	for i, cpu := range used[:min(len(used), len(a.Tenant.Executors))] {
		a.Tenant.Executors[i].CPU = max(a.Tenant.Executors[i].CPU, cpu)
	}
	a.Marks = marks.Marks
	for i, epoch := range marks.PlanEpochs[:min(len(marks.PlanEpochs), len(a.Tenant.Executors))] {
		a.Tenant.Executors[i].planEpoch = epoch
	}
	a.restoreStages(counters)
	a.restoreSamples(pieces)
	moved, err := takeOver(a, l, before)
	if moved {
		l.batch.change(a, partRecord)
	}
	if err != nil {
		return err
	}
	l.apps[id], l.lineup = a, nil
	return nil
}

// keptFacets are the records of facets, by their keys.
type keptFacets map[string]api.Pair

// restore gives applications, nodes and profiles the values that facets kept of them. Records of gone ones are removed;
// those of a facet that this planner lacks stay as they are.
func (k keptFacets) restore(l *Ledger) error {
	err := errors.Join(restoreHeld(sorted(l.apps), l, k), restoreHeld(sorted(l.nodes), l, k),
		restoreHeld(sorted(l.profiles.stored), l, k))
	for _, facet := range slices.Concat(appKinds, nodeKinds, profileKinds) {
		for _, key := range slices.Sorted(maps.Keys(k)) {
			if strings.HasPrefix(key, facetPrefix+facet.name+"/") {
				l.batch.put(key, nil)
			}
		}
	}
	return err
}

// restoreHeld gives all the values that facets kept of them, and takes their records from kept. A value that one's own
// record had is newer.
func restoreHeld[T Subject](all []T, l *Ledger, kept keptFacets) error {
	for _, x := range all {
		has := facetsOf(x)
		for place, k := range *kindsOf[T]() {
			key := facetKey(k, x)
			r, there := kept[key]
			if delete(kept, key); !there || has.at(place).value != nil {
				continue
			}
			h, err := k.restore(r)
			if err = l.batch.aside(key, err, r); err != nil {
				return err
			}
			*has = has.with(place, h)
		}
		has.count(*kindsOf[T]())
	}
	return nil
}

// restore reads a record of k.
func (k *kind) restore(r api.Pair) (held, error) {
	var record struct {
		V     int             `json:"v"`
		Value json.RawMessage `json:"value"`
	}
	if err := decode(r, &record, &record.V); err != nil {
		return held{}, err
	}
	value, err := k.read(record.Value)
	if err != nil {
		return held{}, err
	}
	_, sum, err := encodeFacet(value)
	return held{value: value, sum: sum, bytes: len(r.Value)}, err
}

// takeOver gives x the values that an earlier release kept in its own record, and reports whether there were any.
func takeOver[T Subject](x T, l *Ledger, record []byte) (moved bool, err error) {
	has := facetsOf(x)
	for place, k := range *kindsOf[T]() {
		value, err := k.was(record)
		if err != nil {
			return false, err
		}
		if value != nil {
			*has, moved = has.with(place, k.keep(&l.batch, facetKey(k, x), value)), true
		}
	}
	has.count(*kindsOf[T]())
	return moved, nil
}

func (a *App) restoreRecord(r api.Pair) error {
	var record appRecord
	if err := decode(r, &record, &record.V); err != nil {
		return err
	}
	a.ID, a.Name, a.Tenant, a.Promise, a.Outcome = record.ID, record.Name, record.Tenant, record.Promise, record.Outcome
	a.Notice, a.Notices, a.Directive = record.Notice, record.Notices, record.Directive
	return nil
}

// restoreStages puts a's stages in order and gives them their counters back.
func (a *App) restoreStages(counters map[string][]Counters) {
	slices.SortFunc(a.Order, func(x, y *Stage) int { return cmp.Compare(x.Seq, y.Seq) })
	if a.Profile != nil {
		a.Profile = a.Profile.withAll(a.Order)
	}
	for _, s := range a.Order {
		s.Counters = counters[countersKey(a.ID, s.Key())]
		a.Stages[s.Key()] = s
		if s.Done == nil {
			a.opened = append(a.opened, s)
		}
		if a.Profile == nil {
			continue
		}
		a.Profile.Rivals.Ready(s.Ready)
		if s.Annotation != Unmatched {
			a.Profile.Match.Restore(s.Ready, s.Annotation)
			a.Profile = a.Profile.ahead(s)
		}
		if s.Done != nil {
			a.Profile.ended(s.Key().Stage)
		}
	}
	for _, execution := range a.Promise.Queries {
		if a.Profile != nil {
			a.Profile.queryEnded(execution)
		}
	}
	slices.SortFunc(a.opened, CompareStages)
}

// restorePiece reads a piece of the application's samples.
func restorePiece(id api.AppID, r api.Pair) (piece, error) {
	var p piece
	if _, err := fmt.Sscanf(strings.TrimPrefix(r.Key, samplesPrefix(id)), "%d.%d/%d", &p.stage.Stage, &p.stage.Attempt,
		&p.number); err != nil {
		return piece{}, fmt.Errorf("key %s: %w", r.Key, err)
	}
	list, err := readSamples(r.Value)
	p.list = list
	return p, err
}

// restoreSamples gives a's stages their samples back.
func (a *App) restoreSamples(pieces []piece) {
	slices.SortFunc(pieces, func(p, q piece) int { return cmp.Compare(p.number, q.number) })
	for _, p := range pieces {
		if s := a.Stages[p.stage]; s != nil {
			s.Samples.list = append(s.Samples.list, p.list...)
			s.Samples.saved, s.Samples.pieces = len(s.Samples.list), p.number+1
		}
	}
}
