package node

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/units"
)

// conflicts counts the events of a kind since the world began, if it is asked
// after each tick.
func conflicts(w *world) (n int, last Event) {
	for _, e := range w.e.Events() {
		if e.Kind == EventQuotaConflict {
			n++
			last = e
		}
	}
	return n, last
}

func TestInsistWritesOursAgainAtOnceAndSaysItOnce(t *testing.T) {
	w := paced(t, testConfig(2))
	w.ticks(4)
	x := w.exec(Key{appA, "1"})
	before, said := x.quota, 0
	for range 3 {
		x.quota, x.writer = 0.3, "runc (process 7)"
		w.ticks(1)
		n, event := conflicts(w)
		if said += n; n > 0 && (!strings.Contains(event.String(), "0.30 cores written by runc (process 7): writing ours again") || !event.HasStage) {
			t.Errorf("event %s", event)
		}
		if math.Abs(float64(x.quota-before)) > 0.3 {
			t.Errorf("quota %v, want about the %v before", x.quota, before)
		}
		w.ticks(firstHold + 1) // Ours stays: the other writes now and then only.
		if len(w.e.roster.execs) != 1 || w.e.roster.execs[0].owner.written == 0 {
			t.Fatal("no conflict is known")
		}
		w.ticks(peace)
		if w.e.roster.execs[0].owner.said {
			t.Error("the conflict is not over")
		}
		before = x.quota
	}
	if said != 3 || w.e.Counters().Conflicts != 3 {
		t.Errorf("said %d times in %d conflicts, want 3 in 3", said, w.e.Counters().Conflicts)
	}
}

func TestYieldLeavesTheOthersQuotaUntilTheStageEnds(t *testing.T) {
	for _, theirs := range []units.Cores{0.3, 0.05, units.Unlimited} {
		cfg := testConfig(2)
		cfg.Conflict = Yield
		w := paced(t, cfg)
		w.ticks(4)
		x, said := w.exec(Key{appA, "1"}), 0
		x.quota = theirs
		for range 10 {
			w.ticks(1)
			n, event := conflicts(w)
			if said += n; n > 0 && !strings.Contains(event.Detail, "written by somebody else: leaving it until the stage ends") {
				t.Errorf("event %s", event)
			}
			c := w.e.roster.execs[0].ctl
			if x.quota != theirs || c.grant > min(theirs, 2) || math.Abs(float64(c.law.State().Granted-min(theirs, 2))) > 1e-9 {
				t.Fatalf("quota %v with a grant of %v, told %v, want the other's %v", x.quota, c.grant, c.law.State().Granted, theirs)
			}
		}
		if said != 1 {
			t.Errorf("said %d times", said)
		}
		// A new target ends it, and control goes on without a jump from theirs.
		again := target(0, "1", 60, 30, 20*time.Second, 1)
		again.Rev = 9
		w.apply(plan(9, planApp(appA, 2, ids("1"), again)))
		w.ticks(4)
		if x.quota == theirs && !theirs.IsUnlimited() {
			t.Errorf("%v is still in force after a new target", x.quota)
		}
		x.quota = 0.3
		w.ticks(2)
		if x.quota != 0.3 {
			t.Errorf("quota %v, want to yield again", x.quota)
		}
		w.apply(plan(10, planApp(appA, 2, ids("1"))))
		if !x.quota.IsUnlimited() {
			t.Errorf("quota %v after a release", x.quota)
		}
	}
}

func TestARestartedNodeControllerGoesOnYielding(t *testing.T) {
	for _, c := range []struct {
		name   string
		theirs units.Cores
		clean  bool // Its predecessor stopped in good order.
		now    units.Cores
		yields bool
	}{
		{"killed", 0.3, false, 0.3, true},
		{"stopped", 0.3, true, 0.3, true},
		{"theirs is none", units.Unlimited, true, units.Unlimited, true},
		{"a guard lifted it", 0.3, false, units.Unlimited, false},
		{"somebody changed it meanwhile", 0.3, false, 0.5, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := testConfig(2)
			cfg.Conflict = Yield
			w := paced(t, cfg)
			w.ticks(4)
			x := w.exec(Key{appA, "1"})
			x.quota = c.theirs
			w.ticks(2)
			if c.clean {
				w.do(t, w.e.Shutdown(w.now, Leave))
			}
			if x.quota != c.theirs {
				t.Fatalf("quota %v, want theirs", x.quota)
			}
			x.quota = c.now
			w.restart(cfg)
			w.ticks(6)
			if yields := x.quota == c.now; yields != c.yields {
				t.Errorf("quota %v after a restart with %v in force", x.quota, c.now)
			}
			again := target(0, "1", 60, 30, 20*time.Second, 1)
			again.Rev = 9
			w.apply(plan(9, planApp(appA, 2, ids("1"), again)))
			w.ticks(4)
			if w.e.roster.execs[0].owner.yields {
				t.Error("it yields after a new target")
			}
		})
	}
}

func TestAnIdleExecutorsForeignQuota(t *testing.T) {
	for how, want := range map[Conflict]units.Cores{Insist: units.Unlimited, Yield: 0.5} {
		cfg := testConfig(2)
		cfg.Conflict = how
		w := newWorld(t, cfg)
		w.ready(1, planApp(appA, 2, ids("1")))
		x := w.exec(Key{appA, "1"})
		x.quota = 0.5
		w.ticks(1)
		if n, event := conflicts(w); n != 1 || event.HasStage {
			t.Errorf("%s: %d events, the last is %s", how, n, event)
		}
		if w.ticks(3); x.quota != want {
			t.Errorf("%s: quota %v, want %v", how, x.quota, want)
		}
		w.restart(cfg)
		if w.ticks(3); x.quota != want {
			t.Errorf("%s: quota %v after a restart, want %v", how, x.quota, want)
		}
	}
}

// rival writes an executor's quota too.
type rival struct {
	value units.Cores
	// every is after how many ticks it writes again; insists whether it does so
	// at once when it finds another value.
	every   int
	insists bool
}

// Whatever a rival does, ours is written over theirs after 4, 8, 16, 32, 64, 64 ...
// ticks at the earliest, and never under Yield: they do not oscillate.
func TestTwoWritersNeverOscillate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := testConfig(2)
		cfg.Conflict = rapid.SampledFrom([]Conflict{Insist, Yield}).Draw(t, "conflict")
		w := newWorld(t, cfg)
		w.ready(1, planApp(appA, 2, ids("1")))
		x := w.exec(Key{appA, "1"})
		x.submit(0, 1000, 1)
		w.apply(plan(2, planApp(appA, 2, ids("1"), target(0, "1", 1000, 1000, 900*time.Second, 1.1))))
		w.ticks(2)
		r := rival{value: units.Cores(rapid.SampledFrom([]float64{0.05, 0.3, 0.5, 1, 1.9, 4}).Draw(t, "value")),
			every: rapid.IntRange(1, 12).Draw(t, "every"), insists: rapid.Bool().Draw(t, "insists")}
		over, said := []int{}, 0
		for tick := range 400 {
			if tick%r.every == 0 || (r.insists && x.quota != r.value) {
				x.quota = r.value
			}
			w.ticks(1)
			n, _ := conflicts(w)
			if said += n; x.quota != r.value {
				if cfg.Conflict == Yield {
					t.Fatalf("tick %d: %v is written over %v", tick, x.quota, r.value)
				}
				over = append(over, tick)
			}
		}
		if said > 1 {
			t.Fatalf("said %d times", said)
		}
		if !r.insists && r.every > 1 {
			return // Ours is in force between the rival's writes.
		}
		for i, gap := 1, firstHold; i < len(over); i, gap = i+1, min(2*gap, lastHold) {
			if over[i]-over[i-1] < gap {
				t.Fatalf("ours was written at ticks %v: the %dth came within %d ticks", over, i+1, gap)
			}
		}
	})
}

func TestConflictIsOneOfTwo(t *testing.T) {
	cfg := testConfig(2)
	cfg.Conflict = "fight"
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "conflict") {
		t.Errorf("%v", err)
	}
	if _, err := New(cfg, nil); err == nil {
		t.Error("it was taken")
	}
}
