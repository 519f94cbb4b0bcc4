package realenv

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Stat returns the fields of /proc/PID/stat after the name: state, parent and so
// on; nil when there is no such process.
func Stat(pid int) []string {
	body, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(body[strings.LastIndexByte(string(body), ')')+1:]))
}

// Parent is a process's parent, 0 when there is no such process.
func Parent(pid int) int {
	fields := Stat(pid)
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}

// Children are the processes that a process has started and that still run.
func Children(pid int) []int {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var out []int
	for _, dir := range dirs {
		if child, _ := strconv.Atoi(filepath.Base(dir)); Parent(child) == pid {
			out = append(out, child)
		}
	}
	return out
}

// CPU is the CPU time of a process's threads in seconds, 0 when there is no such
// process.
func CPU(pid int) float64 {
	fields := Stat(pid)
	if len(fields) < 13 {
		return 0
	}
	// User and system time are the 14th and 15th fields, in hundredths.
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}
