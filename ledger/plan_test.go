package ledger_test

import (
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
)

// A node is told whose driver exits until that is known, or until nobody waits for it.
func TestWhoIsHistoryExitsNoMore(t *testing.T) {
	c := ledgertest.New(t, "a")
	a := c.App("app-1", "p", 0, "a")
	exiting := func() []api.AppID { return c.View().Plan(c.View().Node("a")).Exiting }
	c.Know(ledger.ContextStopped{App: a.ID, At: 10})
	if got := exiting(); !slices.Equal(got, []api.AppID{a.ID}) {
		t.Errorf("exiting %v when its context has stopped", got)
	}
	c.Know(ledger.Archived{App: a.ID, Detail: api.AppDetail{AppSummary: api.AppSummary{ID: a.ID, State: api.AppFinished}}})
	if got := exiting(); len(got) > 0 {
		t.Errorf("exiting %v when it is history", got)
	}
}
