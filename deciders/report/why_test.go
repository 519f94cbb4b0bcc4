package report_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// sums are the parts of w together, as a second by second look at an application can tell them.
func sums(w api.Why) map[string]units.Seconds {
	at := map[string]units.Seconds{}
	for _, p := range w.Parts {
		of := string(p.Part)
		switch p.Part {
		case api.PartPlanned, api.PartHeld, api.PartShort, api.PartMore, api.PartRepeated, api.PartUnexplained, api.PartStages:
			of = "stages"
		case api.PartQueued, api.PartStarting:
			of = "head"
		}
		at[of] += p.For
	}
	return at
}

// Whatever happens to an application, the parts of its time do not overlap and add up to the time since its
// submission, while it runs, at its end and in the history. What a look at each second tells is told.
func TestTheTimeOfAnApplicationIsAllThere(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := ledgertest.New(t, "a", "b")
		c.Know(ledger.ProfileSaved{Body: ledgertest.Diamond("p")})
		name, deadline := rapid.SampledFrom([]string{"p", "q"}).Draw(r, "profile"), units.Seconds(rapid.IntRange(0, 60).Draw(r, "deadline"))
		a := c.App("app-1", name, deadline, "a", "b")
		p := estimate.Policy{}
		var stages []*ledger.Stage
		end := rapid.IntRange(2, 80).Draw(r, "end")
		launched := rapid.IntRange(1, end).Draw(r, "launched")
		covered := make([]bool, end)
		since := map[*ledger.Stage]int{}
		for now := 1; now <= end; now++ {
			c.To(units.Seconds(now))
			for _, s := range slices.Clone(a.Opened()) {
				if now < end && rapid.IntRange(0, 9).Draw(r, "ends") == 0 {
					c.Know(ledger.StageEnded{App: a.ID, At: units.Seconds(now), Done: api.StageDone{StageKey: s.Key(),
						Failed: rapid.Bool().Draw(r, "fails"), TaskCPU: units.Seconds(rapid.IntRange(0, 300).Draw(r, "cpu"))}})
				}
			}
			if now >= launched && now < end && rapid.IntRange(0, 4).Draw(r, "begins") == 0 {
				key := api.StageKey{Stage: len(stages), Attempt: rapid.IntRange(0, 1).Draw(r, "attempt")}
				c.Know(ledger.StageReady{App: a.ID, At: units.Seconds(now), Seq: uint64(len(stages) + 1), Ready: api.StageReady{StageKey: key,
					Signature: rapid.SampledFrom([]string{"left", "right", "join", "other"}).Draw(r, "signature"), Tasks: 4, Records: 1000,
					Bindings: []api.Binding{{Executor: "1", Weight: 4, Tasks: 4}}}})
				s := a.Stages[key]
				if a.Profile != nil {
					c.Know(ledger.StageMatched{App: a.ID, Stage: key})
				}
				stages, since[s] = append(stages, s), now
			}
			if len(a.Opened()) > 0 && now < end {
				covered[now] = true
			}
			if rapid.IntRange(0, 5).Draw(r, "short") == 0 {
				s := ledgertest.Status("a", uint64(now+10))
				s.Shortages = []api.Shortage{{App: a.ID, Asked: 2, Had: 1, To: "app-7"}}
				c.Know(ledger.NodeSaid{Status: s})
			}
			check(r, (*report.Kept)(nil).Why(c.View(), p, a), units.Seconds(now))
		}
		stopped := rapid.Bool().Draw(r, "stopped")
		late, suspended := rapid.IntRange(0, 10).Draw(r, "exit"), rapid.IntRange(0, 10).Draw(r, "suspended")
		all := units.Seconds(end + late + suspended)
		if stopped {
			c.Know(ledger.ContextStopped{App: a.ID, At: units.Seconds(end)})
		} else {
			c.Know(ledger.RunEnded{App: a.ID, State: api.AppUnknown, At: all, By: api.EndedByExit})
		}
		c.To(all + 1)
		c.Know(ledger.Exited{App: a.ID, At: all, By: api.EndedByExit, Suspended: units.Seconds(suspended)})
		w := (*report.Kept)(nil).Why(c.View(), p, a)
		check(r, w, all)
		want := map[string]units.Seconds{}
		count := func(of string, s int) {
			if s > 0 {
				want[of] += units.Seconds(s)
			}
		}
		until := end // Of what the driver's clock has shown.
		if !stopped {
			until += late
			for len(a.Opened()) > 0 && len(covered) < until {
				covered = slices.Concat(covered, []bool{true})
			}
		} else {
			count("exit", late)
		}
		count("suspended", suspended)
		first, last := slices.Index(covered, true), 0
		for i, runs := range covered {
			if runs {
				last = i + 1
			}
		}
		switch {
		case first < 0:
			count("head", until)
		default:
			count("head", first)
			for i := first; i < last; i++ {
				count(map[bool]string{true: "stages", false: "between stages"}[covered[i]], 1)
			}
			count("after the last stage", until-last)
		}
		if d := cmp.Diff(want, sums(w), cmp.Comparer(near)); d != "" {
			r.Errorf("%s\n%+v", d, w.Parts)
		}

		e := ledger.Ended{Detail: report.Detail(c.View(), p, a), Account: report.Account(p, c.View(), a)}
		if d := cmp.Diff(w, report.WhyEnded(&e), cmp.Comparer(near)); d != "" {
			r.Errorf("in the history: %s", d)
		}
		e.Detail.Duration += units.Seconds(rapid.IntRange(-60, 60).Draw(r, "exit heard later"))
		if e.Detail.Duration > 0 {
			check(r, report.WhyEnded(&e), e.Detail.Duration)
		}
	})
}

func near(x, y units.Seconds) bool { return math.Abs(float64(x-y)) < 1e-6 }

func check(r *rapid.T, w api.Why, all units.Seconds) {
	sum := units.Seconds(0)
	for _, p := range w.Parts {
		if sum += p.For; !(p.For > 0) {
			r.Errorf("%s took %v", p.Part, p.For)
		}
	}
	if !near(sum, all) || len(w.Causes) > 3 {
		r.Fatalf("%+v are %v of %v, causes %q", w.Parts, sum, all, w.Causes)
	}
}

// A stage that was late says why; an application that waits says for what.
func TestWhy(t *testing.T) {
	c := ledgertest.New(t, "a")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	a := c.App("app-1", "p", 100, "a")
	c.To(2)
	s := c.Ready(a, 0, "read", 3000, "1")
	c.Know(ledger.StageAimed{App: a.ID, Stage: s.Key(), First: 10, Aim: ledger.Aim{Planned: true, Work: 60}})
	status := ledgertest.Status("a", 9)
	for now := range 20 {
		c.To(units.Seconds(3 + now))
		status.Seq++
		status.Losses = []api.Loss{{App: a.ID, To: "app-7", CoreSeconds: units.Work(now + 1)}}
		status.Stages = []api.StageStatus{{App: a.ID, StageKey: s.Key(), Executor: "1", CPU: units.Work(now), Samples: []api.StageSample{
			{Request: 4, Grant: 3, Used: 3, Running: 4}}}}
		c.Know(ledger.NodeSaid{Status: status})
	}
	c.To(26)
	c.Done(a, s, 80, 2)
	c.To(30)
	want := []api.WhyPart{{Part: api.PartStarting, For: 2}, {Part: api.PartPlanned, For: 10},
		{Part: api.PartShort, For: 4.75, Who: []api.WhyWho{{App: "app-7", CoreSeconds: 20}}}, {Part: api.PartMore, For: 6},
		{Part: api.PartUnexplained, For: 3.25}, {Part: api.PartBetween, For: 4}}
	w := (*report.Kept)(nil).Why(c.View(), estimate.Policy{}, a)
	if d := cmp.Diff(want, w.Parts, cmp.Comparer(near)); d != "" {
		t.Error(d)
	}
	causes := []string{"6.0 s with more work: stage 0 used 1.3x the CPU time of its profile", "4.8 s short of cores, which app-7 had",
		"3.2 s more in stages than planned, for no reason that is known"}
	if d := cmp.Diff(causes, w.Causes); d != "" {
		t.Error(d)
	}

	c.Know(ledger.Registered{ID: "app-2", Name: "q", Serial: 9, Tenant: ledger.Tenant{Launch: api.Launch{Heap: 120 * units.GiB}},
		Promise: ledger.Promise{Start: c.Now.Add(-10e9), Deadline: 90, Mode: ledger.Paced, Judgement: ledger.Judgement{Verdict: api.VerdictFeasible}},
		Queued:  true},
		waiting.Placed{OfApp: ledger.OfApp{App: "app-2"}, Wait: waiting.State{Since: c.Now.Add(-8e9), Place: 1, Of: 1, Start: c.Now.Add(60e9), Latest: c.Now.Add(70e9), Why: "no room"}})
	b := c.View().App("app-2")
	w = (*report.Kept)(nil).Why(c.View(), estimate.Policy{}, b)
	if w.Headline != "waits for 120 GiB on any node; expected start 08:01:30" || w.Risk != api.RiskOK ||
		!cmp.Equal(w.Parts, []api.WhyPart{{Part: api.PartQueued, For: 8}, {Part: api.PartStarting, For: 2}}, cmp.Comparer(near)) {
		t.Errorf("%+v", w)
	}
	c.To(40)
	c.Know(ledger.RunEnded{App: b.ID, State: api.AppFailed, At: 20, By: api.EndedByKill, Reason: "killed by eve"})
	if w = (*report.Kept)(nil).Why(c.View(), estimate.Policy{}, b); w.Parts[0].Part != api.PartQueued || w.Parts[0].For != 18 || w.Headline != "failed after 20 s: killed by eve" {
		t.Errorf("%+v", w)
	}

	c.Know(ledger.Registered{ID: "app-3", Name: "q", Serial: 10, Tenant: ledger.Tenant{Launch: api.Launch{Heap: 120 * units.GiB}},
		Promise: ledger.Promise{Start: c.Now.Add(-10e9), Mode: ledger.Paced},
		Queued:  true},
		waiting.Placed{OfApp: ledger.OfApp{App: "app-3"}, Wait: waiting.State{Since: c.Now.Add(-8e9), Place: 1, Of: 1, Start: c.Now.Add(-1e9), Why: "no room"}})
	if w = (*report.Kept)(nil).Why(c.View(), estimate.Policy{}, c.View().App("app-3")); w.Headline != "waits for 120 GiB on any node; expected to start at any moment" {
		t.Errorf("an expected start that has passed: %q", w.Headline)
	}
}

// A record of before has no parts, and nothing is made up.
func TestTheTimeOfAnEarlierRecordIsNotKnown(t *testing.T) {
	e := ledger.Ended{Detail: api.AppDetail{AppSummary: api.AppSummary{ID: "app-1", Headline: "2.0 s late", Duration: 62}},
		Account: ledger.Account{Causes: []string{"9.0 s waiting for cores"}, Suspended: 1}}
	w := report.WhyEnded(&e)
	if w.Parts == nil || len(w.Parts) != 0 || !slices.Equal(w.Causes, []string{"1.0 s suspended", "9.0 s waiting for cores"}) {
		t.Errorf("%+v", w)
	}
}

// Of a run whose machines are slower it is said by how much, whatever its input is. One stage alone says it of itself.
func TestWhyOfASlowerMachine(t *testing.T) {
	for _, c := range []struct {
		records int64
		used    []units.Seconds // By profile 60, 10 and 100.
		want    string
	}{
		{3000, []units.Seconds{66, 11}, "with more work: a record took 1.10x the CPU time of its profile, by 2 stages"},
		{3000, []units.Seconds{66, 20, 109}, "with more work: a record took 1.09x the CPU time of its profile, by 3 stages"},
		{3000, []units.Seconds{66}, "with more work: stage 0 used 1.1x the CPU time of its profile"},
		{3000, []units.Seconds{61, 20}, "with more work: stage 1 used 2.0x the CPU time of its profile"},
		{6000, []units.Seconds{120, 10}, "with more work: stage 0 read 2.0x its profile"},
		{6000, []units.Seconds{132, 11}, "with more work: a record took 1.10x the CPU time of its profile, by 2 stages"},
	} {
		w := ledgertest.New(t, "a")
		w.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
		a := w.App("app-1", "p", 100, "a")
		at := units.Seconds(2)
		for i, used := range c.used {
			w.To(at)
			s := w.Ready(a, i, []string{"read", "map", "sum"}[i], []int64{c.records, 1000, 2000}[i], "1")
			w.Know(ledger.StageAimed{App: a.ID, Stage: s.Key(), First: 1, Aim: ledger.Aim{Planned: true, Work: []units.Work{60, 10, 100}[i]}})
			w.To(at + 20)
			w.Done(a, s, used, at)
			at += 20
		}
		why := (*report.Kept)(nil).Why(w.View(), estimate.Policy{}, a)
		if !slices.ContainsFunc(why.Causes, func(said string) bool { return strings.HasSuffix(said, c.want) }) {
			t.Errorf("%+v: %q", c, why.Causes)
		}
	}
}
