package queue_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// hundred is a cluster on which one application runs and a hundred wait, each with a profile of so many stages.
func hundred(t testing.TB, stages int) *ledgertest.Cluster {
	c := ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: many("p", stages)})
	c.App("app-run", "p", 500000, "a", "b")
	for i := range 100 {
		id := api.AppID(fmt.Sprintf("app-%04d", i))
		c.Know(ledger.Registered{ID: id, Name: "p", Serial: c.View().Serial() + 1, Matched: true,
			Tenant: ledger.Tenant{Submission: "of " + string(id),
				Launch: api.Launch{DriverURL: "spark://driver@h:1", Heap: 16000 * units.MiB, OffHeapFixed: true}},
			Promise: ledger.Promise{Profile: "p", Start: c.Now, Deadline: 500000, Mode: ledger.Paced},
			Queued:  true})
	}
	return c
}

// many is a profile of jobs of ten stages.
func many(name string, stages int) api.Profile {
	p := ledgertest.Chain(name)
	one := p.Stages[0]
	p.Stages = nil
	for i := range stages {
		s := one
		s.ID, s.Job, s.Parents, s.Signature = i, i/10, []int{}, fmt.Sprint("s", i)
		if i%10 > 0 {
			s.Parents = []int{i - 1}
		}
		p.Stages = append(p.Stages, s)
	}
	return p
}

// Of those that wait no verdict is found again while nothing changes, few at a time when who is there or what nodes
// give has, and in the end all are what they would be without.
func TestVerdictsOfThoseThatWaitAreKept(t *testing.T) {
	c := hundred(t, 20)
	p := by(assign.Backfill)
	p.Findings = new(queue.Findings)
	fresh := func() []queue.Choice { return by(assign.Backfill).Decide(outlook(c), nil) }
	same := func(when string, got []queue.Choice) {
		t.Helper()
		for i, want := range fresh() {
			if d := cmp.Diff(want.Judgement, got[i].Judgement) + cmp.Diff(want.Wait, got[i].Wait); d != "" {
				t.Fatalf("%s, %s: %s", when, want.App.ID, d)
			}
		}
	}
	same("at first", p.Decide(outlook(c), nil))
	for range 3 {
		same("again", p.Decide(outlook(c), nil))
	}
	if n := p.Findings.Made(); n != 100 {
		t.Fatalf("%d verdicts were found of a hundred that wait", n)
	}
	for _, change := range []struct {
		name string
		do   func()
	}{
		{"the end of what runs", func() { ends(c, c.View().App("app-run")) }},
		{"a node that gives less", func() {
			s := ledgertest.Status("b", 2)
			s.Offered--
			c.Know(ledger.NodeSaid{Status: s})
		}},
		{"time", func() { c.Pass(2 * time.Hour) }},
	} {
		change.do()
		before := p.Findings.Made()
		var got []queue.Choice
		for range 51 {
			was := p.Findings.Made()
			if got = p.Decide(outlook(c), nil); p.Findings.Made()-was > 2 {
				t.Fatalf("%s: %d verdicts were found in one round", change.name, p.Findings.Made()-was)
			}
		}
		waiting := 0
		for _, c := range got {
			if c.What == queue.Wait {
				waiting++
			}
		}
		if n := p.Findings.Made() - before; n != waiting || waiting < 99 {
			t.Fatalf("%s: %d verdicts were found anew of %d that wait", change.name, n, waiting)
		}
		same(change.name, got)
	}
}

// BenchmarkAHundredWait is what one ask costs while a hundred applications wait whose profiles have so many stages.
func BenchmarkAHundredWait(b *testing.B) {
	for _, stages := range []int{200, 2000} {
		c := hundred(b, stages)
		p := by(assign.Backfill)
		p.Findings = new(queue.Findings)
		p.Decide(outlook(c), nil)
		b.Run(fmt.Sprint(stages), func(b *testing.B) {
			for b.Loop() {
				p.Decide(outlook(c), nil)
			}
		})
	}
}
