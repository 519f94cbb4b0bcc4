package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
)

// settle is how long the daemons idle before their memory is read.
const settle = 20 * time.Second

// idle measures the resident memory of a planner and a node controller that have
// nothing to do.
func idle(t testing.TB, add adder) {
	s := realenv.New(t)
	planner := s.StartPlanner()
	node := s.StartNode()
	select {
	case <-time.After(settle):
	case <-planner.Done():
	case <-node.Done():
	}
	add("rss.planner_mib", benchline.One(residentMiB(t, planner.PID())), "MiB")
	add("rss.node_mib", benchline.One(residentMiB(t, node.PID())), "MiB")
}

var vmRSS = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

func residentMiB(t testing.TB, pid int) float64 {
	t.Helper()
	body, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := vmRSS.FindSubmatch(body)
	if m == nil {
		t.Fatalf("no VmRSS in %s", body)
	}
	kib, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib / 1024
}
