package realenv

import (
	"errors"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

func TestHeld(t *testing.T) {
	for name, c := range map[string]struct {
		pacing string
		after  float64 // Per cent of the deadline, negative when late; 1000 for none.
		held   bool
	}{
		"in time":                  {"paced", 0.5, true},
		"a little late":            {"released", -0.8, true},
		"late, and not yet told":   {"paced", -0.1, true},
		"too late":                 {"released", -2.6, false},
		"let go before its end":    {"released", 12, false},
		"without a deadline":       {"recording", 1000, false},
		"paced, but without error": {"paced", 1000, false},
	} {
		app := api.AppDetail{AppSummary: api.AppSummary{Pacing: c.pacing}}
		if c.after != 1000 {
			app.ErrorPct = &c.after
		}
		if err := Held(app); (err == nil) != c.held {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// told is a test that only remembers whether it failed.
type told struct {
	testing.TB
	failed bool
}

func (*told) Helper()             {}
func (*told) Logf(string, ...any) {}
func (t *told) Error(...any)      { t.failed = true }
func (t *told) Failed() bool      { return t.failed }

func TestRepeatForgivesWhatDoesNotComeAgain(t *testing.T) {
	for name, c := range map[string]struct {
		faults   int // Of the first attempts.
		fails    bool
		attempts int
	}{
		"well at once":    {0, false, 1},
		"disturbed twice": {2, false, 3},
		"always wrong":    {9, true, 3},
	} {
		to, made := &told{}, 0
		Repeat(to, func() error {
			made++
			if made <= c.faults {
				return errors.New("late")
			}
			return nil
		})
		if to.failed != c.fails || made != c.attempts {
			t.Errorf("%s: failed %t after %d attempts", name, to.failed, made)
		}
	}
	to, made := &told{}, 0
	Repeat(to, func() error {
		made++
		to.Error("the answer is wrong")
		return errors.New("late")
	})
	if made != 1 || !to.failed {
		t.Errorf("a failed test was tried %d times", made)
	}
}
