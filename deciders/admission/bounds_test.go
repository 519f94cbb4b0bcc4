package admission_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/admission"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// Each bound refuses what would pass it, by its name; what others have does not count.
func TestBoundsOfAPrincipal(t *testing.T) {
	c := ledgertest.New(t, "n1", "n2")
	tenant := ledger.Tenant{Submission: "s", Launch: api.Launch{DriverURL: "spark://driver@h:1", Heap: units.GiB}}
	know := func(id api.AppID, user string, waits bool, nodes ...string) {
		mine := tenant
		mine.Submission, mine.Owner.User = string(id), user
		seats := &ledger.Seats{Nodes: nodes}
		if waits {
			seats = nil
		}
		c.Know(ledger.Registered{ID: id, Name: "p", Serial: c.View().Serial() + 1, Tenant: mine, Queued: waits, Seats: seats,
			Promise: ledger.Promise{Profile: "p", Start: c.Now, Mode: ledger.Recording}})
	}
	know("app-1", "ann", false, "n1", "n2")
	know("app-2", "ann", true)
	know("app-3", "bob", false, "n1", "n2")
	know("app-4", "bob", true)
	for name, test := range map[string]struct {
		bounds    api.Bounds
		class     api.Class
		executors int
		waits     bool
		passes    string
	}{
		"none":                     {executors: 100},
		"its class":                {bounds: api.Bounds{Classes: []api.Class{api.ClassBatch}}, class: api.ClassBatch},
		"the default class":        {bounds: api.Bounds{Classes: []api.Class{api.ClassDeadline}}},
		"another class":            {bounds: api.Bounds{Classes: []api.Class{api.ClassBatch}}, class: api.ClassInteractive, passes: "classes"},
		"the default class is one": {bounds: api.Bounds{Classes: []api.Class{api.ClassBatch}}, passes: "classes"},
		"the third":                {bounds: api.Bounds{Running: 3}},
		"a third of two":           {bounds: api.Bounds{Running: 2}, passes: "running"},
		"a third that waits":       {bounds: api.Bounds{Running: 2}, waits: true, passes: "running"},
		"a second that waits":      {bounds: api.Bounds{Queued: 2}, waits: true},
		"one too many that waits":  {bounds: api.Bounds{Queued: 1}, waits: true, passes: "queued"},
		"one that starts":          {bounds: api.Bounds{Queued: 1}, executors: 1},
		"five executors' memory":   {bounds: api.Bounds{Memory: 5 * units.GiB}, executors: 2},
		"six executors' memory":    {bounds: api.Bounds{Memory: 5 * units.GiB}, executors: 3, passes: "memory"},
	} {
		mine := tenant
		mine.Class = test.class
		err := admission.Bounded(c.View(), api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: api.RoleSubmit, Bounds: test.bounds}, mine, test.executors, test.waits)
		switch {
		case test.passes == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.passes != "" && (api.KindOf(err) != api.KindDenied || err == nil || !strings.Contains(err.Error(), "the bound "+test.passes+" of user ann") || strings.Contains(err.Error(), "\n")):
			t.Errorf("%s: %v, want the bound %s", name, err, test.passes)
		}
	}
}

// A user has no number of applications without a bound, whether they run or wait.
func TestAUserHasNoEndOfApplications(t *testing.T) {
	c := ledgertest.New(t, "n1")
	tenant := ledger.Tenant{Owner: ledger.Owner{User: "ann"}, Launch: api.Launch{DriverURL: "spark://driver@h:1", Heap: units.GiB}}
	refused := func(name string, bounds api.Bounds) error {
		return admission.Bounded(c.View(), api.Principal{Kind: api.PrincipalUser, Name: name, Role: api.RoleSubmit, Bounds: bounds}, tenant, 1, true)
	}
	for i := range 2000 {
		if i%500 == 499 {
			if err := refused("ann", api.Bounds{}); err != nil {
				t.Fatalf("after %d: %v", i, err)
			}
		}
		mine := tenant
		mine.Submission = fmt.Sprint(i)
		c.Know(ledger.Registered{ID: api.AppID(fmt.Sprint("app-", i)), Name: "p", Serial: c.View().Serial() + 1, Tenant: mine,
			Queued: true, Promise: ledger.Promise{Profile: "p", Start: c.Now, Mode: ledger.Recording}})
	}
	if err := refused("ann", api.Bounds{}); err == nil || api.KindOf(err) != api.KindTransient {
		t.Errorf("one more: %v", err)
	}
	if refused("bob", api.Bounds{}) != nil || refused("ann", api.Bounds{Running: 3000}) != nil {
		t.Error("another user, or one whose bound says so, is refused")
	}
}
