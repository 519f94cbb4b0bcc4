package node

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// owned is an application whose submission has that owner.
func owned(id api.AppID, owner string, executors ...api.ExecutorID) api.PlanApp {
	a := planApp(id, 4, executors)
	a.Launch.Owner = owner
	return a
}

// succeeding is a Plan of that planner in place of another one's.
func succeeding(planner, succeeds string, epoch uint64, apps ...api.PlanApp) api.Plan {
	p := of(planner, 1, epoch, apps...)
	p.Succeeds, p.Over = succeeds, []api.AppID{}
	return p
}

// A planner that has lost its state and succeeds the one that is gone, or a Plan that is
// empty for whatever reason, stops nothing at once: executors run on without targets, the
// node tells whose they are, and a Plan that names the application has them back.
func TestWhomThePlanDoesNotKnowRunsOn(t *testing.T) {
	for name, p := range map[string]api.Plan{
		"a planner without its state":   succeeding("second", "first", 1),
		"an empty Plan of the same one": func() api.Plan { p := of("first", 3, 11); p.Over = []api.AppID{}; return p }(),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, testConfig(4))
			mine := owned(appA, "me", "1")
			w.apply(of("first", 3, 9, mine))
			w.ticks(2)
			w.exec(Key{appA, "1"}).submit(0, 9000, 1)
			mine.Stages = []api.StageTarget{target(0, "1", 9000, 9000, 9000*time.Second, 1)}
			w.apply(of("first", 3, 10, mine))
			w.ticks(8)
			if q := w.exec(Key{appA, "1"}).quota; q > 1.5 {
				t.Fatalf("before, its quota is %v", q)
			}
			w.apply(p)
			if said := w.events(EventOrphaned); len(said) != 1 {
				t.Errorf("said %v", w.e.Events())
			}
			w.ticks(1000) // More than eight minutes.
			s := w.e.Status(w.now)
			if len(w.execs) != 1 || !w.exec(Key{appA, "1"}).quota.IsUnlimited() || len(s.Orphans) != 1 || s.Orphans[0] != (api.Orphan{App: appA, Owner: "me"}) || s.Planner != p.Planner {
				t.Fatalf("executors %v, status %+v", w.execs, s)
			}
			w.restart(testConfig(4)) // The next node controller knows it, too.
			w.ticks(2)
			if s := w.e.Status(w.now); len(w.execs) != 1 || len(s.Orphans) != 1 {
				t.Fatalf("after a restart: executors %v, status %+v", w.execs, s)
			}
			back := p
			back.Epoch++
			mine.Stages = []api.StageTarget{target(0, "1", 9000, 9000, 9000*time.Second, 1)}
			mine.Stages[0].Rev = 7
			back.Apps = []api.PlanApp{mine}
			w.apply(back)
			w.ticks(8)
			if s := w.e.Status(w.now); len(s.Orphans) != 0 || len(w.execs) != 1 || w.exec(Key{appA, "1"}).quota.IsUnlimited() {
				t.Errorf("when it is named: executors %v, status %+v", w.execs, s)
			}
			gone := back
			gone.Epoch, gone.Apps, gone.Over = back.Epoch+1, nil, []api.AppID{appA}
			w.apply(gone)
			w.ticks(4)
			if len(w.execs) != 0 {
				t.Errorf("when it is over: executors %v", w.execs)
			}
		})
	}
}

// patient is a world with executors of two applications of the first planner, and a grace period
// of a minute.
func patient(t *testing.T) (*world, Config) {
	t.Helper()
	cfg := testConfig(4)
	cfg.Grace = time.Minute
	w := newWorld(t, cfg)
	w.apply(of("first", 3, 9, owned(appA, "a", "1"), owned(appB, "b", "1")))
	w.ticks(2)
	return w, cfg
}

// Nobody has named them for the grace period: they are stopped, and that is said.
func TestOrphansEndAfterTheGracePeriod(t *testing.T) {
	w, _ := patient(t)
	w.apply(succeeding("second", "first", 1))
	w.ticks(100)
	// Another Plan in between does not begin the period anew.
	w.apply(succeeding("second", "first", 2))
	w.exec(Key{appB, "1"}).exited = true
	w.ticks(2)
	if s := w.e.Status(w.now); len(s.Orphans) != 1 {
		t.Errorf("one that has exited is still told of: %+v", s.Orphans)
	}
	w.ticks(14)
	if len(w.execs) != 1 {
		t.Fatalf("executors %v after 58 s", w.execs)
	}
	said := 0
	for range 8 {
		w.ticks(1)
		said += len(w.events(EventOrphanStopped))
	}
	if s := w.e.Status(w.now); len(w.execs) != 0 || len(s.Orphans) != 0 || said != 1 {
		t.Errorf("executors %v, orphans %v, said %d times", w.execs, s.Orphans, said)
	}
}

// While its tasks run an orphan's driver lives, and it is not stopped however long no planner
// can hear that; once it has none the grace period passes.
func TestOrphansWithTasksRunOn(t *testing.T) {
	w, cfg := patient(t)
	w.exec(Key{appA, "1"}).submit(0, 9000, 1)
	w.apply(succeeding("second", "first", 1))
	w.ticks(200)
	if s := w.e.Status(w.now); len(w.execs) != 1 || len(s.Orphans) != 1 || s.Orphans[0].App != appA {
		t.Fatalf("executors %v, orphans %v after 100 s", w.execs, s.Orphans)
	}
	w.restart(cfg) // The next node controller knows how long it has to wait.
	w.ticks(2)
	if len(w.execs) != 1 {
		t.Fatalf("after a restart: executors %v", w.execs)
	}
	x := w.exec(Key{appA, "1"})
	x.queue, x.running = nil, nil
	w.ticks(124)
	if s := w.e.Status(w.now); len(w.execs) != 0 || len(s.Orphans) != 0 {
		t.Errorf("executors %v, orphans %v a minute after its last task", w.execs, s.Orphans)
	}
}

// The grace period passes only while a planner could name them, and each planner has it whole.
func TestTheGracePeriodIsAPlanners(t *testing.T) {
	w, _ := patient(t)
	w.apply(succeeding("second", "first", 1))
	w.deaf = true
	w.ticks(400)
	if s := w.e.Status(w.now); len(w.execs) != 2 || len(s.Orphans) != 2 {
		t.Fatalf("while no planner can be heard: executors %v, orphans %v", w.execs, s.Orphans)
	}
	w.deaf = false
	w.ticks(100)
	w.apply(succeeding("third", "second", 1))
	w.ticks(100)
	if len(w.execs) != 2 {
		t.Fatalf("50 s after another planner has come: executors %v", w.execs)
	}
	w.ticks(24)
	if len(w.execs) != 0 {
		t.Errorf("62 s after it has come: executors %v", w.execs)
	}
}

// A planner that does not succeed the one in force is refused, whatever it names.
func TestOnlyASuccessorIsObeyed(t *testing.T) {
	w := newWorld(t, testConfig(4))
	w.apply(of("first", 3, 9, owned(appA, "a", "1")))
	w.ticks(2)
	for _, succeeds := range []string{"", "second", "third"} {
		w.apply(succeeding("second", succeeds, 100, owned(appA, "a", "1")))
		if s := w.e.Status(w.now); s.Planner != "first" || len(w.events(EventPlanForeign)) > 1 {
			t.Errorf("in place of %q: the node follows %q", succeeds, s.Planner)
		}
	}
}

// A tick says whether planners can be heard.
func TestATickSaysWhetherPlannersCanBeHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShell()
		s.ctx = t.Context()
		e, err := New(testConfig(2), nil)
		if err != nil {
			t.Fatal(err)
		}
		cut := false
		var said []bool
		s.loop = NewLoop(e, Ports{Runtime: s, Quotas: s, Pages: shellPages{s}, Status: s, Store: s, Clock: s.clock,
			Deaf: func() bool { return cut },
			Calls: func(c Call) {
				if c.Kind == CallStep {
					said = append(said, c.Sample.Deaf)
				}
			}}, Leave)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.loop.Run(ctx) }()
		synctest.Wait()
		s.loop.Offer(plan(1, planApp(appA, 2, ids("1"))))
		pass(2 * time.Second)
		before := len(said)
		cut = true
		pass(2 * time.Second)
		if before == 0 || len(said) == before || slices.Contains(said[:before], true) || slices.Contains(said[before:], false) {
			t.Errorf("ticks said %v, the bus was away after %d", said, before)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
