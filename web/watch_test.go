package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// running is an application that has used so much.
func running(id int, work float64) api.AppSummary {
	a := full().AppSummary
	a.ID, a.CoreSeconds = api.AppID(fmt.Sprintf("app-%d", id)), 0
	a.CoreSeconds = a.CoreSeconds + 1
	a.QuotaChanges = int(work)
	return a
}

// Who looks sees a snapshot, then what changes: a row that is another one, one that comes and one that goes.
func TestWhoLooksSeesWhatThereIsAndWhatChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.planner.look = func(n int) (api.Changes, bool) {
			switch n {
			case 1:
				return api.Changes{Cores: &api.CoresHistory{V: 1, Step: 1, Points: 1, Offered: api.Column{4}}, IDs: []api.AppID{"app-1", "app-2"}, Apps: []api.AppSummary{running(1, 1), running(2, 1)},
					Nodes: []api.NodeSummary{{Node: "a", State: "ready"}, {Node: "b", State: "ready"}}}, true
			case 2:
				a := running(2, 2)
				a.Queue, a.Deadline = nil, 0 // What was known is not any more.
				return api.Changes{IDs: []api.AppID{"app-2", "app-3"}, Apps: []api.AppSummary{a, running(3, 1)},
					Nodes: []api.NodeSummary{{Node: "b", State: "lost"}}}, true
			}
			return api.Changes{IDs: []api.AppID{"app-2", "app-3"}, Nodes: []api.NodeSummary{{Node: "b", State: "lost"}}}, true
		}
		s, _ := w.subscribe(w.mine())
		apps := func() string {
			text := ""
			for _, id := range []string{"app-1", "app-2", "app-3"} {
				if a, ok := s.state["applications"].(map[string]any)[id].(map[string]any); ok {
					text += fmt.Sprint(id, " ", a["quota_changes"], " ", a["deadline_s"], " ", a["queue"] != nil, "; ")
				}
			}
			for id, n := range s.state["nodes"].(map[string]any) {
				text += id + " " + n.(map[string]any)["state"].(string) + " "
			}
			return text
		}
		s.next()
		if cores := s.state["cores"].(map[string]any); !sameJSON(cores["offered_cores"], []int{4}) {
			t.Errorf("cores: %v", cores)
		}
		if got := apps(); !strings.HasPrefix(got, "app-1 1 1.5 true; app-2 1 1.5 true; ") {
			t.Error(got)
		}
		for range 2 {
			s.next()
			if got := apps(); got != "app-2 2 <nil> false; app-3 1 1.5 true; b lost " {
				t.Error(got)
			}
		}
		if got := fmt.Sprint(s.names, s.ids, w.planner.since[:3]); got != "[snapshot change change] [1 2 3] [0 1 2]" {
			t.Error(got)
		}
		if a := s.state["applications"].(map[string]any)["app-3"].(map[string]any); a["duration_s"] != nil || a["submission"] == "" {
			t.Errorf("a running application: %v", a)
		}
	})
}

// However many look, the planner is asked once a second, and not at all when nobody does.
func TestThePlannerIsAskedOnceASecondHoweverManyLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		time.Sleep(time.Minute)
		if n := w.planner.asks(); n != 0 {
			t.Errorf("asked %d times while nobody looked", n)
		}
		var all []*subscriber
		for range 20 {
			s, _ := w.subscribe(w.mine())
			all = append(all, s)
			go func() {
				for s.next() {
				}
			}()
			time.Sleep(100 * time.Millisecond)
		}
		before := w.planner.asks()
		time.Sleep(time.Minute)
		if n := w.planner.asks() - before; n < 59 || n > 61 { // The first and the last moment may each have one.
			t.Errorf("asked %d times in a minute by 20", n)
		}
		for _, s := range all {
			s.leave()
		}
		time.Sleep(2 * time.Second)
		before = w.planner.asks()
		time.Sleep(time.Minute)
		if n := w.planner.asks() - before; n != 0 {
			t.Errorf("asked %d times after all had left", n)
		}
		for range 5 { // Who comes and goes does not have it asked more often.
			s, _ := w.subscribe(w.mine())
			s.next()
			s.leave()
			synctest.Wait()
		}
		looks := w.planner.looks
		for i := 1; i < len(looks); i++ {
			if gap := looks[i].Sub(looks[i-1]); gap < time.Second {
				t.Errorf("asked again after %v", gap)
			}
		}
	})
}

// Who has missed a change gets the whole again, and nobody waits for it.
func TestWhoMissesAChangeGetsASnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.planner.look = func(n int) (api.Changes, bool) {
			return api.Changes{IDs: []api.AppID{"app-1"}, Apps: []api.AppSummary{running(1, float64(n))}}, true
		}
		slow, _ := w.subscribe(w.mine())
		fast, _ := w.subscribe(w.mine())
		slow.next()
		fast.next()
		for range 8 { // The slow one reads nothing for eight seconds.
			fast.next()
		}
		slow.next() // What was under way.
		slow.next()
		if got := slow.names[len(slow.names)-1]; got != "snapshot" || !sameJSON(slow.state, fast.state) {
			t.Errorf("%v: %v, want %v", slow.names, slow.state, fast.state)
		}
		if got := strings.Join(fast.names[1:], ""); got != strings.Repeat("change", 8) {
			t.Error(got)
		}
		// One that reads nothing at all is let go.
		dead, _ := w.subscribe(w.mine())
		go func() {
			for fast.next() {
			}
		}()
		go func() {
			for slow.next() {
			}
		}()
		time.Sleep(30 * time.Second)
		dead.next()
		for dead.next() {
		}
		if len(dead.names) > 2 {
			t.Errorf("it was sent %v", dead.names)
		}
	})
}

// One principal has 8 streams at most, and all of them 100: those that leave make room.
func TestAttackStreamsWithoutEnd(t *testing.T) {
	t.Run("of one user", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			viv := api.Principal{Kind: api.PrincipalUser, Name: "viv", Role: api.RoleView}
			w.known[viv.Login()] = viv
			taken := 0
			for range 100 {
				s, status := w.subscribe(w.tokenOf(viv))
				if status == http.StatusOK {
					taken++
				} else if detail := fmt.Sprint(s.ended["detail"]); status != 503 || detail != "8 pages of user-viv look at this planner already: close one of them" {
					t.Fatalf("%d %v", status, s.ended)
				}
			}
			if taken != 8 {
				t.Errorf("%d streams of one user", taken)
			}
			if s, status := w.subscribe(w.mine()); status != http.StatusOK {
				t.Errorf("another one: %d %v", status, s.ended)
			}
		})
	})
	t.Run("of many users", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			for i := range 13 {
				one := api.Principal{Kind: api.PrincipalUser, Name: fmt.Sprint("u", i), Role: api.RoleView}
				w.known[one.Login()] = one
				for k := range 8 {
					s, status := w.subscribe(w.tokenOf(one))
					if n := i*8 + k; n < 100 && status != http.StatusOK {
						t.Fatalf("stream %d: %d %v", n, status, s.ended)
					} else if detail := fmt.Sprint(s.ended["detail"]); n >= 100 && (status != 503 || detail != "100 pages look at this planner already: close one of them") {
						t.Fatalf("stream %d: %d %v", n, status, s.ended)
					}
				}
			}
		})
	})
}

// A planner that does not answer is a stream that goes on; a comment says that somebody is there.
func TestAStreamOutlastsAPlannerThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.planner.look = func(n int) (api.Changes, bool) { return api.Changes{}, n == 1 || n > 4 }
		s, _ := w.subscribe(w.mine())
		began := time.Now()
		for range 5 {
			s.next()
		}
		if got := strings.Join(s.names, " "); got != "snapshot comment comment comment change" {
			t.Errorf("%s in %v", got, time.Since(began))
		}
		w.planner.mu.Lock()
		w.planner.look = func(int) (api.Changes, bool) {
			return api.Changes{Error: api.Errorf(api.KindTransient, "too many questions")}, true
		}
		w.planner.mu.Unlock()
		if s.next(); s.names[len(s.names)-1] != "comment" {
			t.Error(s.names)
		}
	})
}

// A stream ends with one line that says why: the planner stands by, the session has ended, the server stops.
func TestAStreamSaysWhyItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		token := w.begin()
		end := func(what func(), want string) {
			t.Helper()
			s, _ := w.subscribe(token)
			s.next()
			what()
			for s.ended == nil && s.next() {
			}
			if s.ended["detail"] != want || s.next() {
				t.Errorf("%v, want %s", s.ended, want)
			}
		}
		end(func() {
			w.mu.Lock()
			w.away = api.Errorf(api.KindTransient, "this planner stands by")
			w.mu.Unlock()
		}, "this planner stands by")
		w.mu.Lock()
		w.away = nil
		w.mu.Unlock()
		time.Sleep(2 * time.Second)
		end(func() { w.Sessions.End(ann.Login()) }, "no such session or token is known, or it has ended: `pacer web` begins a session, `pacer auth token` prints a token")
		token = w.begin()
		end(w.Server.Close, "the planner stops")
	})
}

// A page that is open for a week ends with its session, and until then nothing grows stale.
func TestAPageThatIsOpenForAWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s, _ := w.subscribe(w.begin())
		began := time.Now()
		for s.lines.Scan() && s.lines.Text() != "event: end" {
		}
		s.lines.Scan()
		s.lines.Scan()
		s.take("end", strings.TrimPrefix(s.lines.Text(), "data: "))
		if took := time.Since(began); took < 12*time.Hour-2*time.Second || took > 12*time.Hour+2*time.Second || s.ended["status"] != 401.0 {
			t.Errorf("after %v: %v", took, s.ended)
		}
	})
}
