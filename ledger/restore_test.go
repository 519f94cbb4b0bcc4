package ledger_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// disk is what a ledger has stored.
type disk map[string]string

func (d disk) take(e ledger.Effects) {
	for _, p := range e.Pairs {
		if delete(d, p.Key); p.Value != nil {
			d[p.Key] = string(p.Value)
		}
	}
}

// pairs are those that are read at a start.
func (d disk) pairs() []api.Pair {
	var pairs []api.Pair
	for _, key := range slices.Sorted(maps.Keys(d)) {
		if slices.ContainsFunc(ledger.Prefixes(), func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			pairs = append(pairs, api.Pair{Key: key, Value: []byte(d[key])})
		}
	}
	return pairs
}

// stored is what a ledger has that knows applications which run, wait and are over, a profile, and
// what the queue has learnt.
func stored(t *testing.T) disk {
	t.Helper()
	d := disk{}
	l, effects := at(t, append(facts(), ledger.ProfileSaved{Body: ledgertest.Chain("q")}, ledger.QueueLearnt{Key: "q", State: []byte("{}")},
		ledger.Registered{ID: "app-2", Name: "q", Serial: 2, Matched: true, Promise: ledger.Promise{Profile: "q", Deadline: 100, Mode: ledger.Paced}},
		ledger.Registered{ID: "app-3", Name: "q", Serial: 3, Queued: true},
		ledger.Registered{ID: "app-4", Name: "q", Serial: 4}, ledger.ContextStopped{App: "app-4", At: 1})...)
	d.take(effects)
	if err := l.Record(ledger.Archived{App: "app-4", Detail: api.AppDetail{AppSummary: api.AppSummary{ID: "app-4", State: api.AppFinished}},
		Run: ledger.Run{App: "app-4", Profile: "q", State: api.AppFinished}}); err != nil {
		t.Fatal(err)
	}
	d.take(l.Close())
	return d
}

// A record that cannot be read keeps no planner from starting: it is set aside with a line, whatever
// it is about is gone or comes back, and all else is there. The next start has nothing to say.
func TestARecordThatCannotBeReadIsSetAside(t *testing.T) {
	for key := range stored(t) {
		if key == "planner/epoch" || strings.HasPrefix(key, "queue/") {
			continue // Epochs are given once. What the queue has learnt the queue reads.
		}
		for _, bad := range []string{"", "{", "[]", "\x00"} {
			d := stored(t)
			d[key] = bad
			l, err := ledger.New(config(), d.pairs())
			if err != nil {
				t.Errorf("%s is %q: %v", key, bad, err)
				continue
			}
			effects := l.Close()
			if d.take(effects); len(effects.Faults) != 1 || !strings.Contains(effects.Faults[0].Error(), key[:strings.IndexByte(key, '/')]) || d["aside/"+key] != bad {
				t.Errorf("%s is %q: %v, aside %q", key, bad, effects.Faults, d["aside/"+key])
			}
			l = newLedger(t, d.pairs()...)
			if effects = l.Close(); len(effects.Faults) > 0 {
				t.Errorf("%s is %q, at the next start: %v", key, bad, effects.Faults)
			}
			v, of := l.View(), strings.Split(key, "/")
			for _, id := range []api.AppID{"app-1", "app-2", "app-3"} {
				if there := v.App(id) != nil; there == (of[0] == "app" && of[1] == string(id)) {
					t.Errorf("%s is %q: %s is there: %v", key, bad, id, there)
				}
			}
			if (v.Profile("", "q") == nil) != (of[0] == "profile") || (v.EndedApp("app-4") == nil) != (of[0] == "history") || (len(slices.Collect(v.Runs())) == 0) != (of[0] == "runs") || v.Node("a") == nil {
				t.Errorf("%s is %q: %v, %v, %v", key, bad, v.Profile("", "q"), v.EndedApp("app-4"), v.Node("a"))
			}
			l.Begin(units.Instant(2 * time.Second))
			for _, f := range []ledger.Fact{ledger.NodeJoined{Node: "a", Incarnation: "a-1"}, ledger.NodeSaid{Status: status(1, 0)}} {
				if err := l.Record(f); err != nil {
					t.Errorf("%s is %q: %v", key, bad, err)
				}
			}
			if l.Close(); l.Audit() != "" {
				t.Errorf("%s is %q: %s", key, bad, l.Audit())
			}
		}
	}
}

// Applications that older releases let drivers name are there, or set aside where their name is no
// part of a key.
func TestAnApplicationOfAnyNameIsRestored(t *testing.T) {
	d := stored(t)
	record := d["app/app-3"]
	for _, id := range []string{"*", "user-ops", "evil/marks"} {
		d["app/"+id] = strings.Replace(record, "app-3", id, 1)
	}
	l := newLedger(t, d.pairs()...)
	v := l.View()
	if faults := l.Close().Faults; len(faults) != 2 || v.App("*") != nil || v.App("user-ops") == nil || v.App("app-3") == nil || v.App("evil") != nil {
		t.Errorf("%v, %d applications", faults, len(v.Apps()))
	}
}

// What another release has written is not touched, nor is a store without its counters.
func TestAnotherReleasesRecordsAreNotSetAside(t *testing.T) {
	for key, value := range stored(t) {
		if strings.HasPrefix(key, "queue/") || strings.HasPrefix(key, "profile/") {
			continue // They have versions of their own.
		}
		d := stored(t)
		d[key] = strings.Replace(value, `"v":6`, `"v":7`, 1)
		if _, err := ledger.New(config(), d.pairs()); d[key] != value && (err == nil || !strings.Contains(err.Error(), key[:strings.IndexByte(key, '/')]) ||
			!strings.Contains(err.Error(), "version 7, this planner reads 6: "+api.OtherRelease)) {
			t.Errorf("%s: %v", key, err)
		}
	}
	d := stored(t)
	d["planner/epoch"] = "{"
	if _, err := ledger.New(config(), d.pairs()); err == nil {
		t.Error("a ledger begins without its counters")
	}
}

// A record of an ended application had its line under another name.
func TestTheLineOfAnEarlierRecordIsTheHeadline(t *testing.T) {
	d := stored(t)
	d["history/app-4"] = strings.Replace(d["history/app-4"], `"name":`, `"outcome":"ended 2.0 s before 09:00:30","name":`, 1)
	l, err := ledger.New(ledger.Config{}, d.pairs())
	if err != nil {
		t.Fatal(err)
	}
	if got := l.View().EndedApp("app-4").Detail.Headline; got != "ended 2.0 s before 09:00:30" {
		t.Errorf("headline %q", got)
	}
}
