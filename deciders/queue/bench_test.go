package queue_test

import (
	"fmt"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// BenchmarkDecide is what a question costs beside 1,000 applications that fill 10,000 nodes: of one that comes and that
// somebody makes room for, and of one more beside ten that wait.
func BenchmarkDecide(b *testing.B) {
	var names []string
	for i := range 10_000 {
		names = append(names, fmt.Sprintf("n%05d", i))
	}
	c := ledgertest.New(b, names...)
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	for i := range 1000 {
		id := api.AppID(fmt.Sprintf("app-%04d", i))
		c.Know(ledger.Registered{ID: id, Name: "p", Serial: c.View().Serial() + 1, Matched: true,
			Tenant: ledger.Tenant{Submission: "of " + string(id),
				Launch: api.Launch{DriverURL: "spark://driver@h:1", Heap: 10 * units.GiB, OffHeapFixed: true}},
			Seats:   &ledger.Seats{Nodes: names[10*i : 10*i+10], Cores: 40, Slots: 40},
			Promise: ledger.Promise{Profile: "p", Start: c.Now, Deadline: 5000, Mode: ledger.Paced}})
		for _, x := range c.View().App(id).Alive() {
			c.Know(ledger.ExecutorUp{App: id, ID: x.ID})
		}
	}
	comes := waiting.With(&ledger.App{ID: "app-new", Tenant: ledger.Tenant{Class: api.ClassInteractive,
		Launch: api.Launch{Heap: 10 * units.GiB, OffHeapFixed: true}}, Promise: ledger.Promise{Start: c.Now, Mode: ledger.Recording}},
		waiting.Coming(c.View(), false))
	for _, rule := range []string{assign.Backfill, assign.FlexiblePreemptive} {
		p := by(rule)
		b.Run(rule, func(b *testing.B) {
			for b.Loop() {
				p.Decide(outlook(c), &queue.Newcomer{App: comes})
			}
		})
	}
}
