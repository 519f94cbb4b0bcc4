package placement

import (
	"reflect"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// Facts of an attachment: what its driver is to ask for after them, and which cannot be true.
func TestFactsOfAttachments(t *testing.T) {
	wants := func(count int, spare bool, on ...string) ledger.Fact {
		return ExecutorsWanted{OfApp: ledger.OfApp{App: "app-1"}, Count: count, Spare: spare, On: on}
	}
	observed := func(id api.AppID, why string) ledger.Fact {
		return AttachedObserved{OfApp: ledger.OfApp{App: id}, Because: why}
	}
	for _, x := range []struct {
		name       string
		before     []ledger.Fact // At 0 s.
		fact       ledger.Fact   // At 7 s.
		impossible bool
		has        Attachment
	}{
		{"more", nil, wants(3, false, "h"), false, Attachment{Wanted: 3, Asked: 7, On: []string{"h"}}},
		{"as many as before", []ledger.Fact{wants(3, false)}, wants(3, false), false, Attachment{Wanted: 3}},
		{"fewer would do", []ledger.Fact{wants(3, false)}, wants(3, true), false, Attachment{Wanted: 3, Spare: 7}},
		{"fewer would still do", []ledger.Fact{wants(3, true)}, wants(3, true), false, Attachment{Wanted: 3, Spare: leastMoment}},
		{"all are needed", []ledger.Fact{wants(3, true)}, wants(3, false), false, Attachment{Wanted: 3}},
		{"as its user said", []ledger.Fact{wants(3, false)}, wants(0, false), false, Attachment{Asked: 7}},
		{"observed", nil, observed("app-1", "no node is there"), false, Attachment{Observed: "no node is there"}},
		{"not any more", []ledger.Fact{observed("app-1", "no node is there")}, observed("app-1", ""), false, Attachment{}},
		{"fewer than its user wants", nil, wants(1, false), true, Attachment{}},
		{"more than its user allows", nil, wants(5, false), true, Attachment{}},
		{"less than none", nil, wants(-1, false), true, Attachment{}},
		{"of one that nodes serve", nil, ExecutorsWanted{OfApp: ledger.OfApp{App: "app-2"}, Count: 2}, true, Attachment{}},
		{"observed though nodes serve it", nil, observed("app-2", "so"), true, Attachment{}},
		{"of one that has ended", []ledger.Fact{ledger.ContextStopped{App: "app-1", At: 0}}, wants(3, false), true, Attachment{}},
	} {
		c := ledgertest.New(t, "a")
		s := ledgertest.Status("attaching", 1)
		s.Attach, s.Machine = true, "m"
		c.Know(ledger.NodeJoined{Node: "attaching", Incarnation: "attaching-1"}, ledger.NodeSaid{Status: s},
			ledger.Registered{ID: "app-1", Serial: 1, Promise: ledger.Promise{Start: c.Now},
				Tenant: ledger.Tenant{Launch: api.Launch{Attach: &api.Attach{Manager: api.ManagerYARN, App: "application_1", Least: 2, Most: 4}}}},
			ledger.ExecutorAttached{App: "app-1", ID: "1", Node: "attaching", Attached: ledger.Attached{Host: "h", Cores: 1}})
		c.App("app-2", "p", 0, "a")
		c.Know(x.before...)
		c.To(units.Seconds(7))
		a := c.View().App("app-1")
		err := c.Record(x.fact)
		if (err != nil) != x.impossible || !reflect.DeepEqual(AttachmentOf(a), x.has) || a.Observed() != (x.has.Observed != "") {
			t.Errorf("%s: %v, %+v", x.name, err, AttachmentOf(a))
		}
		e := c.Close()
		if fault := c.Audit(); fault != "" || x.impossible && len(e.Pairs)+len(e.Plans)+len(e.Directives) > 0 {
			t.Errorf("%s: %s, %+v", x.name, fault, e)
		}
		if d := a.Directive; a.Running() && (d.Wanted != x.has.Wanted || !reflect.DeepEqual(d.WantedOn, x.has.On)) {
			t.Errorf("%s: its driver is to ask for %d on %v", x.name, d.Wanted, d.WantedOn)
		}
		if f, is := x.fact.(AttachedObserved); is && !x.impossible {
			if len(e.Plans) != 1 || (e.Plans[0].Apps[0].Launch.Mode == api.ModeObserve) != (f.Because != "") {
				t.Errorf("%s: its node is told %+v", x.name, e.Plans)
			}
		}
	}
}
