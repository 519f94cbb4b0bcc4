package node

import (
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/node/meter"
)

// A disk that stands still holds up whoever has to be remembered before it runs, and
// nobody else: ticks, quotas and statuses go on.
func TestAStalledDiskHoldsUpStartsOnly(t *testing.T) {
	s, err := runLoop(t, Leave, func(s *shell) {
		one, two := Key{appA, "1"}, Key{appA, "2"}
		s.locked(func() { s.pages[one] = &meter.Page{} })
		s.loop.Offer(plan(1, planApp(appA, 1, ids("1"))))
		pass(3250 * time.Millisecond)
		s.locked(func() { s.saveTime = 20 * time.Second })
		s.loop.Offer(plan(2, planApp(appA, 1, ids("1", "2"), target(0, "1", 20, 20, 20*time.Second, 0.5))))
		s.locked(func() { s.statuses = nil })
		for range 20 {
			pass(500 * time.Millisecond)
			if age := s.clock().Sub(s.loop.LastTick()); age >= 300*time.Millisecond {
				t.Errorf("the last tick ended %v ago, 250 ms after a slot", age)
			}
		}
		s.locked(func() {
			if len(s.statuses) < 9 {
				t.Errorf("%d statuses in 10 s", len(s.statuses))
			}
			if s.quotas[one].IsUnlimited() {
				t.Error("the new target has no quota")
			}
			if slices.Contains(s.begun, "start "+two.String()) {
				t.Error("an executor was started that is not remembered")
			}
		})
		pass(30 * time.Second)
		s.locked(func() {
			if !slices.Contains(s.begun, "start "+two.String()) {
				t.Error("an executor that is remembered was not started")
			}
			s.saveTime = 0
		})
	})
	if err != nil || len(s.procs) != 2 {
		t.Errorf("%v, processes %v", err, s.procs)
	}
}
