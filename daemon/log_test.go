package daemon

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sparkpacer/pacer/units"
)

func TestLinesOfOneKindAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log, q := slog.New(slog.NewTextHandler(&out, nil)), newQuiet()
		for range 100 {
			q.line(log, slog.LevelInfo, "quota", "a change")
			q.line(log, slog.LevelDebug, "detail", "not at this level")
		}
		q.line(log, slog.LevelInfo, "other", "something else")
		if got := strings.Count(out.String(), "event=quota"); got != 20 {
			t.Errorf("%d lines at once, want 20", got)
		}
		if !strings.Contains(out.String(), "event=other") || strings.Contains(out.String(), "event=detail") {
			t.Errorf("kinds and levels are mixed up:\n%s", &out)
		}
		timer := time.NewTimer(200 * time.Millisecond)
		<-timer.C
		out.Reset()
		q.line(log, slog.LevelInfo, "quota", "a change")
		if !strings.Contains(out.String(), "not_logged=80") {
			t.Errorf("after a pause: %s", &out)
		}
	})
}

func TestMachineNameIsAValidNodeName(t *testing.T) {
	if name := machineName(); name == "" || len(name) > 63 || strings.ContainsAny(name, ". /") {
		t.Errorf("name %q", name)
	}
}

func TestTheMemoryIsThreeQuartersOfWhatThereIs(t *testing.T) {
	for _, c := range []struct{ total, limit, want units.Bytes }{
		{16 * units.GiB, 0, 12 * units.GiB}, {16 * units.GiB, 4 * units.GiB, 3 * units.GiB}, {16 * units.GiB, 64 * units.GiB, 12 * units.GiB},
	} {
		if got := mostOf(c.total, c.limit); got != c.want {
			t.Errorf("of %v within %v: %v, want %v", c.total, c.limit, got, c.want)
		}
	}
}

func TestTheReserveIsATenthAndAtLeastATenthOfACore(t *testing.T) {
	if defaultReserve(0.5) != 0.1 || defaultReserve(64) != 6.4 {
		t.Errorf("%v, %v", defaultReserve(0.5), defaultReserve(64))
	}
}
