package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// `pacer why` names the device that an application that runs still waits for, and `pacer nodes` shows its rate.
func TestWhyNamesTheDeviceThatBinds(t *testing.T) {
	p := ledgertest.Chain("p")
	p.Stages[0].Bytes = 3000 << 20
	p.Habit.Stages = map[int]api.StageHabit{0: {BytesRemote: new(int64(3000 << 20))}, 1: {BytesRemote: new(int64(0))},
		2: {BytesRemote: new(int64(0))}}
	for rate, want := range map[units.Bytes]bool{0: false, 10 * units.MiB: true, units.GiB: false} {
		c := ledgertest.New(t, "a")
		c.Rates("a", 0, rate)
		c.Know(ledger.ProfileSaved{Body: p})
		a := c.App("app-1", "p", 600, "a")
		causes := (*report.Kept)(nil).Why(c.View(), estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesTogether, MaxPool: 4}, a).Causes
		said := slices.ContainsFunc(causes, func(s string) bool {
			return strings.HasPrefix(s, "still to come: 300s at any number of cores: a's network")
		})
		if said != want {
			t.Errorf("at %v a second: %q", rate, causes)
		}
		if n := report.Node(c.View(), c.View().Node("a")); n.Network != rate {
			t.Errorf("pacer nodes shows %v, want %v", n.Network, rate)
		}
	}
}
