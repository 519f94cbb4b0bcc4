package planner

import (
	"fmt"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// served lets a line's requests be taken one after the other for a time, of which each takes what takes says; send is
// called between them. It returns what each login had of the time, and how long ann waited at most.
func served(takes map[string]time.Duration, most time.Duration, send func(l *line, now time.Duration)) (had map[string]time.Duration, waited time.Duration) {
	l, now := newLine(), time.Duration(0)
	had = map[string]time.Duration{}
	for now < most {
		send(&l, now)
		r, ok, wait := l.next(now)
		if !ok {
			if wait == 0 || wait > time.Millisecond {
				wait = time.Millisecond
			}
			now += wait
			continue
		}
		if r.login == "ann" {
			waited = max(waited, now-time.Duration(r.since.Nanoseconds()))
		}
		now += takes[r.login]
		had[r.login] += takes[r.login]
		l.spend(r.login, now, takes[r.login])
	}
	return had, waited
}

// Whatever a principal's requests take of the loop, and however many it sends, it has its part of the time, and
// another's wait for one of them at most.
func TestAttackTheTimeOfTheLoop(t *testing.T) {
	for name, each := range map[string]time.Duration{
		"deadlines moved beside 40 that wait": 487 * time.Millisecond, "registrations with 2,000 stages": 26 * time.Millisecond,
		"profiles of 2,000 stages": 23 * time.Millisecond, "batches of 1,000 stages": 118 * time.Millisecond, "killing again and again": time.Millisecond,
	} {
		t.Run(name, func(t *testing.T) {
			const most = time.Minute
			asked := time.Duration(-1)
			had, waited := served(map[string]time.Duration{"mallory": each, "ann": time.Millisecond}, most, func(l *line, now time.Duration) {
				for l.add(request{login: "mallory", weight: 1, since: now}, now) == nil {
				}
				if now > asked {
					if err := l.add(request{login: "ann", weight: 1, since: now}, now); err != nil {
						t.Fatal(err)
					}
					asked = now + 20*time.Millisecond
				}
			})
			if part := shareBurst + time.Duration(shareSecond.Seconds()*float64(most)) + each; each > cheap && had["mallory"] > part {
				t.Errorf("mallory has %v of %v, want at most %v", had["mallory"], most, part)
			}
			if waited > each+2*time.Millisecond {
				t.Errorf("ann waits %v for requests that take %v", waited, each)
			}
			if had["ann"] == 0 || had["mallory"] == 0 {
				t.Errorf("somebody is not served: %v", had)
			}
		})
	}
}

// However many applications a user has, another's request waits for one of theirs.
func TestAttackTurnsOfManyApplications(t *testing.T) {
	l := newLine()
	for i := range 500 {
		for range 3 {
			if err := l.add(request{login: fmt.Sprint("app-", i), owner: "user-mallory", weight: 1}, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, login := range []string{"user-ann", "app-hers"} {
		for range 100 {
			if err := l.add(request{login: login, owner: "user-ann", weight: 1}, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	had := map[string]int{}
	for i := range 400 {
		r, ok, _ := l.next(0)
		if had[r.login]++; !ok {
			t.Fatal("nothing waits")
		}
		if i%2 == 1 && r.owner != "user-ann" || i%4 == 3 && r.login != "app-hers" {
			t.Fatalf("turn %d is %s's", i, r.login)
		}
	}
	if had["app-0"] != 1 || had["app-199"] != 1 || had["app-200"] != 0 {
		t.Errorf("mallory's do not take turns: %v", had)
	}
	if left := len(l.all()); left != 1700-400 || len(l.owners)+len(l.turns) != 0 {
		t.Errorf("%d are left", left)
	}
}

// However much a principal sends, a bounded part of it waits, of a kind that counts as much as it is.
func TestAttackTheQueueBeforeTheLoop(t *testing.T) {
	for name, c := range map[string]struct{ weight, want int }{
		"small requests": {1, mostWeight}, "profiles": {mostWeight / 4, 4}, "batches of 1,000 events": {1 + 1000/4, 4}, "statuses": {mostWeight / 16, 16},
	} {
		t.Run(name, func(t *testing.T) {
			l, taken := newLine(), 0
			for range 10_000 {
				err := l.add(request{login: "mallory", weight: c.weight, urgent: name == "statuses"}, 0)
				if err == nil {
					taken++
				} else if api.KindOf(err) != api.KindTransient {
					t.Fatal(err)
				}
			}
			if taken != c.want {
				t.Errorf("%d wait, want %d", taken, c.want)
			}
			for _, by := range []string{"ann", own} {
				if err := l.add(request{login: by, weight: 1}, 0); err != nil {
					t.Errorf("%s: %v", by, err)
				}
			}
			for taken = 0; ; taken++ {
				if _, ok, _ := l.next(0); !ok {
					break
				}
			}
			if taken != c.want+2 || l.of["mallory"].weight != 0 {
				t.Errorf("%d are taken out, %d of mallory's weight is left", taken, l.of["mallory"].weight)
			}
		})
	}
}

// Statuses and heartbeats come before all requests that wait, and a heartbeat not before what its driver has said.
func TestAttackAHeartbeatBehindOthersRequests(t *testing.T) {
	l := newLine()
	add := func(login string, weight int, urgent bool) {
		t.Helper()
		if err := l.add(request{login: login, weight: weight, urgent: urgent}, 0); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 {
		add("mallory", 1, false)
		add(fmt.Sprint("app-", i), 251, false)
	}
	add("app-7", 1, true)
	add("hers", 1, true)
	add("node-a", mostWeight/16, true)
	var order []string
	for {
		r, ok, _ := l.next(0)
		if !ok {
			break
		}
		order = append(order, r.login)
	}
	if order[0] != "hers" || order[1] != "node-a" {
		t.Errorf("first come %v", order[:4])
	}
	at := -1
	for i, login := range order {
		if login == "app-7" {
			if at >= 0 {
				return
			}
			at = i
		}
	}
	t.Errorf("app-7's heartbeat does not come after its batch: %v", order)
}

// Logins that have come and gone take no memory, and one that is in debt is not forgotten.
func TestAttackManyLogins(t *testing.T) {
	l, now := newLine(), time.Duration(0)
	l.spend("mallory", now, time.Hour)
	for i := range 5 * leastShares {
		login := fmt.Sprint("app-", i)
		if err := l.add(request{login: login, weight: 1}, now); err != nil {
			t.Fatal(err)
		}
		if _, ok, _ := l.next(now); !ok {
			t.Fatal("it is not served")
		}
		l.spend(login, now, time.Millisecond)
		now += time.Second
	}
	if len(l.of) > 2*leastShares || l.of["mallory"] == nil {
		t.Errorf("%d are remembered, mallory %v", len(l.of), l.of["mallory"])
	}
}

// A request weighs by its bytes: what of it waits takes no more than a few megabytes of a principal.
func TestAttackLargeRequestsThatWait(t *testing.T) {
	e, err := New(Default(), nil)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for i := range 8000 {
		env[fmt.Sprintf("%07x", i)] = ""
	}
	bindings := make([]api.Binding, 1000)
	for name, c := range map[string]struct {
		send func(l *Loop, refused func(*api.Error))
		most int
	}{
		"registrations of 8,000 variables": {func(l *Loop, refused func(*api.Error)) {
			l.Register(api.Principal{Kind: api.PrincipalUser, Name: "mallory"}, api.RegisterRequest{Launch: api.Launch{Env: env}}, func(r api.RegisterReply) { refused(r.Error) })
		}, 16},
		"registrations": {func(l *Loop, refused func(*api.Error)) {
			l.Register(api.Principal{Kind: api.PrincipalUser, Name: "mallory"}, api.RegisterRequest{}, func(r api.RegisterReply) { refused(r.Error) })
		}, mostWeight},
		"batches of many bindings": {func(l *Loop, refused func(*api.Error)) {
			l.Events(api.Events{Events: []api.Event{{Stage: &api.StageReady{Bindings: bindings}}}}, func(r api.EventsReply) { refused(r.Error) })
		}, 64},
		"batches of 1,000 events": {func(l *Loop, refused func(*api.Error)) {
			l.Events(api.Events{Events: make([]api.Event, 1000)}, func(r api.EventsReply) { refused(r.Error) })
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			l, taken := NewLoop(e, slowPlans{}, noStore{}, nil), mostWeight+1
			for range mostWeight + 1 {
				c.send(l, func(err *api.Error) {
					if taken--; api.KindOf(err) != api.KindTransient {
						t.Fatal(err)
					}
				})
			}
			if taken > c.most || taken < c.most/2 {
				t.Errorf("%d wait, want %d", taken, c.most)
			}
		})
	}
}
