package schedule_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/schedule"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// queries is a profile of forty stages, one after another, that each take so long at four cores, and half a
// second of the driver's before each.
func queries(each units.Seconds) api.Profile {
	p := api.Profile{Schema: api.ProfileSchema, Name: "p", Runs: 1, Duration: 40*each + 21, Cores: 4, Head: 1, Tail: 0.5}
	for i := range 40 {
		s := api.ProfileStage{ID: i, Job: i, Name: "query", Signature: fmt.Sprint("query ", i), Parents: []int{}, Tasks: 4,
			Duration: each, Gap: 0.5, Records: 1000, CoreSeconds: units.Work(4 * each), NominalRate: units.Rate(250 / each)}
		p.Stages = append(p.Stages, s)
	}
	p.Stages[0].Gap = 0
	return p
}

// parts runs queries under a deadline, where each stage but the last takes needs of what it would by its cores. It
// returns which part of its predicted work each was to do, and when the last stage was ready.
func parts(t *testing.T, p estimate.Policy, each, deadline units.Seconds,
	needs float64) (all []float64, at units.Seconds) {
	t.Helper()
	c := ledgertest.New(t, "a")
	c.Know(ledger.ProfileSaved{Body: queries(each)})
	a := c.App("app-1", "p", deadline, "a")
	at = 1
	for i := range 40 {
		c.To(at)
		s := c.Ready(a, i, fmt.Sprint("query ", i), 1000, "1")
		planned := schedule.Ready(p.Outlook(c.View()), a, s)
		needed := float64(planned.Aim.Work) / (4 * float64(each))
		if cores := float64(planned.Aim.Work) / float64(planned.Left); math.Abs(float64(planned.Cores)-cores) > 1e-9 {
			t.Errorf("stage %d begins with %v cores, %v do its work in its time", i, planned.Cores, cores)
		}
		all = append(all, needed)
		if i == 39 {
			break
		}
		c.Know(planned)
		at += planned.Left * units.Seconds(min(2, needs/needed))
		c.To(at)
		c.Done(a, s, each, at-0.1)
		at += 0.5
	}
	return all, at
}

func paced() estimate.Policy {
	p := estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesTogether, MaxPool: 4}
	p.Equations.Split = dag.SplitCriticalPath
	return p
}

// Stages of half a second of which each takes 0.6 of the time that it is given: the next ones learn of it, and what
// they leave does not add up to the end. The last one has its own way.
func TestShortStagesAreSteeredAsAGroup(t *testing.T) {
	all, last := parts(t, paced(), 0.5, 62, 0.6)
	if all[0] != 1 || all[39] != 1 {
		t.Errorf("the first stage needs %v, the last %v", all[0], all[39])
	}
	for i, n := range all[10:39] {
		if n < 0.6 || n > 0.68 {
			t.Errorf("stage %d needs %v of its work, want about 0.6", i+10, n)
		}
	}
	// All cores, a tenth more, tail and margin are left for the last stage.
	if left := 62 - last; left < 0.5+0.55 || left > 0.05*62 {
		t.Errorf("the last stage is ready %v before the deadline", left)
	}
}

// What is learned is bounded, a stage that takes longer is begun with what the profile says, longer stages
// have their controllers, and the source's alpha knows no group.
func TestTheGroupOfShortStagesHasBounds(t *testing.T) {
	source := paced()
	source.Equations.Aim = 0
	for name, c := range map[string]struct {
		p              estimate.Policy
		each, deadline units.Seconds
		needs, want    float64
	}{
		"next to nothing": {paced(), 0.5, 62, 0.1, 0.4},
		"too long":        {paced(), 0.5, 62, 1.3, 1},
		"long stages":     {paced(), 4, 300, 0.9, 1},
		"the source's":    {source, 0.5, 62, 0.6, 1},
	} {
		all, _ := parts(t, c.p, c.each, c.deadline, c.needs)
		if got := all[20]; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: a stage needs %v of its work, want %v", name, got, c.want)
		}
	}
}

// A short stage that the profile lacks has the work that is estimated of it, and nothing is learned of it.
func TestAStageThatTheProfileLacksIsNoneOfTheGroup(t *testing.T) {
	c := ledgertest.New(t, "a")
	c.Know(ledger.ProfileSaved{Body: queries(0.5)})
	a := c.App("app-1", "p", 62, "a")
	at := units.Seconds(1)
	next := func(i int, signature string, needs units.Seconds) ledger.StageAimed {
		c.To(at)
		s := c.Ready(a, i, signature, 1000, "1")
		if s.Annotation == ledger.Unmatched {
			c.Know(ledger.StageAdded{App: a.ID, Stage: s.Key(), Extra: estimate.Extra(a, s)})
		}
		planned := schedule.Ready(paced().Outlook(c.View()), a, s)
		c.Know(planned)
		at += needs * planned.Left
		c.To(at)
		c.Done(a, s, 0.5, at-0.1)
		at += 0.5
		return planned
	}
	for i := range 8 {
		next(i, fmt.Sprint("query ", i), 0.6)
	}
	before := next(8, "query 8", 0.6).Aim.Work
	for i := range 6 {
		got := next(9+i, fmt.Sprint("other ", i), 0.1)
		s := a.Stages[got.Stage]
		if !s.Estimated() || got.Left >= 5 || math.Abs(float64(got.Aim.Work-s.Extra.Stage.CoreSeconds)) > 1e-9 {
			t.Errorf("stage %d is to do %v core-seconds in %v", s.Key().Stage, got.Aim.Work, got.Left)
		}
	}
	if after := next(20, "query 9", 0.6).Aim.Work; math.Abs(float64(after-before)) > 0.1 {
		t.Errorf("a stage is to do %v core-seconds, %v before those that the profile lacks", after, before)
	}
}
