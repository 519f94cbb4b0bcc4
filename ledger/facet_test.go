package ledger_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// tally is a capability of this test: it keeps marks, and how often something has happened.
type tally struct {
	Marks []string `json:"marks,omitempty"`
	Times int      `json:"times,omitempty"`
}

var (
	appTally = ledger.Register(ledger.Facet[*ledger.App, tally]{Name: "apptally", Check: tally.check,
		After: func(s tally, _ ledger.View, _ *ledger.App, f ledger.Fact) (tally, bool) {
			_, given := f.(ledger.DeadlineGiven)
			return tally{s.Marks, s.Times + 1}, given
		},
		Cores: func(s tally) units.Cores { return units.Cores(s.Times) / 4 }})
	nodeTally = ledger.Register(ledger.Facet[*ledger.Node, tally]{Name: "nodetally",
		After: func(s tally, _ ledger.View, n *ledger.Node, f ledger.Fact) (tally, bool) {
			d, is := f.(ledger.NodeDrained)
			return tally{s.Marks, s.Times + 1}, is && d.Draining && n.Draining()
		}})
	profileTally = ledger.Register(ledger.Facet[*ledger.Profile, tally]{Name: "profiletally",
		After: func(s tally, _ ledger.View, p *ledger.Profile, f ledger.Fact) (tally, bool) {
			saved, is := f.(ledger.ProfileSaved)
			return tally{s.Marks, s.Times + 1}, is && saved.How == "changed"
		}})
)

const mostMarks = 3

func (s tally) check() error {
	if len(s.Marks) > mostMarks {
		return errors.New("too many marks")
	}
	return nil
}

// mark is a tally with another mark. It shares nothing with s.
func (s tally) mark(m string) (tally, error) {
	if m == "" {
		return s, errors.New("no mark")
	}
	return tally{append(slices.Clone(s.Marks), m), s.Times}, nil
}

type (
	appMarked struct {
		ledger.OfApp
		Mark string
	}
	nodeMarked struct {
		ledger.OfNode
		Mark string
	}
	profileMarked struct {
		ledger.OfProfile
		Mark string
	}
)

func (f appMarked) Line() ledger.Line     { return f.Says("marked", "%s", f.Mark) }
func (f nodeMarked) Line() ledger.Line    { return f.Says("marked", "%s", f.Mark) }
func (f profileMarked) Line() ledger.Line { return f.Says("marked", "%s", f.Mark) }

func (f appMarked) Apply(_ ledger.View, _ *ledger.App, s *tally) (err error) {
	*s, err = s.mark(f.Mark)
	return err
}

func (f nodeMarked) Apply(_ ledger.View, _ *ledger.Node, s *tally) (err error) {
	*s, err = s.mark(f.Mark)
	return err
}

func (f profileMarked) Apply(_ ledger.View, _ *ledger.Profile, s *tally) (err error) {
	*s, err = s.mark(f.Mark)
	return err
}

func ofApp(m string) ledger.Fact  { return appMarked{ledger.OfApp{App: app}, m} }
func ofNode(m string) ledger.Fact { return nodeMarked{ledger.OfNode{Node: "a"}, m} }
func ofProfile(m string) ledger.Fact {
	return profileMarked{ledger.OfProfile{Name: "q", Owner: "ann"}, m}
}

// owned is a profile of a user.
func owned() api.Profile {
	p := ledgertest.Chain("q")
	p.Owner = "ann"
	return p
}

// marks are those of the application, the node and the profile.
func marks(v ledger.View) string {
	var all []string
	if a := v.App(app); a != nil {
		all = append(all, appTally.Of(a).Marks...)
	}
	all = append(all, "|")
	if n := v.Node("a"); n != nil {
		all = append(all, nodeTally.Of(n).Marks...)
	}
	all = append(all, "|")
	if p := v.ProfileOf("ann", "q"); p != nil {
		all = append(all, profileTally.Of(p).Marks...)
	}
	return strings.Join(all, "")
}

// marked is a ledger that has facets of each kind, and its store.
func marked(t *testing.T) (*ledger.Ledger, disk, func(...ledger.Fact)) {
	t.Helper()
	d := disk{}
	l, effects := at(t, append(facts(), ledger.ProfileSaved{Body: owned()})...)
	d.take(effects)
	know := func(facts ...ledger.Fact) {
		t.Helper()
		for _, f := range facts {
			if err := l.Record(f); err != nil {
				t.Fatal(err)
			}
		}
		d.take(l.Close())
		if fault := l.Audit(); fault != "" {
			t.Fatal(fault)
		}
	}
	know(ofApp("x"), ofNode("y"), ofProfile("z"))
	return l, d, know
}

// kept are the keys of facets in a store.
func (d disk) kept() (keys []string) {
	for key := range maps.Keys(d) {
		if strings.HasPrefix(key, "facet/") {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Values change by facts, are saved and restored, and snapshots keep those of their moment.
func TestFacetsAreKept(t *testing.T) {
	l, d, know := marked(t)
	before := l.View().Snapshot()
	version := appTally.Version(l.View().App(app))
	know(ofApp("X"), ofNode("Y"), ofProfile("Z"), appMarked{ledger.OfApp{App: app, Why: "it is marked"}, "!"})
	if got := marks(l.View()); got != "xX!|yY|zZ" || marks(before) != "x|y|z" {
		t.Errorf("%s, before %s", got, marks(before))
	}
	if a := l.View().App(app); appTally.Version(a) <= version || appTally.Version(a) != a.Version() || a.Promise.Reason != "it is marked" {
		t.Errorf("version %d after %d of %d, reason %q", appTally.Version(a), version, a.Version(), a.Promise.Reason)
	}
	if got := d.kept(); !slices.Equal(got, []string{"facet/apptally/app-1", "facet/nodetally/a", "facet/profiletally/q/ann"}) {
		t.Errorf("stored %v", got)
	}
	again := newLedger(t, d.pairs()...)
	if got := marks(again.View()); got != "xX!|yY|zZ" || again.Audit() != "" {
		t.Errorf("restored %s, %s", got, again.Audit())
	}
	if got := again.View().Plan(again.View().Node("a")); len(again.Close().Faults) > 0 || len(got.Apps) != 1 {
		t.Errorf("restored %+v", got)
	}
}

// A fact of the ledger's own changes values, too: with them change the cores that are reserved, and the Plan.
func TestFacetsFollowFactsOfTheLedger(t *testing.T) {
	l, d, know := marked(t)
	know(ledger.DeadlineGiven{App: app, Deadline: 50}, ledger.NodeDrained{Node: "a", Draining: true}, ledger.NodeDrained{Node: "a"},
		ledger.ProfileSaved{Body: owned(), How: "changed", By: app}, ledger.ProfileSaved{Body: owned(), By: app})
	v := l.View()
	if x, y, z := appTally.Of(v.App(app)), nodeTally.Of(v.Node("a")), profileTally.Of(v.ProfileOf("ann", "q")); x.Times != 1 || y.Times != 1 || z.Times != 1 {
		t.Errorf("%+v, %+v, %+v", x, y, z)
	}
	if p := v.Plan(v.Node("a")).Apps[0]; v.App(app).Reserved() != 0.25 || !p.Reserved {
		t.Errorf("%v reserved, %+v", v.App(app).Reserved(), p)
	}
	know(ofProfile("after the run"))
	know(ledger.RunTakenBack{Name: "q", Owner: "ann", App: app})
	if got := marks(l.View()); got != "x|y|zafter the run" {
		t.Errorf("after a run was taken back: %s", got)
	}
	again := newLedger(t, d.pairs()...)
	if a := again.View().App(app); a.Reserved() != 0.25 || again.Audit() != "" {
		t.Errorf("restored: %v reserved, %s", a.Reserved(), again.Audit())
	}
}

// Facts that cannot be true change nothing.
func TestImpossibleFactsOfFacets(t *testing.T) {
	l, _, know := marked(t)
	know(ofApp("2"), ofApp("3"))
	for _, f := range []ledger.Fact{ofApp(""), ofNode(""), ofProfile(""), ofApp("4"),
		appMarked{ledger.OfApp{App: "app-9", Why: "no"}, "x"}, nodeMarked{ledger.OfNode{Node: "b"}, "x"}, profileMarked{ledger.OfProfile{Name: "q"}, "x"}} {
		err := l.Record(f)
		if impossible := (*ledger.ImpossibleError)(nil); !errors.As(err, &impossible) || impossible.Fact != f {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if got, e := marks(l.View()), l.Close(); got != "x23|y|z" || len(e.Pairs)+len(e.Changes) > 0 || l.View().App(app).Promise.Reason != "" {
		t.Errorf("%s, saved %v", got, e.Pairs)
	}
}

// Of what is gone nothing stays in the store, and a zero value takes no place in it.
func TestFacetsGoWithTheirSubjects(t *testing.T) {
	_, d, know := marked(t)
	know(ledger.ContextStopped{App: app, At: 2}, ledger.Archived{App: app, Detail: api.AppDetail{AppSummary: api.AppSummary{ID: app, State: api.AppFinished}}})
	know(ledger.ProfileRemoved{Name: "q", Owner: "ann"})
	know(ledger.NodeForgotten{Node: "a"})
	if got := d.kept(); len(got) > 0 {
		t.Errorf("left %v", got)
	}
	cfg := config()
	cfg.Profiles, cfg.ProfileBytes = 1, 1<<20
	l, err := ledger.New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []ledger.Fact{ledger.ProfileSaved{Body: ledgertest.Chain("old")}, profileMarked{ledger.OfProfile{Name: "old"}, "x"},
		ledger.ProfileSaved{Body: ledgertest.Chain("new")}} {
		if err := l.Record(f); err != nil {
			t.Fatal(err)
		}
		if d.take(l.Close()); len(d.kept()) > 1 {
			t.Errorf("%v", d.kept())
		}
	}
	if got := d.kept(); len(got) > 0 {
		t.Errorf("of a profile that has made room: %v", got)
	}
}

// A record that cannot be read, or has what cannot be, is set aside alone. That of nobody is removed, that of a
// capability which this planner lacks stays.
func TestRecordsOfFacets(t *testing.T) {
	_, d, _ := marked(t)
	for _, x := range []struct {
		key, value string
		aside      bool
		left       string
	}{
		{"facet/apptally/app-1", "{", true, "|y|z"},
		{"facet/apptally/app-1", `{"v":6,"value":{"marks":["1","2","3","4"]}}`, true, "|y|z"},
		{"facet/nodetally/a", `{"v":6,"value":[]}`, true, "x||z"},
		{"facet/profiletally/q/ann", `{"v":6}`, true, "x|y|"},
		{"facet/apptally/app-7", `{"v":6,"value":{"marks":["1"]}}`, false, "x|y|z"},
		{"facet/another/app-1", `{"v":6,"value":{"marks":["1"]}}`, false, "x|y|z"},
	} {
		bad := maps.Clone(d)
		bad[x.key] = x.value
		l := newLedger(t, bad.pairs()...)
		effects := l.Close()
		bad.take(effects)
		if got := marks(l.View()); got != x.left || len(effects.Faults) > 0 != x.aside || (bad["aside/"+x.key] == x.value) != x.aside {
			t.Errorf("%s of %s: %s, %v", x.value, x.key, got, effects.Faults)
		}
		if _, there := bad[x.key]; there != strings.HasPrefix(x.key, "facet/another/") {
			t.Errorf("%s of %s is stored: %v", x.value, x.key, there)
		}
		if faults := newLedger(t, bad.pairs()...).Close().Faults; len(faults) > 0 || l.Audit() != "" {
			t.Errorf("%s of %s at the next start: %v, %s", x.value, x.key, faults, l.Audit())
		}
	}
}

// Audit sees a value that was changed where it stands, and the release of another layout is refused.
func TestAuditSeesAChangedValue(t *testing.T) {
	l, d, _ := marked(t)
	appTally.Of(l.View().App(app)).Marks[0] = "changed"
	if fault := l.Audit(); !strings.Contains(fault, "apptally has changed") {
		t.Errorf("audit: %q", fault)
	}
	d["facet/apptally/app-1"] = strings.Replace(d["facet/apptally/app-1"], `"v":6`, `"v":7`, 1)
	if _, err := ledger.New(config(), d.pairs()); err == nil || !strings.Contains(err.Error(), "facet/apptally") {
		t.Errorf("another layout: %v", err)
	}
}
