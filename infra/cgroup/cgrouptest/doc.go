// Package cgrouptest gives tests cgroups to work on: trees of ordinary files in
// the layouts of v1 with separate mounts, v1 with joined ones, and v2, and this
// machine's own. Package cgroup works on a tree as on the kernel's; nothing is
// throttled, nobody is killed, and usage is what a test writes with Use.
package cgrouptest
