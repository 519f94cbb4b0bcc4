package daemon

import (
	"errors"
	"log/slog"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/executor"
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
}

type openPage struct {
	page     *progress.Page
	snapshot progress.Snapshot
	told     bool // A lasting fault was logged.
}

// Read implements node.Pages. It allocates nothing once a page is open and its
// slices have grown.
func (p *pages) Read(key node.Key, into *node.Page) error {
	o := p.open[key]
	if o == nil {
		o = &openPage{}
		p.open[key] = o
	}
	if o.page == nil {
		paths, err := p.layout.Paths(key.App, key.ID)
		if err != nil {
			return err
		}
		if o.page, err = progress.Open(paths.Page); err != nil {
			return err
		}
	}
	if err := o.page.Read(&o.snapshot); err != nil {
		p.tell(key, o, err)
		return err
	}
	copyPage(&o.snapshot, into)
	return nil
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
	if o := p.open[key]; o != nil && o.page != nil {
		_ = o.page.Close()
	}
	delete(p.open, key)
}

func (p *pages) close() error {
	for key := range p.open {
		p.Forget(key)
	}
	return nil
}

func copyPage(from *progress.Snapshot, to *node.Page) {
	to.At, to.Generation = from.At, from.Generation
	to.Stages, to.Tasks = to.Stages[:0], to.Tasks[:0]
	for i := range from.Stages {
		s := &from.Stages[i]
		to.Stages = append(to.Stages, node.PageStage{
			Key: api.StageKey{Stage: s.ID, Attempt: s.Attempt}, Finished: s.Finished, Failed: s.Failed, Running: s.Running,
			Weight: s.Weight, Records: float64(s.RecordsRead), CPU: work(s.CPU),
			RunningRecords: float64(s.RunningRecordsRead), RunningCPU: work(s.RunningCPU), Changed: s.Changed,
		})
	}
	for i := range from.Tasks {
		t := &from.Tasks[i]
		to.Tasks = append(to.Tasks, node.PageTask{Stage: api.StageKey{Stage: t.Stage, Attempt: t.Attempt}, Partition: t.Partition,
			Weight: t.Weight, CPU: work(t.CPU), Records: float64(t.RecordsRead)})
	}
}

func work(d time.Duration) units.Work { return units.Work(d.Seconds()) }
