package ledger

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// Bounds of the samples kept of one application: while it runs or has ended of late, and
// after. A sample takes some 64 bytes of memory.
const (
	recentSamples = 20000
	oldSamples    = 200
)

// Refused: an application was turned down; it is history at once, so that its user sees it.
type Refused struct {
	Detail  api.AppDetail
	Account Account
	Run     Run
}

func (f Refused) apply(l *Ledger) error {
	if f.Detail.State != api.AppRefused || l.apps[f.Detail.ID] != nil {
		return fmt.Errorf("application %s is %s", f.Detail.ID, f.Detail.State)
	}
	if err := f.Run.of(f.Detail.ID); err != nil {
		return err
	}
	l.bury(&Ended{At: l.now, Detail: f.Detail, Account: f.Account}, f.Run)
	return nil
}

// Archived: an application that has ended is history.
type Archived struct {
	App     api.AppID
	Detail  api.AppDetail
	Account Account
	Run     Run
}

func (f Archived) apply(l *Ledger) error {
	a := l.apps[f.App]
	if a == nil || !a.Over() {
		return fmt.Errorf("application %s has not ended", f.App)
	}
	if f.Detail.ID != f.App || f.Detail.State == api.AppRunning || f.Detail.State == api.AppQueued {
		return fmt.Errorf("the detail of application %s says that %s is %s", f.App, f.Detail.ID, f.Detail.State)
	}
	if err := f.Run.of(f.App); err != nil {
		return err
	}
	l.bury(&Ended{At: l.now, DriverLost: a.Outcome.State == api.AppFailed && !a.Outcome.DriverEnd &&
		a.Outcome.Killed == "",
		Killed: a.Outcome.Killed != "", Detail: f.Detail, Account: f.Account},
		f.Run)
	delete(l.apps, a.ID)
	l.lineup = nil
	for _, x := range a.Alive() {
		l.batch.nodes[x.Node] = true // Its Plan may name a as exiting, for which nobody waits any more.
		l.free(a, x)
	}
	lodged := a.held.lodges
	a.held.lodges = nil
	lodge(lodged, a, l)
	l.batch.removeApp(a)
	removeFacets(a, &l.batch)
	return nil
}

// bury adds d to the history, and its run to the runs.
func (l *Ledger) bury(d *Ended, r Run) {
	limitSamples(&d.Detail, recentSamples)
	l.history.ended = append(l.history.ended, d)
	l.saveEnded(d)
	l.trim()
	if r.App != "" {
		r.At = l.now
		l.history.runs.add(r, l.cfg.RunAge, l.cfg.RunBytes, l.batch.encoded)
	}
}

func (l *Ledger) saveEnded(d *Ended) {
	value, err := json.Marshal(endedRecord{Layout, *d})
	l.batch.encoded(historyKey(d.Detail.ID), value, err)
	l.history.bytes += len(value) - d.Bytes
	d.Bytes, d.version = len(value), l.batch.number
}

// trim drops most samples of the applications that are not among the newest, which are most of
// their bytes, and then, beyond the history's bounds, the oldest applications of those that have most.
func (l *Ledger) trim() {
	h := &l.history
	for i := 0; i < len(h.ended)-l.cfg.DetailHistory; i++ {
		if d := h.ended[i]; !d.Thinned {
			thinned := *d
			thinned.Thinned, thinned.Detail.Stages = true, slices.Clone(d.Detail.Stages)
			limitSamples(&thinned.Detail, oldSamples)
			amend(l, i, thinned)
		}
	}
	for len(h.ended) > l.cfg.History || l.cfg.HistoryBytes > 0 && h.bytes > l.cfg.HistoryBytes && len(h.ended) > 1 {
		at := h.oldest()
		d := h.ended[at]
		l.batch.put(historyKey(d.Detail.ID), nil)
		h.bytes -= d.Bytes
		gone := d.Detail
		if id, newest := l.profiles.newestOf(gone.User, gone.Profile, gone.ID); newest {
			delete(l.profiles.newest, id) // No word can take its run back any more.
		}
		h.ended = slices.Delete(slices.Clone(h.ended), at, at+1) // Snapshots have the old list.
	}
}

// oldest is the place of the application that has to go: the oldest one of the group that has most.
func (h *history) oldest() int {
	var c crowd
	for _, d := range h.ended {
		c.count(d.group(), 1)
	}
	most := c.largest()
	return max(0, slices.IndexFunc(h.ended, func(d *Ended) bool { return d.group() == most }))
}

// group is whose d is.
func (d *Ended) group() group { return group{d.Detail.User, d.Detail.State == api.AppRefused} }

// EndedAmended: what is known of an application in the history is this now. Failed says that it
// seemed to have finished, and its exit code says that it has failed.
type EndedAmended struct {
	Detail  api.AppDetail
	Account Account
	Failed  bool
}

func (f EndedAmended) apply(l *Ledger) error {
	i := slices.IndexFunc(l.history.ended, func(d *Ended) bool { return d.Detail.ID == f.Detail.ID })
	if i < 0 {
		return fmt.Errorf("application %s is not in the history", f.Detail.ID)
	}
	amended := *l.history.ended[i]
	amended.Detail, amended.Account = f.Detail, f.Account
	amend(l, i, amended)
	l.history.runs.amend(f.Detail.ID, f.Detail.State, f.Detail.Duration, l.batch.encoded)
	return nil
}

// amend puts d in the place of an application in the history. Snapshots keep the old one.
func amend(l *Ledger, i int, d Ended) {
	l.history.ended = slices.Clone(l.history.ended)
	l.history.ended[i] = &d
	l.saveEnded(&d)
}
