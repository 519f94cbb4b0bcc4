package attached

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/sparkpacer/pacer/infra/executor"
)

// containerTree lists the processes of the container that pid is in: what its session, below the
// NodeManager, has started. A NodeManager starts each container in a session of its own where the
// machine has setsid, and one that has ended leaves containers behind that go on.
func containerTree(proc string, pid int) ([]int, error) {
	all, err := pids(proc)
	if err != nil {
		return nil, err
	}
	known := map[int]executor.ProcessStat{}
	for _, id := range all {
		if text, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(id), "stat")); err == nil {
			if s, err := executor.ParseStat(text); err == nil && !s.Ended() {
				known[id] = s
			}
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
	return slices.Sorted(maps.Keys(in)), nil
}

func managesNode(proc string, pid int) bool {
	line, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "cmdline"))
	return err == nil && isNodeManager(line)
}
