package node

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// shell is all ports of a loop in memory, on the bubble's clock.
type shell struct {
	origin time.Time
	loop   *Loop
	ctx    context.Context // The bubble's.

	// mu guards all that follows, for a test runs beside its loop.
	mu       sync.Mutex
	procs    []Process
	quotas   map[Key]units.Cores
	weights  map[Key]Weight
	pages    map[Key]*meter.Page
	starting time.Duration // How long a start takes.
	stopping time.Duration
	startErr error
	quotaErr error
	readTime time.Duration // How long reading a group takes.
	tellTime time.Duration // How long a save and a status take.
	saveTime time.Duration // How much longer a save takes.
	saveErr  error
	begun    []string // Starts and stops as they begin.
	reads    []units.Instant
	statuses []api.NodeStatus
	saves    int
	forgot   []Key
	events   []Event
	took     time.Duration // How long the loop took to end.
}

func newShell() *shell {
	return &shell{origin: time.Now(), quotas: map[Key]units.Cores{}, weights: map[Key]Weight{}, pages: map[Key]*meter.Page{}}
}

func (s *shell) clock() units.Instant {
	return units.Instant(time.Second) + units.Instant(time.Since(s.origin))
}

// locked runs f while the loop's ports wait.
func (s *shell) locked(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// lastStatus is the newest one published.
func (s *shell) lastStatus() api.NodeStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.statuses[len(s.statuses)-1]
}

func (s *shell) begin(what string, key Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = append(s.begun, what+" "+key.String())
}

func (s *shell) get(d *time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *d
}

func (s *shell) Start(ctx context.Context, key Key, _ api.Launch, _ bool) error {
	s.begin("start", key)
	select {
	case <-time.After(s.get(&s.starting)):
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.startErr != nil {
		return s.startErr
	}
	s.procs = append(s.procs, Process{Key: key, PID: 1})
	s.quotas[key] = units.Unlimited
	return nil
}

func (s *shell) Stop(ctx context.Context, key Key) error {
	s.begin("stop", key)
	select {
	case <-time.After(s.get(&s.stopping)):
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.procs = slices.DeleteFunc(s.procs, func(p Process) bool { return p.Key == key })
	return nil
}

func (s *shell) List(into []Process) []Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(into, s.procs...)
}

func (s *shell) SetQuota(key Key, cores units.Cores) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quotaErr != nil {
		return s.quotaErr
	}
	s.quotas[key] = cores
	return nil
}

func (s *shell) SetWeight(key Key, w Weight) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.weights[key] = w
	return nil
}

func (s *shell) Read(key Key, into *Usage) error {
	time.Sleep(s.get(&s.readTime)) // In the bubble: a slow kernel.
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads = append(s.reads, s.clock())
	*into = Usage{Quota: s.quotas[key]}
	return nil
}

func (s *shell) PublishStatus(status *api.NodeStatus) error {
	time.Sleep(s.get(&s.tellTime))
	c := *status
	c.Executors, c.Stages = slices.Clone(c.Executors), slices.Clone(c.Stages)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.statuses = append(s.statuses, c)
	return nil
}

func (s *shell) SaveState(*State) error {
	time.Sleep(s.get(&s.tellTime) + s.get(&s.saveTime))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saves++
	return s.saveErr
}

type shellPages struct{ *shell }

func (s shellPages) Read(key Key, into *meter.Page) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pages[key]
	if p == nil {
		return errors.New("empty")
	}
	p.At, p.Generation = s.clock(), p.Generation+1
	*into = *p
	return nil
}

func (s shellPages) Forget(key Key) { s.locked(func() { s.forgot = append(s.forgot, key) }) }

// run runs a loop in a bubble, calls f beside it and ends it.
func runLoop(t *testing.T, ending Ending, f func(s *shell)) (s *shell, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s = newShell()
		s.ctx = t.Context()
		e, newErr := New(testConfig(2), nil)
		if newErr != nil {
			t.Fatal(newErr)
		}
		s.loop = NewLoop(e, Ports{Runtime: s, Quotas: s, Pages: shellPages{s}, Status: s, Store: s, Clock: s.clock,
			Events: func(e Event) { s.locked(func() { s.events = append(s.events, e) }) }}, ending)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.loop.Run(ctx) }()
		synctest.Wait()
		f(s)
		ended := time.Now()
		cancel()
		err = <-done
		s.took = time.Since(ended)
	})
	return s, err
}

// pass lets d pass in the bubble.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestTicksAreAlignedToSlots(t *testing.T) {
	s, err := runLoop(t, Leave, func(s *shell) {
		pass(130 * time.Millisecond)
		s.loop.Offer(plan(1, planApp(appA, 2, ids("1"))))
		pass(2 * time.Second)
	})
	if err != nil {
		t.Error(err)
	}
	if len(s.reads) < 3 {
		t.Fatalf("reads at %v", s.reads)
	}
	for _, at := range s.reads {
		if at%units.Instant(500*time.Millisecond) != 0 {
			t.Errorf("a tick at %v", time.Duration(at))
		}
	}
}

// A node without executors ticks for its statuses only; a Plan ends that, and no slot
// counts as skipped.
func TestARestingNodeTicksForItsStatuses(t *testing.T) {
	s, err := runLoop(t, Leave, func(s *shell) {
		ticked := func(d time.Duration, want int) {
			t.Helper()
			ticks := 0
			for last := s.loop.LastTick(); d > 0; d -= 10 * time.Millisecond {
				pass(10 * time.Millisecond)
				if now := s.loop.LastTick(); now > last {
					ticks, last = ticks+1, now
				}
			}
			if ticks != want {
				t.Errorf("%d ticks, want %d", ticks, want)
			}
		}
		pass(110 * time.Millisecond)
		ticked(4*time.Second, 4)
		s.loop.Offer(plan(1, planApp(appA, 2, ids("1"))))
		ticked(4*time.Second, 8)
		if n := len(s.statuses); n < 8 {
			t.Errorf("%d statuses in 8 s", n)
		}
	})
	if err != nil {
		t.Error(err)
	}
	if slices.ContainsFunc(s.events, func(e Event) bool { return e.Kind == EventTicksSkipped }) {
		t.Errorf("skipped: %v", s.events)
	}
}

// A Plan that ends idle time has the next slot tick, however near it is: there was no
// tick just before with which it could be bunched.
func TestAPlanEndsTheRestAtTheNextSlot(t *testing.T) {
	_, err := runLoop(t, Leave, func(s *shell) {
		pass(2400 * time.Millisecond)
		before := s.loop.LastTick()
		s.loop.Offer(plan(1, planApp(appA, 2, ids("1"))))
		pass(100 * time.Millisecond)
		if got, want := s.loop.LastTick(), units.Instant(3500*time.Millisecond); got != want || before != units.Instant(3*time.Second) {
			t.Errorf("the last tick was at %v after one at %v, want %v", got.Sub(0), before.Sub(0), want.Sub(0))
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAStartDoesNotHoldUpTheTick(t *testing.T) {
	_, err := runLoop(t, End, func(s *shell) {
		s.locked(func() { s.starting = 10 * time.Second })
		s.loop.Offer(plan(1, planApp(appA, 2, ids("1", "2"))))
		pass(3200 * time.Millisecond)
		if age := s.clock().Sub(s.loop.LastTick()); age > 500*time.Millisecond {
			t.Errorf("the last tick was %v ago", age)
		}
		if got := s.lastStatus().Executors; len(got) != 2 || got[0].State != api.ExecutorStarting {
			t.Errorf("status %+v", got)
		}
		pass(8 * time.Second)
		s.mu.Lock()
		defer s.mu.Unlock()
		slices.Sort(s.begun) // Of different executors, in no order.
		if d := cmp.Diff([]string{"start app-a/1", "start app-a/2"}, s.begun); d != "" {
			t.Error(d)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWhatATickTellsDoesNotHoldItUp(t *testing.T) {
	_, err := runLoop(t, Leave, func(s *shell) {
		s.loop.Offer(plan(1, planApp(appA, 2, ids("1"))))
		s.locked(func() { s.pages[Key{appA, "1"}] = &meter.Page{} })
		pass(3250 * time.Millisecond)
		var statuses, saves int
		s.locked(func() { s.tellTime, statuses, saves = 300*time.Millisecond, len(s.statuses), s.saves })
		for range 20 {
			pass(500 * time.Millisecond)
			if age := s.clock().Sub(s.loop.LastTick()); age >= 300*time.Millisecond {
				t.Errorf("the last tick ended %v ago, 250 ms after a slot", age)
			}
		}
		s.locked(func() {
			if len(s.statuses) < statuses+9 || s.saves < saves+1 {
				t.Errorf("%d statuses and %d saves in 10 s", len(s.statuses)-statuses, s.saves-saves)
			}
			for i := 1; i < len(s.statuses); i++ {
				if s.statuses[i].Seq <= s.statuses[i-1].Seq {
					t.Errorf("status %d after %d", s.statuses[i].Seq, s.statuses[i-1].Seq)
				}
			}
		})
	})
	if err != nil {
		t.Error(err)
	}
}

func TestASaveOfATickThatFailsIsTriedAgain(t *testing.T) {
	s, err := runLoop(t, Leave, func(s *shell) {
		s.loop.Offer(plan(1, planApp(appA, 2, ids("1"))))
		s.locked(func() { s.pages[Key{appA, "1"}] = &meter.Page{} })
		pass(3 * time.Second)
		s.locked(func() { s.saveErr, s.saves = errors.New("disk full"), 0 })
		s.locked(func() { s.quotas[Key{appA, "1"}] = 0.5 })
		s.loop.Offer(plan(2, planApp(appA, 2, ids("1"), target(0, "1", 20, 20, 20*time.Second, 1))))
		pass(5 * time.Second)
		s.locked(func() {
			if s.saves < 5 {
				t.Errorf("%d tries in 5 s", s.saves)
			}
			s.saveErr = nil
		})
		pass(time.Second)
	})
	if err != nil {
		t.Error(err)
	}
	if !slices.ContainsFunc(s.events, func(e Event) bool {
		return e.Kind == EventActionFailed && strings.Contains(e.Detail, "save: disk full")
	}) {
		t.Errorf("events %+v", s.events)
	}
}

func TestAPlanActsBetweenSlots(t *testing.T) {
	_, err := runLoop(t, Leave, func(s *shell) {
		key := Key{appA, "1"}
		s.loop.Offer(plan(1, planApp(appA, 2, ids("1"))))
		s.locked(func() { s.pages[key] = &meter.Page{} })
		pass(1100 * time.Millisecond)
		s.loop.Offer(plan(2, planApp(appA, 2, ids("1"), target(0, "1", 20, 20, 20*time.Second, 1))))
		synctest.Wait()
		s.locked(func() {
			if got := s.quotas[key]; got != 1 {
				t.Errorf("quota %v before the next slot, want 1", got)
			}
			if s.weights[key] != sharing.Normal {
				t.Errorf("weight %v", s.weights[key])
			}
		})
		pass(time.Second)
		if got, err := s.loop.Status(s.ctx); err != nil || got.Epoch != 2 || got.Executors[0].Quota <= 0 {
			t.Errorf("status %+v, %v", got, err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestOfTwoWaitingPlansTheNewerWins(t *testing.T) {
	e, err := New(testConfig(2), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range [][]uint64{{3, 5, 4}, {5, 4, 3}, {3, 4, 5}} {
		l := NewLoop(e, Ports{}, Leave)
		for _, epoch := range order {
			l.Offer(plan(epoch))
		}
		if got := (<-l.plans).Epoch; got != 5 {
			t.Errorf("offered %v: epoch %d waits", order, got)
		}
	}
}

func TestAnExitIsReportedBeforeTheNextSlot(t *testing.T) {
	_, err := runLoop(t, Leave, func(s *shell) {
		s.loop.Offer(plan(1, planApp(appA, 2, ids("1"))))
		pass(1100 * time.Millisecond)
		s.locked(func() { s.procs[0].Exited, s.procs[0].Exit, s.procs[0].ExitCode = true, "killed by signal 9", 137 })
		s.loop.Wake()
		synctest.Wait()
		if got := s.lastStatus().Executors[0]; got.State != api.ExecutorExited || got.ExitCode != 137 {
			t.Errorf("status %+v", got)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAFailedStartComesBackInTheNextSample(t *testing.T) {
	_, err := runLoop(t, Leave, func(s *shell) {
		s.locked(func() { s.startErr = errors.New("no java") })
		s.loop.Offer(plan(1, planApp(appA, 2, ids("1"))))
		synctest.Wait()
		if got := s.lastStatus().Executors[0]; got.State != api.ExecutorExited || got.Exit != "start: no java" {
			t.Errorf("status %+v", got)
		}
		pass(3 * time.Second)
		s.locked(func() {
			if len(s.begun) != 1 {
				t.Errorf("%v", s.begun)
			}
		})
	})
	if err != nil {
		t.Error(err)
	}
}

func TestStartAndStopOfOneExecutorKeepTheirOrder(t *testing.T) {
	s, err := runLoop(t, Leave, func(s *shell) {
		s.locked(func() { s.starting, s.stopping = 3*time.Second, time.Second })
		s.loop.Offer(plan(1, planApp(appA, 2, ids("1"))))
		pass(time.Second)
		over := plan(2)
		over.Over = []api.AppID{appA}
		s.loop.Offer(over)
		pass(time.Second)
		s.locked(func() {
			if len(s.begun) != 1 {
				t.Errorf("the stop did not wait for the start: %v", s.begun)
			}
		})
		pass(4 * time.Second)
		s.locked(func() {
			if len(s.procs) != 0 {
				t.Errorf("still there: %v", s.procs)
			}
		})
	})
	if err != nil {
		t.Error(err)
	}
	if d := cmp.Diff([]Key{{appA, "1"}}, s.forgot); d != "" {
		t.Error("pages that were forgotten\n", d)
	}
}

func TestALateTickIsSkippedAndCounted(t *testing.T) {
	_, err := runLoop(t, Leave, func(s *shell) {
		s.loop.Offer(plan(1, planApp(appA, 2, ids("1"))))
		pass(1100 * time.Millisecond)
		s.locked(func() { s.readTime = 1300 * time.Millisecond })
		pass(500 * time.Millisecond)
		s.locked(func() { s.readTime, s.reads = 0, nil })
		pass(3 * time.Second)
		s.mu.Lock()
		defer s.mu.Unlock()
		for i := 1; i < len(s.reads); i++ {
			if gap := s.reads[i].Sub(s.reads[i-1]); gap < 400*time.Millisecond {
				t.Errorf("ticks are bunched: %v apart", gap)
			}
		}
		skipped := 0
		for _, e := range s.events {
			if e.Kind == EventTicksSkipped {
				skipped += e.Count
			}
		}
		if skipped == 0 {
			t.Error("nothing was counted")
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestLeavingWaitsForNobodyAndLiftsQuotas(t *testing.T) {
	s, err := runLoop(t, Leave, func(s *shell) {
		key := Key{appA, "1"}
		s.locked(func() { s.pages[key] = &meter.Page{} })
		s.loop.Offer(plan(1, planApp(appA, 2, ids("1"))))
		pass(1100 * time.Millisecond)
		s.loop.Offer(plan(2, planApp(appA, 2, ids("1"), target(0, "1", 20, 20, 20*time.Second, 1))))
		pass(time.Second)
	})
	if err != nil {
		t.Error(err)
	}
	last := s.lastStatus()
	if !s.quotas[Key{appA, "1"}].IsUnlimited() || len(s.procs) != 1 || !last.Leaving {
		t.Errorf("quota %v, processes %v, leaving %v", s.quotas, s.procs, last.Leaving)
	}
}

func TestEndingStopsAllWithinItsTime(t *testing.T) {
	s, err := runLoop(t, End, func(s *shell) {
		s.loop.Offer(plan(1, planApp(appA, 2, ids("1", "2"))))
		pass(time.Second)
		s.locked(func() { s.stopping = time.Second })
	})
	if err != nil || len(s.procs) != 0 {
		t.Errorf("%v, processes %v", err, s.procs)
	}
	s, err = runLoop(t, End, func(s *shell) {
		s.loop.Offer(plan(1, planApp(appA, 2, ids("1"))))
		pass(time.Second)
		s.locked(func() { s.stopping = time.Hour })
	})
	if err == nil || !strings.Contains(err.Error(), "stop app-a/1") {
		t.Errorf("a stop that does not end: %v", err)
	}
	if s.took != stopWithin {
		t.Errorf("it took %v, want %v", s.took, stopWithin)
	}
}

func TestAFailedQuotaWriteIsSeenByTheEngine(t *testing.T) {
	s, err := runLoop(t, Leave, func(s *shell) {
		key := Key{appA, "1"}
		s.locked(func() { s.pages[key] = &meter.Page{} })
		s.loop.Offer(plan(1, planApp(appA, 2, ids("1"))))
		pass(1100 * time.Millisecond)
		s.locked(func() { s.quotaErr = errors.New("read-only file system") })
		s.loop.Offer(plan(2, planApp(appA, 2, ids("1"), target(0, "1", 20, 20, 20*time.Second, 1))))
		pass(1100 * time.Millisecond)
		s.locked(func() { s.quotaErr = nil })
	})
	if err != nil {
		t.Error(err)
	}
	if !slices.ContainsFunc(s.events, func(e Event) bool {
		return e.Kind == EventActionFailed && strings.Contains(e.String(), "set quota: read-only")
	}) {
		t.Errorf("events %v", s.events)
	}
}

func TestStatusAfterTheEndIsAnError(t *testing.T) {
	e, err := New(testConfig(2), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := newShell()
	l := NewLoop(e, Ports{Runtime: s, Quotas: s, Pages: shellPages{s}, Status: s, Store: s, Clock: s.clock}, Leave)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Status(t.Context()); err == nil {
		t.Error("no error")
	}
}
