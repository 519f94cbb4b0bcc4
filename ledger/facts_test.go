package ledger_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// factNames are the types of this package that have the method apply.
func factNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			// The types of record.go are embedded in facts of capabilities.
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "apply" && f.Recv != nil && !strings.HasSuffix(file, "record.go") {
				names = append(names, f.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// busy is a ledger in which every fact of rows can be true and says something new.
func busy(t *testing.T) *ledger.Ledger {
	t.Helper()
	l, _ := at(t, facts()...)
	l.Begin(units.Instant(2 * time.Second))
	second, third := api.AppID("app-2"), api.AppID("app-3")
	for _, f := range []ledger.Fact{
		ledger.NodeJoined{Node: "b", Incarnation: "b-1"}, ledger.NodeJoined{Node: "empty", Incarnation: "e-1"}, ledger.NodeSaid{Status: ledgertest.Status("b", 1)},
		ledger.ProfileSaved{Body: varied()}, ledger.ProfileSaved{Body: ledgertest.Chain("q"), By: app},
		ledger.Registered{ID: second, Name: "p", Serial: 2, Matched: true, Promise: ledger.Promise{Profile: "p", Deadline: 100, Mode: ledger.Paced}, Seats: &ledger.Seats{Nodes: []string{"b"}}},
		ledger.StageReady{App: second, Ready: api.StageReady{StageKey: key, Signature: "read", Tasks: 8}, Seq: 1},
		ledger.Registered{ID: third, Name: "p", Serial: 3}, ledger.ContextStopped{App: third, At: 1},
		ledger.Refused{Detail: api.AppDetail{AppSummary: api.AppSummary{ID: "app-0", State: api.AppRefused}}},
		ledger.Registered{ID: "app-5", Name: "p", Serial: 4, Promise: ledger.Promise{Profile: "p"}, Queued: true},
		ledger.NodeJoined{Node: "attaching", Incarnation: "x-1"}, ledger.NodeSaid{Status: attaching()},
		ledger.Registered{ID: "app-10", Name: "p", Serial: 5, Tenant: ledger.Tenant{Launch: api.Launch{Attach: &api.Attach{Manager: api.ManagerYARN, App: "application_1"}}}},
		ledger.NodeJoined{Node: "theirs", Incarnation: "t-1", Follows: "another"}, ledger.NodeSaid{Status: ledgertest.Status("theirs", 1), Follows: "another"},
		ledger.Registered{ID: "app-7", Name: "p", Serial: 6, Promise: ledger.Promise{Reclaimed: true}},
		ledger.Registered{ID: "app-6", Name: "p", Serial: 7, Tenant: ledger.Tenant{Launch: api.Launch{Withheld: 1}}, Seats: &ledger.Seats{Nodes: []string{"b"}}}, ledger.ExecutorLost{App: "app-6", ID: "1"},
		ledger.Registered{ID: "app-8", Name: "p", Serial: 8, Seats: &ledger.Seats{Nodes: []string{"a", "b"}, Cores: 8}, Promise: ledger.Promise{Deadline: 60, Mode: ledger.Recording}}, ledger.ExecutorLeaving{App: "app-8", ID: "2", For: "app-5", Node: "b"},
		ledger.Registered{ID: "app-11", Name: "p", Serial: 9, Tenant: ledger.Tenant{Class: api.ClassBatch}, Seats: &ledger.Seats{Nodes: []string{"a", "b"}, Cores: 8, Lent: true}},
		ledger.Registered{ID: "app-12", Name: "p", Serial: 10, Seats: &ledger.Seats{Nodes: []string{"b"}}},
		component.Taken{OfApp: ledger.OfApp{App: "app-12"}, Component: &api.Component{Name: api.DriverName, Memory: 1}, Node: "b"},
		ledger.Noticed{App: app, Text: "a notice"}, ledger.Waited{For: time.Second}, ledger.Passed{For: time.Second},
	} {
		if err := l.Record(f); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	l.Begin(units.Instant(3 * time.Second))
	return l
}

// attaching is the status of a node that finds executors of other cluster managers.
func attaching() *api.NodeStatus {
	s := ledgertest.Status("attaching", 1)
	s.Attach, s.Hosts, s.Machine = true, []string{"h"}, "m"
	return s
}

// varied is a profile of two variants.
func varied() api.Profile {
	p := ledgertest.Chain("p")
	p.Variants = []api.Profile{ledgertest.Diamond("p")}
	return p
}

// extra is a stage that the profile of three lacks.
func extra() ledger.Extra {
	return ledger.Extra{Extra: dag.Extra{Stage: api.ProfileStage{ID: 3, Name: "more", Tasks: 4, Records: 100, CoreSeconds: 10, NominalRate: 10,
		Duration: 2, LongestTask: 1}, After: 0}, By: profiles.ByTask}
}

// unread are the parts of a ledger that nobody reads.
func unread() []cmp.Option {
	return []cmp.Option{cmp.Exporter(func(reflect.Type) bool { return true }), cmpopts.IgnoreFields(ledger.Ledger{}, "changed.seq", "batch.number", "profiles.drawn"),
		cmpopts.IgnoreFields(ledger.App{}, "versions"), cmpopts.IgnoreFields(ledger.Clocks{}, "Changes"), cmpopts.IgnoreFields(ledger.Stage{}, "versions"),
		cmpopts.IgnoreFields(ledger.Node{}, "book"), cmpopts.EquateNaNs()}
}

// A fact of which the ledger keeps nothing, saves nothing and tells nothing, and which says nothing,
// is one that nobody reads. Each has a name.
func TestEveryFactIsRead(t *testing.T) {
	all := unread()
	var names []string
	for _, r := range rows() {
		f, name := r.fact, reflect.TypeOf(r.fact).Name()
		names = append(names, name)
		with, without := busy(t), busy(t)
		if err := with.Record(f); err != nil {
			t.Error(err)
			continue
		}
		told, untold := with.Close(), without.Close()
		line := told.Changes[0].Line()
		if line.Name == "" {
			t.Errorf("%s: it has no name", name)
		}
		told.Changes = nil
		if line.Text == "" && cmp.Equal(with, without, all...) && cmp.Equal(told, untold, all...) {
			t.Errorf("%s: nobody reads it", name)
		}
	}
	slices.Sort(names)
	if d := cmp.Diff(factNames(t), names); d != "" {
		t.Errorf("rows are not one of each fact (-facts +rows):\n%s", d)
	}
	if !cmp.Equal(busy(t), busy(t), all...) {
		t.Error("ledgers of the same facts differ: the test sees changes where there are none")
	}
}
