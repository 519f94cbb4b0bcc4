package cgroup

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// The bound of a group is for all processes in it together. Processes that Pacer moves out of one go by that bound
// still. Each group that they are moved to has an equal part of it, from before they come, and none has more when one
// goes.

// bound has the group of t, into which processes are to be moved, have its part of what bounds them where they are, and
// those that came from there before have less. A lower bound of the group stays.
func (o *Others) bound(t Hold) error {
	o.dividing.Lock()
	defer o.dividing.Unlock()
	part := o.part(t.FromCPU, 1)
	if part.IsUnlimited() {
		return nil
	}
	if err := o.divide(t.FromCPU, 1); err != nil {
		return err
	}
	files, err := o.h.openQuota(filepath.Join(o.h.roots[0], t.CPU))
	if err != nil {
		return err
	}
	var buf [64]byte
	us, period, err := files.readQuota(buf[:])
	if err == nil && cores(us, period) > part {
		err = files.put(buf[:], ownQuota(part), ownPeriod)
	}
	return errors.Join(err, files.close())
}

// part is what each of the groups has whose processes came from one, where so many more come: of what that one allows.
func (o *Others) part(from string, more int) units.Cores {
	return o.allows(from) / units.Cores(len(o.moved[from])+more)
}

// divide has each group whose processes came from one have its part, where so many more come.
func (o *Others) divide(from string, more int) error {
	var faults []error
	for _, a := range o.moved[from] {
		faults = append(faults, a.divide(o.part(from, more)))
	}
	return errors.Join(faults...)
}

// join counts a among those whose processes came from one group.
func (o *Others) join(a *Adopted) error {
	if a.from == "" {
		return nil
	}
	o.dividing.Lock()
	defer o.dividing.Unlock()
	o.moved[a.from] = append(o.moved[a.from], a)
	return o.divide(a.from, 0)
}

// leave does not count a any more, and rest has the others have its part, too: what cannot be given more has what it
// had, until its next quota is written.
func (o *Others) leave(a *Adopted) {
	o.dividing.Lock()
	defer o.dividing.Unlock()
	o.moved[a.from] = slices.DeleteFunc(o.moved[a.from], func(b *Adopted) bool { return a == b })
	if len(o.moved[a.from]) == 0 {
		delete(o.moved, a.from)
	}
}

func (o *Others) rest(from string) {
	o.dividing.Lock()
	defer o.dividing.Unlock()
	_ = o.divide(from, 0)
}

// divide makes part the most that a may have, at once where more is in force.
func (a *Adopted) divide(part units.Cores) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	free := a.inForce().IsUnlimited()
	a.above = part
	switch {
	case part.IsUnlimited() && free && a.lowered.IsUnlimited(), !free && a.lowered <= part:
		return nil
	case part.IsUnlimited():
		return a.write(a.hold.Quota, a.hold.Period)
	}
	return a.write(ownQuota(part), ownPeriod)
}
