package daemon

import (
	"sync/atomic"
	"time"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/units"
)

// memoryOf is what pages knows of one executor's memory.
type memoryOf struct {
	wish  *progress.Wish
	group *cgroup.Group
	// use was read at at, and with it whether somebody else has written the limit; lowering says that the limit is being
	// lowered.
	use      cgroup.MemoryUse
	at       units.Instant
	lowering atomic.Bool
}

// memory returns what is known of the executor's memory, its pages opened.
func (p *pages) memory(key node.Key) (*memoryOf, error) {
	m := p.memories[key]
	if m == nil {
		group := p.group(key)
		if group == nil {
			return nil, errNotHeld
		}
		m = &memoryOf{group: group}
		p.memories[key] = m
	}
	if m.wish == nil {
		paths, err := p.layout.Paths(key.App, key.ID)
		if err != nil {
			return nil, err
		}
		if m.wish, err = progress.OpenWish(paths.Wish); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// ReadMemory implements node.Memory.
func (p *pages) ReadMemory(key node.Key, every time.Duration, into *node.ExecutorMemory) error {
	m, err := p.memory(key)
	if err != nil {
		return err
	}
	if now := p.clock(); m.at == 0 || now.Sub(m.at) >= every {
		m.at = now
		m.group.ForgetMemoryLimit()
		if m.use, err = m.group.Memory(); err != nil {
			return err
		}
	}
	limit := m.group.MemoryLimit()
	wanted, sequence := m.wish.Newest()
	*into = node.ExecutorMemory{Limit: limit, Wanted: wanted, Wish: sequence, Resident: m.use.Resident, Cache: m.use.Cache,
		Pressure: m.use.Pressure,
		// A container engine has limited it, and it is not seen where.
		Bound: p.contained && limit == 0}
	return nil
}

// Want implements node.Memory.
func (p *pages) Want(key node.Key, wanted, limit units.Bytes) error {
	m, err := p.memory(key)
	if err != nil {
		return err
	}
	if limit > 0 {
		if err := m.group.RaiseMemory(limit); err != nil {
			return err
		}
	}
	m.wish.Put(wanted)
	return nil
}

// Limit implements node.Memory. The kernel may take a while to give page cache up, so it
// is not waited for: the limit in force is read at each tick.
func (p *pages) Limit(key node.Key, limit units.Bytes) error {
	m, err := p.memory(key)
	if err != nil {
		return err
	}
	m.group.AimMemory(limit)
	if m.lowering.CompareAndSwap(false, true) {
		go func() {
			defer m.lowering.Store(false)
			if err := m.group.LowerMemory(); err != nil {
				p.log.Debug("memory limit", "app", string(key.App), "executor", string(key.ID), "error", err)
			}
		}()
	}
	return nil
}

// Shield implements node.Memory.
func (p *pages) Shield(key node.Key, size units.Bytes, yields bool) error {
	m, err := p.memory(key)
	if err != nil {
		return err
	}
	return cgroup.Shield{Size: size, Yields: yields}.Put(m.group)
}

// forgetMemory closes the wish page of an executor that was stopped.
func (p *pages) forgetMemory(key node.Key) {
	if m := p.memories[key]; m != nil && m.wish != nil {
		_ = m.wish.Close()
	}
	delete(p.memories, key)
}
