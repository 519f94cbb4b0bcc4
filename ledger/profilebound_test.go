package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// shelf is a ledger with bounds, and what it has saved.
type shelf struct {
	*testing.T
	*ledger.Ledger
	cfg  ledger.Config
	now  units.Instant
	disk map[string][]byte
}

func (s *shelf) know(after time.Duration, f ledger.Fact) {
	s.Helper()
	s.now = s.now.Add(after)
	s.Begin(s.now)
	if err := s.Record(f); err != nil {
		s.Fatal(err)
	}
	for _, p := range s.Close().Pairs {
		if s.disk[p.Key] = p.Value; p.Value == nil {
			delete(s.disk, p.Key)
		}
	}
}

func (s *shelf) store(after time.Duration, owner, name string) {
	s.Helper()
	body := ledgertest.Chain(name)
	body.Owner = owner
	s.know(after, ledger.ProfileSaved{Body: body})
}

func (s *shelf) restart() {
	s.Helper()
	var pairs []api.Pair
	for key, value := range s.disk {
		pairs = append(pairs, api.Pair{Key: key, Value: value})
	}
	l, err := ledger.New(s.cfg, pairs)
	if err != nil {
		s.Fatal(err)
	}
	s.Ledger = l
}

func newShelf(t *testing.T, cfg ledger.Config) *shelf {
	t.Helper()
	cfg.Beta, cfg.History = 1, 10
	s := &shelf{T: t, cfg: cfg, disk: map[string][]byte{}}
	s.restart()
	return s
}

// However many names there are, profiles keep to their bounds: those that were used least recently
// go, in memory and in the store, and one user's do not push out another's.
func TestProfilesAreBounded(t *testing.T) {
	s := newShelf(t, ledger.Config{Profiles: 100, ProfileBytes: 1 << 20})
	s.store(time.Second, "ann", "hers")
	for i := range 20_000 {
		s.store(time.Second, "bob", fmt.Sprintf("job-%d", i))
	}
	if n := len(s.View().Profiles()); n != 26 {
		t.Errorf("%d profiles are kept, want bob's 25 and ann's", n)
	}
	if s.View().ProfileOf("ann", "hers") == nil || s.View().ProfileOf("bob", "job-19999") == nil {
		t.Error("ann's has gone, or bob's newest")
	}
	if n := len(s.disk); n > 30 {
		t.Errorf("%d keys are stored", n)
	}
	for i := range 200 {
		s.store(time.Second, fmt.Sprintf("user-%d", i), "p")
	}
	s.restart()
	s.store(time.Second, "eve", "p")
	if n := len(s.View().Profiles()); n != 100 || s.View().ProfileOf("ann", "hers") != nil {
		t.Errorf("%d profiles are kept of all", n)
	}
	// By bytes, though one is larger than all of them.
	s = newShelf(t, ledger.Config{Profiles: 1000, ProfileBytes: 20_000})
	for i := range 100 {
		s.store(time.Second, fmt.Sprintf("user-%d", i), "p")
	}
	bytes := 0
	for key, value := range s.disk {
		if len(key) > 8 && key[:8] == "profile/" {
			bytes += len(value)
		}
	}
	if n := len(s.View().Profiles()); bytes > 20_000 || n < 5 {
		t.Errorf("%d profiles of %d bytes", n, bytes)
	}
	s.cfg.ProfileBytes = 1
	s.restart()
	s.store(time.Second, "eve", "large")
	if n := len(s.View().Profiles()); n != 1 || s.View().ProfileOf("eve", "large") == nil {
		t.Errorf("%d profiles", n)
	}
}

// A match is a use, which survives a restart; what nobody has used for long goes.
func TestAProfileThatNobodyUsesGoes(t *testing.T) {
	const day = 24 * time.Hour
	s := newShelf(t, ledger.Config{Profiles: 100, ProfileBytes: 1 << 20, ProfileAge: 30 * day})
	s.store(day, "ann", "used")
	s.store(0, "ann", "unused")
	old := ledgertest.Chain("old") // As an earlier planner has stored it, without a use.
	body, err := old.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s.disk["profile/old"] = body
	s.know(20*day, ledger.Registered{ID: "app-1", Name: "used", Serial: 1, Matched: true,
		Tenant: ledger.Tenant{Owner: ledger.Owner{User: "ann"}}, Promise: ledger.Promise{Profile: "used", Mode: ledger.Recording}})
	s.restart()
	s.store(20*day, "bob", "other")
	for profile, kept := range map[[2]string]bool{{"ann", "used"}: true, {"ann", "unused"}: false, {"bob", "other"}: true, {"", "old"}: true} {
		if got := s.View().ProfileOf(profile[0], profile[1]) != nil; got != kept {
			t.Errorf("profile %v is kept: %v", profile, got)
		}
	}
}

// The queue goes on to learn however many names there were: the oldest go.
func TestWhatTheQueueLearnsIsBounded(t *testing.T) {
	s := newShelf(t, ledger.Config{})
	for i := range 3000 {
		s.know(0, ledger.QueueLearnt{Key: fmt.Sprintf("job-%d", i), State: []byte("1")})
		s.know(0, ledger.QueueLearnt{Key: "nightly", State: []byte("2")})
		if i == 2000 {
			s.restart()
		}
	}
	v, kept := s.View(), 0
	for i := range 3000 {
		if v.Learnt(fmt.Sprintf("job-%d", i)) != nil {
			kept++
		}
	}
	if kept != 999 || v.Learnt("nightly") == nil || v.Learnt("job-2999") == nil || len(s.disk) > 1002 {
		t.Errorf("%d names and %d keys are kept", kept, len(s.disk))
	}
}

// Stored profiles have no graphs, which are as large, and what they were read from is not kept beside them. Their runs
// share a graph.
func TestStoredProfilesTakeLittleMemory(t *testing.T) {
	l, d, know := marked(t)
	pairs := d.pairs()
	again := newLedger(t, pairs...)
	for _, p := range pairs {
		if p.Value != nil {
			t.Errorf("the value of %s is kept beside what was read from it", p.Key)
		}
	}
	for _, v := range []ledger.View{l.View(), again.View(), l.View().Snapshot()} {
		p := v.ProfileOf("ann", "q")
		if g := p.Drawn().Graph; p.Graph != nil || g == nil || len(g.Stages()) != len(p.Body.Stages) {
			t.Errorf("stored with %p, drawn as %p", p.Graph, g)
		}
	}
	graph := func(id api.AppID) *dag.Graph {
		know(ledger.Registered{ID: id, Name: "q", Serial: l.View().Serial() + 1, Matched: true, Tenant: ledger.Tenant{Owner: ledger.Owner{User: "ann"}},
			Promise: ledger.Promise{Profile: "q", Deadline: 100, Mode: ledger.Paced}})
		return l.View().App(id).Profile.Graph
	}
	one, two := graph("app-7"), graph("app-8")
	know(ledger.ProfileSaved{Body: owned()})
	if three := graph("app-9"); one == nil || one != two || three == one {
		t.Errorf("graphs %p and %p of a profile, %p of the next one", one, two, three)
	}
}
