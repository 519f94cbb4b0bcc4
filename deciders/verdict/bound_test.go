package verdict_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// reading is the chain, of which the first stage reads so many MiB from other hosts and the last one from disks; below
// 0 nobody has told.
func reading(name string, remote, disk int64) api.Profile {
	p := ledgertest.Chain(name)
	p.Stages[0].Bytes, p.Stages[2].Bytes = max(1, remote)<<20, disk<<20
	if remote >= 0 {
		p.Habit.Stages = map[int]api.StageHabit{0: {BytesRemote: new(remote << 20)}, 1: {BytesRemote: new(int64(0))},
			2: {BytesRemote: new(int64(0))}}
	}
	return p
}

// judge is the verdict on a run of profile p that comes to node a beside one of other.
func judge(t *testing.T, p api.Profile, other *api.Profile, deadline units.Seconds) ledger.Judgement {
	c := ledgertest.New(t, "a", "b")
	c.Rates("a", 100*units.MiB, 10*units.MiB)
	c.Know(ledger.ProfileSaved{Body: p})
	if other != nil {
		c.Know(ledger.ProfileSaved{Body: *other})
		c.App("app-7", other.Name, 0, "a")
	}
	a := &ledger.App{ID: "app-8", Promise: ledger.Promise{Profile: p.Name, Start: c.Now, Deadline: deadline, Mode: ledger.Paced},
		Outcome: ledger.Outcome{State: api.AppRunning}, Profile: c.View().Judged("", p.Name)}
	seating := placement.Seating{Seats: []placement.Seat{{Node: c.View().Node("a"), Executors: 1}}, Cores: 4, Slots: 4}
	return verdict.Policy{}.Judge(outlook(c), a, seating, c.Now)
}

// A verdict says how long disks or networks take, whatever the cores, and who has how much of them. On four cores the
// chain takes some 108 s: 40, 10 and 50 s in its stages, 5 s between them and 3 s before and after.
func TestAVerdictNamesTheDeviceThatBinds(t *testing.T) {
	network, disks, untold := reading("net", 3000, 0), reading("disk", 0, 20000), reading("untold", -1, 0)
	other := reading("other", 6000, 0)
	for name, w := range map[string]struct {
		p        api.Profile
		other    *api.Profile
		deadline units.Seconds
		verdict  api.Verdict
		says     string
	}{
		"network alone": {network, nil, 600, api.VerdictFeasible, "300s at any number of cores: a's network"},
		"beside another": {network, &other, 900, api.VerdictFeasible,
			"600s at any number of cores: a's network, half of it app-7's"},
		"no more in time":     {network, &other, 600, api.VerdictInfeasible, "a's network, half of it app-7's"},
		"disks":               {disks, &other, 600, api.VerdictFeasible, "200s at any number of cores: a's disk"},
		"demand above it all": {reading("huge", 1<<20, 0), nil, 600, api.VerdictInfeasible, "104858s at any number of cores: a's network"},
		"untold":              {untold, nil, 600, api.VerdictFeasible, "; what 1 of its stages read from other hosts is not known yet"},
	} {
		v := judge(t, w.p, w.other, w.deadline)
		if v.Verdict != w.verdict || !strings.Contains(v.Reason, w.says) {
			t.Errorf("%s: %s: %s; want %s and %q", name, v.Verdict, v.Reason, w.verdict, w.says)
		}
	}
	for name, p := range map[string]api.Profile{"cores bind": reading("p", 10, 10), "cached": reading("p", 0, 0)} {
		if v := judge(t, p, nil, 600); strings.Contains(v.Reason, "at any number of cores") {
			t.Errorf("%s: %s", name, v.Reason)
		}
	}
}
