package bus

import (
	"fmt"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
)

func TestWhoSendsMoreThanItsAllowance(t *testing.T) {
	a, now := newAllowance(sending{second: 2, burst: 3, bytes: 1 << 20, full: 1 << 20}), time.Unix(1000, 0)
	send := func(login string, times int) (taken int) {
		for range times {
			err := a.take(login, 0, now)
			if err == nil {
				taken++
			} else if api.KindOf(err) != api.KindTransient {
				t.Fatal(err)
			}
		}
		return taken
	}
	if got := send("ann", 10); got != 3 {
		t.Errorf("at once %d of 10 are taken", got)
	}
	if got := send("bob", 2); got != 2 {
		t.Errorf("beside another one %d of 2 are taken", got)
	}
	now = now.Add(time.Second)
	if got := send("ann", 10); got != 2 {
		t.Errorf("after a second %d of 10 are taken", got)
	}
	now = now.Add(time.Hour)
	for i := range 3 * leastSweep {
		send(fmt.Sprint(i), 1)
		now = now.Add(time.Second)
	}
	if len(a.of) > leastSweep {
		t.Errorf("%d are remembered", len(a.of))
	}
}
