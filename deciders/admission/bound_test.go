package admission_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/admission"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// `pacer plan` says of each stage what it is bound by, of an empty cluster too; of a number of cores, which has no
// nodes, and without rates it says nothing.
func TestAPlanSaysWhatEachStageIsBoundBy(t *testing.T) {
	p := ledgertest.Chain("p")
	p.Stages[0].Bytes, p.Stages[1].LongestTask = 3000<<20, 9
	p.Habit.Stages = map[int]api.StageHabit{0: {BytesRemote: new(int64(3000 << 20))}, 1: {BytesRemote: new(int64(0))},
		2: {BytesRemote: new(int64(0))}}
	for name, w := range map[string]struct {
		rate units.Bytes
		q    api.PlanRequest
		want string
	}{
		"as it is": {10 * units.MiB, api.PlanRequest{Deadline: 600}, "a's network,its longest task,cores"},
		"empty":    {10 * units.MiB, api.PlanRequest{Deadline: 600, Empty: true}, "a's network,its longest task,cores"},
		"cores":    {10 * units.MiB, api.PlanRequest{Deadline: 600, Cores: 8}, ",,"},
		"no rates": {0, api.PlanRequest{Deadline: 600}, ",,"},
	} {
		c := ledgertest.New(t, "a")
		c.Rates("a", 0, w.rate)
		c.Know(ledger.ProfileSaved{Body: p})
		o := estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesTogether, MaxPool: 4}.Outlook(c.View())
		r, err := admission.WhatIf(o, policy(), w.q, "", c.View().Profile("", "p"))
		if err != nil {
			t.Fatal(err)
		}
		var binds []string
		for _, s := range r.Stages {
			binds = append(binds, s.Binds)
		}
		if got := strings.Join(binds, ","); got != w.want || strings.Contains(r.Reason, "a's network") != (w.want != ",,") {
			t.Errorf("%s: bound by %q, want %q: %s", name, got, w.want, r.Reason)
		}
	}
}
