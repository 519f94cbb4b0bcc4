package planner_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// versions are those of a profile, the newest first.
func (w *world) versions(name string) (numbers []int) {
	w.Helper()
	h := w.control(api.VerbVersions, api.ControlRequest{Profile: name}).History
	if h == nil {
		return nil
	}
	for _, v := range h.Versions {
		numbers = append(numbers, v.Number)
	}
	return numbers
}

// longer is the chain whose first stage takes by times its work and time.
func longer(by float64) api.Profile {
	p := chain("p")
	p.Stages = slices.Clone(p.Stages)
	s := &p.Stages[0]
	s.CoreSeconds, s.Duration, s.NominalRate = s.CoreSeconds*units.Work(by), s.Duration*units.Seconds(by), s.NominalRate/units.Rate(by)
	return p
}

// Each profile that is put, and each run that teaches, makes a version. The old ones are kept to the letter, by the next
// planner, too, and what has changed is said in words.
func TestNothingIsOverwrittenSilently(t *testing.T) {
	w := newWorld(t, "a")
	first, second := chain("p"), longer(2)
	for i, body := range []api.Profile{first, second} {
		want := []string{"put as version 1: 3 stages", "put as version 2: 3 stages"}[i]
		if r := w.control(api.VerbProfilePut, api.ControlRequest{Body: &body}); r.Error != nil || !strings.Contains(r.Message, want) {
			t.Fatalf("%+v", r)
		}
	}
	r := registration("p", 0)
	r.Watched = true
	w.run(r, "read", "map", "sum")
	w.control(api.VerbExit, api.ControlRequest{Submission: r.Submission, Elapsed: 23})
	w.pass(3 * time.Second)
	for range 2 {
		h := w.control(api.VerbVersions, api.ControlRequest{Profile: "p"}).History
		if h == nil || len(h.Versions) != 3 || h.Versions[0].How != "merged" || h.Versions[0].By == "" || h.Versions[0].Since.IsZero() {
			t.Fatalf("%+v", h)
		}
		for number, want := range map[int]api.Profile{1: first, 2: second} {
			got := w.control(api.VerbProfile, api.ControlRequest{Profile: "p", Query: &api.Query{To: number}}).Profiles
			if len(got) != 1 || !cmp.Equal(got[0], want) {
				t.Errorf("version %d: %s", number, cmp.Diff([]api.Profile{want}, got))
			}
		}
		d := w.control(api.VerbVersions, api.ControlRequest{Profile: "p", Query: &api.Query{From: 1, To: 2}}).History.Diff
		if d == nil || d.From != 1 || d.To != 2 || !slices.Contains(d.Said, "stage 0 (read): twice the work") {
			t.Errorf("%+v", d)
		}
		if d := w.control(api.VerbVersions, api.ControlRequest{Profile: "p", Query: &api.Query{}}).History.Diff; d.From != 2 || d.To != 3 {
			t.Errorf("%+v", d)
		}
		w.restart()
	}
	if r := w.control(api.VerbProfile, api.ControlRequest{Profile: "p", Query: &api.Query{To: 9}}); r.Error == nil || r.Error.Kind != api.KindNotFound || !strings.Contains(r.Error.Message, "there are 1, 2, 3") {
		t.Errorf("%+v", r.Error)
	}
	w.control(api.VerbProfileRm, api.ControlRequest{Profile: "p"})
	for key := range w.disk {
		if strings.HasPrefix(key, "facet/versions/") {
			t.Errorf("%s is left of a profile that was removed", key)
		}
	}
}

// A pinned version is what is planned with, whatever runs teach and whoever asks: a registration, a plan, the next
// planner. Runs go on teaching the newest.
func TestAPinnedVersionIsPlannedWith(t *testing.T) {
	w := newWorld(t, "a")
	w.put(longer(1))
	w.put(longer(4))
	earliest := func() units.Seconds {
		return w.step(planner.PlanQuery{To: 1, Request: api.PlanRequest{V: api.Version, Profile: "p", Deadline: 300}}).(api.PlanReply).Earliest
	}
	long := earliest()
	if r := w.control(api.VerbPin, api.ControlRequest{Profile: "p", Query: &api.Query{To: 1}}); r.Error != nil || !strings.Contains(r.Message, "version 1") {
		t.Fatalf("%+v", r)
	}
	short := earliest()
	if !(short < long-10) {
		t.Errorf("the pinned version takes %v, the newest %v", short, long)
	}
	for i := range 7 {
		r := registration("p", 0)
		r.Watched, r.Submission = true, "s-"+string(rune('0'+i))
		id := w.run(r, "read", "map", "sum")
		if got := w.e.View().App(id).Profile.Recorded.Stages[0].CoreSeconds; got != longer(1).Stages[0].CoreSeconds {
			t.Fatalf("run %d is planned with a stage of %v core-seconds", i, got)
		}
		w.control(api.VerbExit, api.ControlRequest{Submission: r.Submission, Elapsed: 23})
		w.pass(3 * time.Second)
		w.restart()
	}
	if got := w.versions("p"); !slices.Equal(got, []int{9, 8, 7, 6, 5, 1}) {
		t.Errorf("versions %v: the newest five and the pinned one are kept", got)
	}
	if p := w.stored("p"); p.Runs != longer(4).Runs+7 {
		t.Errorf("the newest is of %d runs", p.Runs)
	}
	if list := w.control(api.VerbProfiles, api.ControlRequest{}).Listed; len(list) != 1 || list[0].Version != 9 || list[0].Pinned != 1 {
		t.Errorf("%+v", list)
	}
	if got := earliest(); got != short {
		t.Errorf("the pinned version takes %v, it was %v", got, short)
	}
	if r := w.control(api.VerbPin, api.ControlRequest{Profile: "p", Query: &api.Query{To: 3}}); r.Error == nil || r.Error.Kind != api.KindNotFound {
		t.Errorf("a version that is gone is pinned: %+v", r)
	}
	w.control(api.VerbUnpin, api.ControlRequest{Profile: "p"})
	if got := earliest(); got == short {
		t.Error("it is still planned with the version that was pinned")
	}
	// A pin without a number is one of the version that is the newest now.
	w.control(api.VerbPin, api.ControlRequest{Profile: "p"})
	pinned := earliest()
	w.put(longer(8))
	if got := earliest(); got < pinned-1 || got > pinned+1 {
		t.Errorf("planned with %v, pinned is %v", got, pinned)
	}
}

// A planner that has versions goes on from a store that has none.
func TestAStoreWithoutVersionsIsRead(t *testing.T) {
	w := newWorld(t, "a")
	w.put(longer(1))
	maps.DeleteFunc(w.disk, func(key string, _ []byte) bool { return strings.HasPrefix(key, "facet/versions/") })
	w.restart()
	if got := w.versions("p"); got != nil || w.stored("p") == nil {
		t.Errorf("versions %v", got)
	}
	w.put(longer(2))
	if got := w.versions("p"); !slices.Equal(got, []int{2, 1}) {
		t.Errorf("versions %v", got)
	}
	if got := w.control(api.VerbProfile, api.ControlRequest{Profile: "p", Query: &api.Query{To: 1}}).Profiles; len(got) != 1 || !cmp.Equal(got[0], longer(1)) {
		t.Errorf("version 1 is %+v", got)
	}
}

// Only an operator pins what is everybody's, and nobody sees or pins another user's.
func TestWhoPins(t *testing.T) {
	w := newWorld(t, "a")
	body := chain("p")
	w.ask("ops", api.RoleOperate, api.VerbProfilePut, api.ControlRequest{Body: &body, Shared: true})
	own := chain("q")
	w.ask("ann", api.RoleSubmit, api.VerbProfilePut, api.ControlRequest{Body: &own})
	for _, verb := range []api.Verb{api.VerbPin, api.VerbUnpin} {
		for _, c := range []struct {
			user string
			role api.Role
			q    api.ControlRequest
			may  bool
		}{{"ann", api.RoleSubmit, api.ControlRequest{Profile: "p"}, false}, {"ops", api.RoleOperate, api.ControlRequest{Profile: "p"}, true},
			{"ann", api.RoleSubmit, api.ControlRequest{Profile: "q"}, true}, {"bob", api.RoleSubmit, api.ControlRequest{Profile: "q"}, false},
			{"bob", api.RoleSubmit, api.ControlRequest{Profile: "q", Owner: "ann"}, false}, {"ann", api.RoleView, api.ControlRequest{Profile: "q"}, false}} {
			if r := w.ask(c.user, c.role, verb, c.q); (r.Error == nil) != c.may {
				t.Errorf("%s, who may %s: %s of %+v: %v", c.user, c.role, verb, c.q, r.Error)
			}
		}
	}
	if r := w.ask("bob", api.RoleSubmit, api.VerbVersions, api.ControlRequest{Profile: "q"}); r.Error == nil {
		t.Errorf("bob is shown ann's versions: %+v", r.History)
	}
}

// While the disk is full a profile is not put, and the version that was stored before is read by the next planner. Two
// that are put at once are both kept.
func TestVersionsOnADiskThatIsFull(t *testing.T) {
	withLoop(t, func(l *planner.Loop, p *ports, stop func()) {
		put := func(body api.Profile) (r api.ControlReply) {
			l.Control(api.Principal{}, api.VerbProfilePut, api.ControlRequest{V: api.Version, Body: &body}, func(a api.ControlReply) { r = a })
			return r
		}
		put(longer(1))
		synctest.Wait()
		kept := maps.Clone(p.disk)
		p.fail(errors.New("no space left on device"), nil)
		var full api.ControlReply
		body := longer(2)
		l.Control(api.Principal{}, api.VerbProfilePut, api.ControlRequest{V: api.Version, Body: &body}, func(a api.ControlReply) { full = a })
		synctest.Wait()
		if full.Error == nil || full.Error.Kind != api.KindTransient {
			t.Errorf("with a full disk: %+v", full)
		}
		if d := cmp.Diff(kept, p.disk); d != "" {
			t.Errorf("the store has changed: %s", d)
		}
		next := reopened(t, p.disk)
		if got := next.stored("p"); got == nil || got.Stages[0].CoreSeconds != longer(1).Stages[0].CoreSeconds {
			t.Errorf("the next planner reads %+v", got)
		}
		p.fail(nil, nil)
		time.Sleep(time.Second)
		synctest.Wait()
		put(longer(3))
		put(longer(4)) // Before the loop has stored the one before.
		synctest.Wait()
		next = reopened(t, p.disk)
		versions := next.versions("p")
		for i, want := range []float64{4, 3} {
			got := next.control(api.VerbProfile, api.ControlRequest{Profile: "p", Query: &api.Query{To: versions[i]}}).Profiles
			if len(got) != 1 || got[0].Stages[0].CoreSeconds != longer(want).Stages[0].CoreSeconds {
				t.Errorf("version %d of %v: %+v", versions[i], versions, got)
			}
		}
	})
}

// Versions are packed beside the loop, those of runs and those that users put, whichever comes first. The loop's steps
// alone pack none, and keep them whole.
func TestVersionsArePackedBesideTheLoop(t *testing.T) {
	withLoop(t, func(l *planner.Loop, p *ports, stop func()) {
		put := func(body api.Profile, user string) {
			var r api.ControlReply
			l.Control(api.Principal{Kind: api.PrincipalUser, Name: user, Role: api.RoleOperate}, api.VerbProfilePut,
				api.ControlRequest{V: api.Version, Body: &body}, func(a api.ControlReply) { r = a })
			synctest.Wait()
			if r.Error != nil {
				t.Fatal(r.Error)
			}
		}
		put(longer(1), "ann")
		put(longer(2), "ann")
		bad := longer(3)
		bad.Stages = nil
		var refused api.ControlReply
		l.Control(api.Principal{}, api.VerbProfilePut, api.ControlRequest{V: api.Version, Body: &bad}, func(a api.ControlReply) { refused = a })
		synctest.Wait()
		if refused.Error == nil || refused.Error.Kind != api.KindInvalid {
			t.Errorf("a profile without stages: %+v", refused)
		}
		if s := string(p.disk["facet/versions/p/ann"]); strings.Count(s, `"body"`) != 2 || strings.Contains(s, `"whole"`) {
			t.Errorf("stored is %s", s)
		}
	})
	w := newWorld(t, "a")
	for _, by := range []float64{1, 2} {
		body := longer(by)
		w.control(api.VerbProfilePut, api.ControlRequest{Body: &body})
	}
	const key = "facet/versions/p"
	if s := string(w.disk[key]); strings.Contains(s, `"body"`) || strings.Count(s, `"whole"`) != 1 {
		t.Errorf("stored is %s", s)
	}
	// The shell of a planner that goes on from there packs what the next run leaves unpacked.
	withLoopOn(t, w.disk, func(l *planner.Loop, p *ports, stop func()) {
		body := longer(3)
		l.Control(api.Principal{}, api.VerbProfilePut, api.ControlRequest{V: api.Version, Body: &body}, func(api.ControlReply) {})
		synctest.Wait()
		if s := string(p.disk[key]); strings.Count(s, `"body"`) != 3 || strings.Contains(s, `"whole"`) {
			t.Errorf("stored is %s", s)
		}
	})
}

// reopened is a world whose planner goes on from a store.
func reopened(t *testing.T, disk map[string][]byte) *world {
	t.Helper()
	w := newWorld(t)
	w.disk = maps.Clone(disk)
	w.restart()
	return w
}
