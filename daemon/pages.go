package daemon

import (
	"errors"
	"log/slog"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/executor"
	"github.com/sparkpacer/pacer/meter"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/progress"
	"github.com/sparkpacer/pacer/units"
)

// pages fills the node loop's Pages with progress pages; it belongs to the
// loop's goroutine.
type pages struct {
	layout executor.Layout
	log    *slog.Logger
	open   map[node.Key]*openPage
	// snapshot is what was read last: one for all pages stays in the CPU's caches.
	snapshot progress.Snapshot
	last     *openPage
}

type openPage struct {
	key  node.Key
	page *progress.Page
	told bool // A lasting fault was logged.
	// next is the one that was asked for after it the last time.
	next *openPage
}

// Read implements node.Pages. It allocates nothing once a page is open and its
// slices have grown.
func (p *pages) Read(key node.Key, into *meter.Page) error {
	o := p.find(key)
	if o.page == nil {
		paths, err := p.layout.Paths(key.App, key.ID)
		if err != nil {
			return err
		}
		if o.page, err = progress.Open(paths.Page); err != nil {
			return err
		}
	}
	if err := o.page.Read(&p.snapshot); err != nil {
		p.tell(key, o, err)
		return err
	}
	copyPage(&p.snapshot, into)
	return nil
}

// find returns the page of the key, made when it is new. Ticks ask in the same
// order, so the one that followed the last one before is tried first.
func (p *pages) find(key node.Key) *openPage {
	if p.last != nil && p.last.next != nil && p.last.next.key == key {
		p.last = p.last.next
		return p.last
	}
	o := p.open[key]
	if o == nil {
		o = &openPage{key: key}
		p.open[key] = o
	}
	if p.last != nil {
		p.last.next = o
	}
	p.last = o
	return o
}

// tell logs a fault that does not pass by itself, once per executor: such an
// executor stays "starting" for ever.
func (p *pages) tell(key node.Key, o *openPage, err error) {
	if o.told || errors.Is(err, progress.ErrEmpty) || errors.Is(err, progress.ErrTorn) {
		return
	}
	o.told = true
	p.log.Warn("progress page cannot be used", "app", string(key.App), "executor", string(key.ID), "error", err)
}

// Forget implements node.Pages.
func (p *pages) Forget(key node.Key) {
	o := p.open[key]
	if o == nil {
		return
	}
	if o.page != nil {
		_ = o.page.Close()
	}
	o.key, o.page, p.last = node.Key{}, nil, nil // The one before it may still lead here.
	delete(p.open, key)
}

func (p *pages) close() error {
	for key := range p.open {
		p.Forget(key)
	}
	return nil
}

func copyPage(from *progress.Snapshot, to *meter.Page) {
	to.At, to.Generation = from.At, from.Generation
	to.Stages, to.Tasks = to.Stages[:0], to.Tasks[:0]
	for i := range from.Stages {
		s := &from.Stages[i]
		to.Stages = append(to.Stages, meter.Stage{
			Key: api.StageKey{Stage: s.ID, Attempt: s.Attempt}, Finished: s.Finished, Failed: s.Failed, Running: s.Running,
			Weight: s.Weight, Records: float64(s.RecordsRead), CPU: work(s.CPU),
			RunningRecords: float64(s.RunningRecordsRead), RunningCPU: work(s.RunningCPU), Changed: s.Changed,
			Heaviest: s.Heaviest, HeavyCPU: work(s.HeavyCPU), HeavyReading: work(s.HeavyReading),
		})
	}
	for i := range from.Tasks {
		t := &from.Tasks[i]
		to.Tasks = append(to.Tasks, meter.Task{Stage: api.StageKey{Stage: t.Stage, Attempt: t.Attempt}, Partition: t.Partition,
			Weight: t.Weight, CPU: work(t.CPU), Records: float64(t.RecordsRead)})
	}
}

func work(d time.Duration) units.Work { return units.Work(d.Seconds()) }
