package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sparkpacer/pacer/infra/cgroup"
)

// account counts the CPU time of all that runs in it, and in the groups of a node
// that it is told of: by the kernel, so that nothing is left out, whatever ended
// meanwhile. On cgroup v1 it lies in the tree of cpuacct only and has no part in who
// gets a CPU.
type account struct {
	joins  string // The file into which members write their ids.
	groups []*cgroup.Group
}

// accounts counts those of this process.
var accounts atomic.Int64

// newAccount makes an account, which ends with the row.
func newAccount(t testing.TB) *account {
	t.Helper()
	h, err := cgroup.Open("", "pacer-bench")
	if err != nil {
		t.Fatal(err)
	}
	g, err := h.Group(fmt.Sprintf("run-%d-%d", os.Getpid(), accounts.Add(1)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Remove(context.Background()); err != nil {
			t.Error(err)
		}
	})
	files := g.JoinFiles()
	join := max(0, slices.IndexFunc(files, func(f string) bool { return strings.Contains(f, "cpuacct") }))
	return &account{joins: files[join], groups: []*cgroup.Group{g}}
}

// behind is the command behind which members are started.
func (a *account) behind() []string {
	return []string{"/bin/sh", "-c", `echo $$ >"$0" && exec "$@"`, a.joins}
}

// join has processes be members, and what they start from now on.
func (a *account) join(t testing.TB, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if err := os.WriteFile(a.joins, []byte(strconv.Itoa(pid)), 0); err != nil {
			t.Fatal(err)
		}
	}
}

// node counts the executors of the node as well, which has to be up.
func (a *account) node(t testing.TB, name string) {
	t.Helper()
	h, err := cgroup.Open("", "pacer")
	if err != nil {
		t.Fatal(err)
	}
	g, err := h.Group("node-" + name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() }) // The node has removed it.
	a.groups = append(a.groups, g)
}

// used is the CPU time of all so far, in core-seconds.
func (a *account) used(t testing.TB) float64 {
	t.Helper()
	sum := 0.0
	for _, g := range a.groups {
		used, err := g.Used()
		if err != nil {
			t.Fatal(err)
		}
		sum += float64(used)
	}
	return sum
}

// workOfMachine returns what says for how long the machine's CPUs were not idle so far, in core-seconds.
func workOfMachine(t testing.TB) func() float64 {
	t.Helper()
	h, err := cgroup.OpenHost("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return func() float64 {
		used, err := h.Work()
		if err != nil {
			t.Fatal(err)
		}
		return float64(used)
	}
}
