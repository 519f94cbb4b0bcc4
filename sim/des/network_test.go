package des

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/units"
)

// arrival is what has come over a link, and when.
type arrival struct {
	at units.Instant
	no int
}

// arrivals sends so many messages over two links, one each millisecond.
func arrivals(d Delays, seed uint64, n int) (all [2][]arrival) {
	var c Clock
	network := NewNetwork(&c, 0, seed, d)
	links := []Link{network.Link(), network.Link()}
	for no := range n {
		_ = c.Pass(units.Instant(no) * units.Instant(time.Millisecond))
		links[no%2].Send(Up, func() { all[no%2] = append(all[no%2], arrival{c.Now(), no}) })
	}
	_ = c.Pass(Never - 1)
	return all
}

// Messages of a link arrive in their order unless they may overtake each other, none before its
// delay, some twice and some never; and all of it again by the same seed.
func TestANetworkKeepsItsRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Delays{Delay: time.Duration(rapid.IntRange(0, 5).Draw(t, "delay")) * time.Millisecond,
			Jitter: time.Duration(rapid.IntRange(0, 20).Draw(t, "jitter")) * time.Millisecond,
			Loss:   rapid.Float64Range(0, 0.5).Draw(t, "loss"), Duplicate: rapid.Float64Range(0, 0.5).Draw(t, "duplicate"),
			Reorder: rapid.Bool().Draw(t, "reorder")}
		seed, n := rapid.Uint64().Draw(t, "seed"), 200
		got := arrivals(d, seed, n)
		for i, link := range got {
			if again := arrivals(d, seed, n)[i]; !slices.Equal(link, again) {
				t.Fatalf("link %d: %v by the same seed as %v", i, again, link)
			}
			ordered := slices.IsSortedFunc(link, func(a, b arrival) int { return a.no - b.no })
			if !d.Reorder && !ordered {
				t.Fatalf("link %d: %v", i, link)
			}
			for _, a := range link {
				if sent := units.Instant(a.no) * units.Instant(time.Millisecond); a.at < sent.Add(d.Delay) {
					t.Fatalf("message %d is there %v after it was sent", a.no, a.at.Sub(sent))
				}
			}
			if d.Loss == 0 && d.Duplicate == 0 && len(link) != n/2 {
				t.Fatalf("%d messages of %d", len(link), n/2)
			}
		}
	})
}

// A part of a world that sets its timer to now for ever is found.
func TestAClockThatStandsStillSaysSo(t *testing.T) {
	var c Clock
	var again func()
	again = func() { c.After(0, 0, 0, again) }
	c.At(5, 0, 0, again)
	if err := c.Pass(10); err == nil || !strings.Contains(err.Error(), "time stands still") {
		t.Errorf("%v", err)
	}
}
