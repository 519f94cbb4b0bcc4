package daemon

import (
	"errors"
	"log/slog"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// pages fills the node loop's Pages and Memory with executors' pages and their groups'
// limits; it belongs to the loop's goroutine.
type pages struct {
	layout executor.Layout
	log    *slog.Logger
	clock  func() units.Instant
	open   map[node.Key]*openPage
	last   *openPage
	// group returns an executor's group, nil for one that is not there.
	group    func(node.Key) *cgroup.Group
	memories map[node.Key]*memoryOf
	// contained says that a container engine limits executors' memory.
	contained bool
}

type openPage struct {
	key  node.Key
	page *progress.Reader
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
	err := o.page.Read(into)
	if err != nil {
		p.tell(key, o, err)
	}
	return err
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
	p.forgetMemory(key)
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
	for key := range p.memories {
		p.forgetMemory(key)
	}
	return nil
}
