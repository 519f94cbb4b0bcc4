package daemon

import (
	"testing"
	"time"
)

func TestWhatAGuardDecides(t *testing.T) {
	for name, c := range map[string]struct {
		events []guardEvent
		want   guardVerdict
	}{
		"nothing has happened":                   {nil, guardOn},
		"the node controller stopped":            {[]guardEvent{nodeStopped}, guardLeave},
		"it died and the wait goes on":           {[]guardEvent{nodeDied}, guardOn},
		"it died and nobody came":                {[]guardEvent{nodeDied, waitOver}, guardLift},
		"it died and a successor's guard came":   {[]guardEvent{nodeDied, guardReplaced}, guardLeave},
		"replaced while it lives":                {[]guardEvent{guardReplaced}, guardLeave},
		"told to end while it lives":             {[]guardEvent{guardEnded}, guardOn},
		"told to end, then it stopped":           {[]guardEvent{guardEnded, nodeStopped}, guardLeave},
		"told to end, then it died":              {[]guardEvent{guardEnded, nodeDied}, guardOn},
		"told to end, then it died for good":     {[]guardEvent{guardEnded, nodeDied, waitOver}, guardLift},
		"told to end after it died":              {[]guardEvent{nodeDied, guardEnded}, guardLift},
		"a wait that nothing began is over":      {[]guardEvent{waitOver}, guardOn},
		"it died, the guard is ended and lifted": {[]guardEvent{nodeDied, guardEnded, waitOver}, guardLift},
	} {
		var rule guardRule
		got := guardOn
		for _, e := range c.events {
			if got == guardOn {
				got = rule.next(e)
			}
		}
		if got != c.want {
			t.Errorf("%s: verdict %d, want %d", name, got, c.want)
		}
	}
}

func TestAGuardThatSeesALockPutsBackOnceInEachWait(t *testing.T) {
	const wait = 10 * time.Second
	var v vacancy
	start := time.Unix(1000, 0)
	for _, c := range []struct {
		after time.Duration
		runs  bool
		want  bool
	}{
		{0, true, false}, {20, true, false}, {21, false, false}, {30, false, false}, {31, false, true}, {32, false, false},
		{41, false, true}, {42, true, false}, {52, false, false}, {61, false, false}, {62, false, true},
	} {
		if got := v.next(c.runs, start.Add(c.after*time.Second), wait); got != c.want {
			t.Errorf("after %d s, runs %v: %v", c.after, c.runs, got)
		}
	}
}
