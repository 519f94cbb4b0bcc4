package cgroup

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sparkpacer/pacer/units"
)

// Allowed is how many cores and how much memory the groups that this process is in let it have, with those above them
// as far as they are seen. In a container, or under a service manager, that is less than the machine's. Unlimited cores
// and 0 bytes are no bound, as are groups that cannot be read. root is where cgroups are mounted ("" is DefaultRoot).
func Allowed(root string) (units.Cores, units.Bytes) {
	root = cmp.Or(root, DefaultRoot)
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return units.Unlimited, 0
	}
	return allowed(root, groups)
}

// allowed is Allowed of a process with that /proc/PID/cgroup.
func allowed(root string, groups []byte) (units.Cores, units.Bytes) {
	h := Hierarchy{version: V1}
	cpu, memory := firstWith("cpu.shares", root, "cpu", "cpu,cpuacct", "cpuacct,cpu"), firstWith(limitV1, root, "memory")
	if exists(filepath.Join(root, "cgroup.controllers")) {
		h.version, cpu, memory = V2, root, root
	}
	most, limit := units.Unlimited, noLimit
	for _, dir := range upwards(cpu, h.pathIn(groups, "cpu")) {
		most = min(most, h.quotaIn(dir))
	}
	for _, dir := range upwards(memory, h.pathIn(groups, "memory")) {
		limit = min(limit, h.readLimit(dir))
	}
	if limit == noLimit {
		limit = 0
	}
	return most, limit
}

// pathIn is the group in a controller's tree, from a file of lines ID:CONTROLLERS:PATH.
func (h *Hierarchy) pathIn(groups []byte, controller string) string {
	for line := range strings.Lines(string(groups)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 {
			continue
		}
		if h.version == V2 && f[0] == "0" || h.version == V1 && strings.Contains(","+f[1]+",", ","+controller+",") {
			return f[2]
		}
	}
	return "/"
}

// upwards are the directories of a group and of those above it. In a container the top of the tree
// that is mounted may be the group itself, by a name of the machine's that is not seen there.
func upwards(tree, group string) []string {
	if tree == "" {
		return nil
	}
	var dirs []string
	if path := filepath.Join("/", group); exists(filepath.Join(tree, path)) {
		for ; path != "/"; path = filepath.Dir(path) {
			dirs = append(dirs, filepath.Join(tree, path))
		}
	}
	return append(dirs, tree)
}

// quotaIn is the quota of a group, Unlimited where it has none.
func (h *Hierarchy) quotaIn(dir string) units.Cores {
	read := func(file string) []byte {
		data, _ := os.ReadFile(filepath.Join(dir, file))
		return data
	}
	var fields [][]byte
	if h.version == V2 {
		fields = bytes.Fields(read("cpu.max"))
	} else {
		fields = bytes.Fields(append(append(read("cpu.cfs_quota_us"), ' '), read("cpu.cfs_period_us")...))
	}
	if len(fields) != 2 {
		return units.Unlimited
	}
	quota, err := strconv.ParseInt(string(fields[0]), 10, 64)
	period, periodErr := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil || periodErr != nil || quota <= 0 || period <= 0 {
		return units.Unlimited // "max", or -1.
	}
	return units.Cores(float64(quota) / float64(period))
}
