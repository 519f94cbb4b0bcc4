package main

import (
	"syscall"
	"testing"

	"github.com/sparkpacer/pacer/sim/mesh/hosts"
	"github.com/sparkpacer/pacer/sim/mesh/paper"
	"github.com/sparkpacer/pacer/test/benchline"
)

// hostSeeds is how often each cell is run.
const hostSeeds = 5

// hosted measures machines that empty themselves beside other policies: first what a world of 2,000 machines and 8,000
// VMs takes, while nothing else has used memory, then the source's nine cells.
func hosted(t testing.TB, add adder) {
	c := hosts.Default(2000, 4, hosts.GLAP, 1)
	c.Stop = t.Context().Done()
	began := cpuTime(t)
	if _, err := hosts.Run(c); err != nil {
		t.Fatal(err)
	}
	add("hosts.run_s", benchline.One((cpuTime(t) - began).Seconds()), "s")
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	add("hosts.rss_mib", benchline.One(float64(use.Maxrss)/1024), "MiB")
	table, err := paper.RunGLAP(paper.GLAPOptions{Seeds: hostSeeds, Stop: t.Context().Done()})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range table.Rows() {
		t.Log(row)
	}
	for _, f := range table.Figures {
		add(f.Name, benchline.Mean(f.Values), f.Unit)
	}
}
