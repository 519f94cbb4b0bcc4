package cgroup

import (
	"path/filepath"
	"strings"
	"sync"

	"github.com/sparkpacer/pacer/api"
)

// drivers are a Hierarchy's groups of components. They are below a parent of their own, beside that of the executors.
// By what these weigh together the kernel divides a CPU between them and a driver, as with the rest of the machine.
type drivers struct {
	mu    sync.Mutex
	of    *Hierarchy
	tried bool
	// weights are those of the groups, where the Hierarchy is one of drivers alone; nil in one of executors.
	weights map[string]Weight
}

// driversParent is the parent of drivers beside that of executors.
func driversParent(parent string) string {
	top, rest, _ := strings.Cut(parent, "/")
	return filepath.Join(top+"-drivers", rest)
}

// componentMark stands in the name of a component's group where that of an executor has a "-".
const componentMark = "."

// GroupName is the name of an executor's group, APP-EXEC, or of a component's.
func GroupName(app api.AppID, id api.ExecutorID) string {
	if id.Component() {
		return string(app) + componentMark + string(id)
	}
	return string(app) + "-" + string(id)
}

// open returns the Hierarchy of h's components, nil where there is none. It makes it where make says so; where it may
// not, and below a parent of systemd's, components are among the executors.
func (d *drivers) open(h *Hierarchy, make bool) *Hierarchy {
	d.mu.Lock()
	defer d.mu.Unlock()
	parent := driversParent(h.parent)
	if _, systemd := h.slicePrefix(); systemd || d.tried || d.weights != nil ||
		!make && !exists(filepath.Join(h.roots[0], parent)) {
		return d.of
	}
	d.tried = true
	of, err := Open(h.root, parent)
	if err != nil {
		return nil
	}
	if of.Claim() != nil {
		_ = of.Close()
		return nil
	}
	of.drivers.weights = map[string]Weight{}
	d.of = of
	return of
}

// end ends it where there is one.
func (d *drivers) end(how func(*Hierarchy) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	of := d.of
	d.of, d.tried = nil, false
	if of == nil {
		return nil
	}
	return how(of)
}

// weigh gives the parent of drivers, which is h's, the weight of the driver that has most; 0 is of one that has gone.
func (d *drivers) weigh(h *Hierarchy, name string, w Weight) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.weights == nil {
		return nil
	}
	if d.weights[name] = w; w == 0 {
		delete(d.weights, name)
	}
	most := Weight(0)
	for _, w := range d.weights {
		most = max(most, w)
	}
	if most == 0 {
		return nil
	}
	return h.SetWeight(most)
}
