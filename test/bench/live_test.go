package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	nodememory "github.com/sparkpacer/pacer/memory"
	"github.com/sparkpacer/pacer/units"
)

// A program that has changed has one part more, and one less, than when it was recorded.
func TestAPartIsNewAndAnotherGone(t *testing.T) {
	parts := func(args []string) []string { return strings.Split(strings.Join(args, ","), ",") }
	less := func(all, of []string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(of, s) })
	}
	for _, c := range changingOnes() {
		before, after := parts(c.recorded), parts(c.changed)
		if _, err := strconv.Atoi(before[0]); err == nil { // How long its loop is.
			before, after = before[1:], after[1:]
		}
		if gone, come := less(before, after), less(after, before); len(gone) != 1 || len(come) != 1 {
			t.Errorf("%s: %v are gone and %v are new, want one of each", c.name, gone, come)
		}
	}
}

// Programs are where the rows look for them.
func TestProgramsAreThere(t *testing.T) {
	programs := []string{app, offHeapApp, precise[len(precise)-2], filepath.Join(livePrograms, liveTables),
		filepath.Join(livePrograms, sqlMaker), filepath.Join(livePrograms, sqlProgram)}
	for _, c := range changingOnes() {
		programs = append(programs, filepath.Join(livePrograms, c.script))
	}
	for _, p := range programs {
		if _, err := os.Stat(filepath.Join("..", "..", p)); err != nil {
			t.Error(err)
		}
	}
}

// Each node of the row about placement holds two executors: where it held one, applications would wait for memory, and
// whichever node comes free would place them.
func TestANodeHoldsAPair(t *testing.T) {
	c, says := ledgertest.New(t, "a"), ledgertest.Status("a", 2)
	says.Memory = placedMemory
	c.Know(ledger.NodeSaid{Status: says})
	n := c.View().Node("a")
	heap, err := units.ParseBytes(memory[1], 0)
	if err != nil {
		t.Fatal(err)
	}
	launch := api.Launch{Heap: heap, Overhead: nodememory.Overhead(heap)}
	launch.OffHeap = placement.OffHeap(&launch, []*ledger.Node{n})
	if pair := 2 * launch.Claim(); pair > n.Room() {
		t.Errorf("two executors take %s, and a node gives %s", pair.Words(), n.Room().Words())
	}
}
