package main

import (
	"testing"

	"github.com/sparkpacer/pacer/sim/mesh/hosts"
	"github.com/sparkpacer/pacer/sim/mesh/paper"
	"github.com/sparkpacer/pacer/test/benchline"
)

// hosted measures machines that empty themselves beside other policies, in the source's nine cells.
func hosted(t testing.TB, add adder, seeds int) {
	table, err := paper.RunGLAP(paper.GLAPOptions{Seeds: seeds, Stop: t.Context().Done()})
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

// hostsWorld is one of 2,000 machines with 8,000 VMs.
func hostsWorld(t testing.TB) []figure {
	c := hosts.Default(2000, 4, hosts.GLAP, 1)
	c.Stop = t.Context().Done()
	return taken(t, "hosts", func() error {
		_, err := hosts.Run(c)
		return err
	})
}
