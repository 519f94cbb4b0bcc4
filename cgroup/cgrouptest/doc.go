// Package cgrouptest makes cgroup trees of ordinary files for tests: the layouts
// of v1 with separate mounts, v1 with joined ones, and v2. Package cgroup works
// on them as on the kernel's; nothing is throttled, nobody is killed, and usage
// is what a test writes with Use.
package cgrouptest
