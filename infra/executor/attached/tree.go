package attached

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"slices"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
)

// containerTree lists the processes of the container that pid is in: what its session, below the
// NodeManager, has started. A NodeManager starts each container in a session of its own where the
// machine has setsid, and one that has ended leaves containers behind that go on. Processes of other users are left
// out.
func containerTree(proc string, pid int) ([]int, error) {
	all, err := pids(proc)
	if err != nil {
		return nil, err
	}
	known := map[int]executor.ProcessStat{}
	for _, id := range all {
		if s, err := statOf(proc, id); err == nil && !s.Ended() {
			known[id] = s
		}
	}
	me, is := known[pid]
	if !is {
		return nil, os.ErrProcessDone
	}
	top := pid
	for {
		above := known[top].Parent
		if s, is := known[above]; !is || above <= 1 || s.Session != me.Session || managesNode(proc, above) {
			break
		}
		top = above
	}
	in := map[int]bool{top: true}
	for grown := true; grown; {
		grown = false
		for id, s := range known {
			if !in[id] && (in[s.Parent] || top == me.Session && s.Session == top) {
				in[id], grown = true, true
			}
		}
	}
	uid, err := userOf(proc, pid)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(in, func(id int, _ bool) bool { of, err := userOf(proc, id); return err != nil || of != uid })
	return slices.Sorted(maps.Keys(in)), nil
}

// errStray says that no NodeManager has started a process, as far as its parents tell.
var errStray = errors.New("no NodeManager of its user is among its parents, so that it stays in the group where it is")

// mostParents bounds how far up a NodeManager is looked for.
const mostParents = 64

// managed says why a process whose groups are m is none of a NodeManager's, which has its user's id; nil where it is
// one. A process that only shows the command line of an executor is not taken out of the group that bounds it. A
// process that a NodeManager has left behind, which has ended, leads a session of its own below init: it is the one's
// that runs in its group now.
func managed(o *cgroup.Others, proc string, pid int, m cgroup.Membership) error {
	uid, err := userOf(proc, pid)
	if err != nil {
		return err
	}
	me, err := statOf(proc, pid)
	s := me
	for up := 0; err == nil && up < mostParents; up++ {
		if pid = s.Parent; pid <= 1 {
			if s.Session == me.Session && managerIn(o, proc, uid, m.CPU) {
				return nil
			}
			return errStray
		}
		if managesNode(proc, pid) {
			if of, err := userOf(proc, pid); err == nil && of == uid {
				return nil
			}
			return errStray
		}
		s, err = statOf(proc, pid)
	}
	return cmp.Or(err, errStray)
}

// managerIn reports whether a NodeManager of that user runs in a group.
func managerIn(o *cgroup.Others, proc string, uid uint32, group string) bool {
	all, _ := pids(proc)
	return slices.ContainsFunc(all, func(pid int) bool {
		if !managesNode(proc, pid) {
			return false
		}
		text, err := o.Read(func() ([]byte, error) { return readBounded(proc, pid, "cgroup") })
		in, inErr := o.Membership(text)
		of, ofErr := userOf(proc, pid)
		return errors.Join(err, inErr, ofErr) == nil && of == uid && in.CPU == group
	})
}

func statOf(proc string, pid int) (executor.ProcessStat, error) {
	text, err := readBounded(proc, pid, "stat")
	if err != nil {
		return executor.ProcessStat{}, err
	}
	return executor.ParseStat(text)
}

// userOf is whose files a process's are.
func userOf(proc string, pid int) (uint32, error) {
	text, err := readBounded(proc, pid, "status")
	if err != nil {
		return 0, err
	}
	uid, _, err := parseStatus(text)
	return uid, err
}

func managesNode(proc string, pid int) bool {
	line, err := readBounded(proc, pid, "cmdline")
	return err == nil && isNodeManager(line)
}
