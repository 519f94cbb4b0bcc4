package cgroup

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// claimLeaves bounds how long the end of another claim may take, and the removal of a group whose
// processes were moved away.
const claimLeaves = 2 * time.Second

// ownPeriod is the CFS period in us of a quota of Pacer's in a group of another manager's. No other program writes one
// like it, so that the kernel's own file says whose a quota is, whatever was killed when.
const ownPeriod = 99991

// ownDigits are the last two of each such quota in us: between the two writes of v1 the period may
// still be the one that was found.
const ownDigits = 97

// Hold is what a group was found with whose quota Pacer owns for a while, or that Pacer has made
// for the processes of another one: all that is needed to put it back. It survives a round trip
// through JSON.
type Hold struct {
	// CPU and Acct are the group's paths from the tops of the trees, the same where they are one.
	CPU  string `json:"cpu"`
	Acct string `json:"acct"`
	// Quota and Period are those found, in us; Quota is -1 for none.
	Quota  int64 `json:"quota_us"`
	Period int64 `json:"period_us"`
	// FromCPU and FromAcct are where its processes were, "" where they are still.
	FromCPU  string `json:"from_cpu,omitempty"`
	FromAcct string `json:"from_acct,omitempty"`
	// Weight is that of the group which Pacer has made in FromCPU's tree; 0 leaves the kernel's default.
	Weight Weight `json:"weight,omitempty"`
}

// ceiling is the quota found.
func (t Hold) ceiling() units.Cores { return cores(t.Quota, t.Period) }

// seen is what the manager has set where that quota is in force; whole says that it is all that is.
// Either number may be Pacer's, or both: v1 has a file for each, and a manager may write only the one.
func (t Hold) seen(us, period int64) (now Hold, whole bool) {
	own := us > 0 && us%100 == ownDigits
	switch {
	case us == t.Quota && period == t.Period:
		return t, true
	case own && (period == ownPeriod || period == t.Period), us == t.Quota && period == ownPeriod:
		return t, false
	}
	if t.Quota = us; period == ownPeriod {
		return t, false
	}
	t.Period = period
	return t, true
}

// madeGroup is a group's directory that Pacer has made, in the tree of a controller, and the one that its processes
// were in.
type madeGroup struct{ dir, tree, controller, from string }

// made are the groups of t that Pacer has made.
func (t Hold) made(h *Hierarchy) (list []madeGroup) {
	if t.FromCPU != "" {
		list = append(list, madeGroup{filepath.Join(h.roots[0], t.CPU), h.roots[0], "cpu", t.FromCPU})
	}
	if t.FromAcct != "" {
		tree := h.roots[len(h.roots)-1]
		list = append(list, madeGroup{filepath.Join(tree, t.Acct), tree, "cpuacct", t.FromAcct})
	}
	return list
}

// PutBack puts the quota and the period that were found back where Pacer's are in force, and the
// processes that were moved where they were. It opens nothing for longer and makes nothing, so that a
// guard process can do it too. A group that is gone is no error, and a quota that somebody else has written since
// stays.
func (t Hold) PutBack(root string) error {
	h, err := trees(root)
	if err != nil {
		return err
	}
	var faults []error
	if t.FromCPU == "" {
		faults = append(faults, t.putQuotaBack(h))
	}
	for _, m := range t.made(h) {
		faults = append(faults, m.empty(h))
	}
	return errors.Join(faults...)
}

func (t Hold) putQuotaBack(h *Hierarchy) error {
	dir := filepath.Join(h.roots[0], t.CPU)
	if !exists(dir) {
		return nil
	}
	files, err := h.openQuota(dir)
	if errors.Is(err, os.ErrNotExist) || isGone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var buf [64]byte
	us, period, err := files.readQuota(buf[:])
	if now, whole := t.seen(us, period); err == nil && !whole {
		err = files.put(buf[:], now.Quota, now.Period)
	}
	if errors.Is(err, ErrGone) {
		err = nil
	}
	return errors.Join(err, files.close())
}

// empty moves all that is in m back, or as near to it as there still is a group, and removes m.
func (m madeGroup) empty(h *Hierarchy) error {
	from := m.from
	for !exists(filepath.Join(m.tree, from)) {
		from = path.Dir(from)
	}
	for range encloseRounds {
		pids, err := procsIn(m.dir)
		if err != nil {
			return err
		}
		if len(pids) == 0 {
			break
		}
		there := func() ([]int, error) { return procsIn(m.dir) }
		err = newMover(m.tree, m.controller, h).move(filepath.Join(m.tree, from), pids, there)
		if err != nil {
			return err
		}
		if !h.kernel {
			if err := makeProcs([]string{filepath.Join(m.dir, procsFile)}); err != nil {
				return err
			}
		}
	}
	return leave(m.dir, h.kernel)
}
