package node

import (
	"testing"

	"github.com/sparkpacer/pacer/supervisor"
)

// A loop that runs is told of another configuration and says what is wrong with one.
func TestALoopIsConfigured(t *testing.T) {
	_, err := runLoop(t, Leave, func(s *shell) {
		next := testConfig(2)
		next.Supervisor.Strategy = supervisor.Proportional
		if err := s.loop.Configure(s.ctx, next); err != nil {
			t.Error(err)
		}
		if got, err := s.loop.Status(s.ctx); err != nil || got.Division.Strategy != supervisor.Proportional {
			t.Errorf("it divides by %s, %v", got.Division.Strategy, err)
		}
		next.Supervisor.Gamma = 2
		if err := s.loop.Configure(s.ctx, next); err == nil {
			t.Error("gamma 2 was taken")
		}
	})
	if err != nil {
		t.Error(err)
	}
}
