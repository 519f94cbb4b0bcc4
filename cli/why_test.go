package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
)

// Where the time went is a table that adds up, with who had what was lacking; of a record of before nothing is told.
func TestWhyPrintsWhereTheTimeWent(t *testing.T) {
	w := newWorld(t)
	late := &api.Why{V: 1, App: "app-1", Headline: "8.0 s late, at 06:01:08", Risk: api.RiskLate,
		Parts: []api.WhyPart{{Part: api.PartStarting, For: 4}, {Part: api.PartPlanned, For: 54},
			{Part: api.PartShort, For: 10, Who: []api.WhyWho{{App: "app-7", CoreSeconds: 31}, {CoreSeconds: 2}}}},
		Causes: []string{"10 s short of cores, which app-7 had", "a name \x1b[2J"}}
	f := startPlanner(t, &fakePlanner{why: map[api.AppID]*api.Why{"app-1": late, "app-2": {V: 1, App: "app-2", Headline: "ended after 50 s"}}})
	want := `app-1: 8.0 s late, at 06:01:08

PART            TIME   SHARE  WHO HAD THEM
starting        4.0s   6 %    
as planned      54.0s  79 %   
short of cores  10.0s  15 %   app-7 (31.0 core-seconds), what is not Pacer's (2.0 core-seconds)
all             68.0s         

causes:
  10 s short of cores, which app-7 had
  a name \u001b[2J
`
	if d := cmp.Diff(want, w.run(t, "--planner", f.address, "why", "app-1").out); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(*late, jsonOf[api.Why](t, w.run(t, "--planner", f.address, "why", "app-1", "-o", "json"))); d != "" {
		t.Error(d)
	}
	if got := w.run(t, "--planner", f.address, "why", "app-2").out; got != "app-2: ended after 50 s\n\nwhere its time went was not kept\n" {
		t.Errorf("%q", got)
	}
	w.run(t, "--planner", f.address, "why", "app-9").wantLine(t, command.ExitFailure, "app-9")
}
