package realenv

import (
	"errors"
	"fmt"
	"testing"
)

// told is a test that only remembers what it was told.
type told struct {
	testing.TB
	failed   bool
	repeated []string
}

func (*told) Helper()               {}
func (t *told) Attr(_, text string) { t.repeated = append(t.repeated, text) }
func (t *told) Error(...any)        { t.failed = true }
func (t *told) Failed() bool        { return t.failed }

func TestRepeatForgivesTimingOnce(t *testing.T) {
	late := Timing("late")
	for name, c := range map[string]struct {
		faults   []error // Of the first attempts.
		fails    bool
		attempts int
	}{
		"well at once":       {nil, false, 1},
		"late once":          {[]error{late}, false, 2},
		"late and early":     {[]error{errors.Join(late, Timing("early"))}, false, 2},
		"late, with context": {[]error{fmt.Errorf("stage 3: %w", late)}, false, 2},
		"late again":         {[]error{late, late}, true, 2},
		"wrong":              {[]error{errors.New("wrong")}, true, 1},
		"late and wrong":     {[]error{errors.Join(late, errors.New("wrong"))}, true, 1},
		"context of both":    {[]error{fmt.Errorf("stage 3: %w", errors.Join(late, errors.New("wrong")))}, true, 1},
		"late, then wrong":   {[]error{late, errors.New("wrong")}, true, 2},
	} {
		to, made := &told{}, 0
		Repeat(to, func() error {
			made++
			if made <= len(c.faults) {
				return c.faults[made-1]
			}
			return nil
		})
		if to.failed != c.fails || made != c.attempts || len(to.repeated) != made-1 {
			t.Errorf("%s: failed %t after %d attempts, said %q", name, to.failed, made, to.repeated)
		}
	}
	to, made := &told{}, 0
	Repeat(to, func() error {
		made++
		to.Error("the answer is wrong")
		return late
	})
	if made != 1 || !to.failed {
		t.Errorf("a failed test was tried %d times", made)
	}
}
