package unknown

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/units"
)

// knownAlone are the applications of all tests, which nobody changes.
var knownAlone = sync.OnceValues(func() ([]alone, error) { return runAlone(config(experiment.Options{}, 0, assign.Open)) })

// TestATrace: half of 40 applications have names of their own; they come in order, by the seed alone, and ask for 1.8
// times what all cores can do until the last one comes.
func TestATrace(t *testing.T) {
	known, err := knownAlone()
	if err != nil {
		t.Fatal(err)
	}
	all := trace(1, known, 64, Paced)
	names, work := map[string]bool{}, units.Work(0)
	for i, a := range all {
		k := known[slices.IndexFunc(known, func(k alone) bool {
			return strings.HasSuffix(a.app.Name, k.app.Name) && len(k.app.Stages) == len(a.app.Stages)
		})]
		work += k.work[Paced]
		switch factor := float64(a.app.Deadline / k.duration); {
		case i > 0 && a.at < all[i-1].at:
			t.Errorf("application %d comes at %v, before the one before it", i, a.at)
		case a.new == (a.app.Name == k.app.Name) || a.new && names[a.app.Name]:
			t.Errorf("application %d is new: %v, and has the name %s", i, a.new, a.app.Name)
		case factor < least || factor > most:
			t.Errorf("%s is due at %.2f times what it takes alone", a.app.Name, factor)
		case k.work[Paced] >= k.work[AllCores]:
			t.Errorf("%s takes %v core-seconds under a deadline and at all cores", k.app.Name, k.work)
		}
		names[a.app.Name] = true
	}
	if n := len(slices.DeleteFunc(slices.Clone(all), func(c comes) bool { return !c.new })); len(all) != 40 || n != 20 {
		t.Errorf("%d of %d are new", n, len(all))
	}
	if got := float64(work) / 64 / float64(all[count-1].at); got < 1.79 || got > 1.81 {
		t.Errorf("the load is %v", got)
	}
	if d := cmp.Diff(all, trace(1, known, 64, Paced), cmp.AllowUnexported(comes{})); d != "" {
		t.Error(d)
	}
	if cmp.Equal(all, trace(2, known, 64, Paced), cmp.AllowUnexported(comes{})) {
		t.Error("another seed gives the same")
	}
}

// TestFigures: each value is of one seed. A ratio to open is to its mean; who has no reservation has no part in time.
func TestFigures(t *testing.T) {
	c := []Case{{Paced, assign.Open, []Trace{{Any: Count{40, 20}, New: Count{20, 4}}, {Any: Count{40, 21}}}},
		{Paced, assign.Justice, make([]Trace, 2)},
		{Paced, assign.Pythia, []Trace{{Any: Count{40, 22}, New: Count{20, 6}, Reserved: Count{4, 3}, Feasible: Count{10, 10}},
			{Any: Count{40, 20}, New: Count{20, 2}, Feasible: Count{10, 9}}}}}
	want := map[string][]float64{"met_ratio": {3, 1}, "reserved_met_ratio": {0.75}, "all_gain": {2, -1}, "known_met_ratio": {1, 0.9}}
	all := figures(c)
	for _, f := range all {
		if values := want[f.Name[len("admission.sim.pythia."):]]; !slices.Equal(f.Values, values) || f.Seeds != len(values) {
			t.Errorf("%s: %v of %d seeds, want %v", f.Name, f.Values, f.Seeds, values)
		}
	}
	if rows := rows(c); len(all) != 4 || rows[1][2] != "2.0 of 10.0" || rows[3][4] != "17.0 of 20.0" {
		t.Errorf("%d figures, %v", len(all), rows)
	}
}

// TestATraceUnderEachAdmission: who is promised something is in time, with a profile or without.
func TestATraceUnderEachAdmission(t *testing.T) {
	if slow {
		t.Skip("takes too long with the race detector")
	}
	known, err := knownAlone()
	if err != nil {
		t.Fatal(err)
	}
	var all []experiment.Case[Case, Trace]
	for _, by := range []string{assign.Open, assign.Pythia} { // Those that are compared.
		all = append(all, experiment.Case[Case, Trace]{Of: Case{Load: Paced, Admission: by}, Run: func(int) (Trace, error) {
			return run(config(experiment.Options{}, 0, by), known, Paced)
		}})
	}
	if all, err = experiment.Run(experiment.Options{}, all); err != nil {
		t.Fatal(err)
	}
	cases := []Case{all[0].Of, all[1].Of}
	cases[0].Traces, cases[1].Traces = all[0].Runs, all[1].Runs
	found := figures(cases)
	for _, f := range found {
		if !f.Holds && strings.HasSuffix(f.Name, ".known_met_ratio") {
			t.Errorf("%s is %.2f, want %v", f.Name, f.Ours, f.Band)
		}
	}
	open, pythia := cases[0].Traces[0], cases[1].Traces[0]
	if open.Reserved.All > 0 || pythia.Reserved.All == 0 || open.New.All != 20 || len(found) != 4 {
		t.Errorf("open %+v, pythia %+v, figures %+v", open, pythia, found)
	}
	// Few have a reservation in one seed: the share of those in time is a claim over twelve.
	if r := pythia.Reserved; r.All-r.Met > 1 {
		t.Errorf("%d of %d with a reservation of pythia are late", r.All-r.Met, r.All)
	}
	if table, err := Run(experiment.Options{Listed: true}); err != nil || len(table.Rows[0]) != 1+len(Loads())*len(assign.Admissions()) {
		t.Errorf("%v, %v", table.Rows, err)
	}
}
