package des

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// The queue fires in the order that sorting gives, whatever is set again or
// cancelled in between.
func TestTheQueueIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var all []*Timer
		for range rapid.IntRange(1, 60).Draw(t, "operations") {
			switch rapid.IntRange(0, 3).Draw(t, "operation") {
			case 0, 1:
				tm := &Timer{rank: Rank(rapid.IntRange(0, 3).Draw(t, "rank")), id: uint64(rapid.IntRange(0, 3).Draw(t, "id"))}
				q.set(tm, units.Instant(rapid.IntRange(0, 9).Draw(t, "at")))
				all = append(all, tm)
			case 2:
				if len(all) > 0 {
					q.set(rapid.SampledFrom(all).Draw(t, "again"), units.Instant(rapid.IntRange(0, 9).Draw(t, "at")))
				}
			case 3:
				if len(all) > 0 {
					q.cancel(rapid.SampledFrom(all).Draw(t, "cancelled"))
				}
			}
		}
		want := slices.DeleteFunc(all, func(tm *Timer) bool { return !tm.IsSet() })
		slices.SortFunc(want, func(a, b *Timer) int {
			if x, y := a.entry(), b.entry(); x.before(&y) {
				return -1
			}
			return 1
		})
		for i, w := range want {
			if got := q.next(); got != w {
				t.Fatalf("timer %d is not the one that sorting gives", i)
			}
		}
		if q.next() != nil {
			t.Fatal("there are more")
		}
	})
}
