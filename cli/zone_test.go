package cli

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/cli/command"
)

// The oracle is the zones' own files: a rule says of the years since 1996 what they say.
func TestZonesOfPOSIXAreUnderstood(t *testing.T) {
	for _, c := range []struct{ tz, same string }{
		{"CET-1CEST,M3.5.0,M10.5.0/3", "Europe/Berlin"},
		{":CET-1CEST,M3.5.0,M10.5.0/3", "Europe/Berlin"},
		{"EST5EDT,M3.2.0,M11.1.0", "America/New_York"},
		{"NZST-12NZDT,M9.5.0,M4.1.0/3", "Pacific/Auckland"},
		{"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "Australia/Lord_Howe"},
		{"UTC-14", "Pacific/Kiritimati"},
		{"XYZ-14", "Pacific/Kiritimati"},
		{"<+0545>-5:45", "Asia/Kathmandu"},
		{"<-02>2", "Etc/GMT+2"},
		{"UTC0", "Etc/UTC"},
	} {
		want, err := time.LoadLocation(c.same)
		if err != nil {
			t.Fatal(err)
		}
		zone := zoneOf(c.tz, time.UTC)
		for at := time.Date(2008, 1, 1, 0, 30, 0, 0, time.UTC); at.Year() < 2028; at = at.Add(11 * time.Hour) {
			_, got := at.In(zone).Zone()
			if _, offset := at.In(want).Zone(); got != offset {
				t.Errorf("TZ=%s is %d s off UTC at %v, want %d", c.tz, got, at, offset)
				break
			}
		}
	}
}

func TestAZoneWithAFileIsTakenAsItIs(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for tz, local := range map[string]*time.Location{"": time.UTC, "UTC": time.UTC, ":UTC": time.UTC, ":": time.UTC, "Europe/Berlin": berlin} {
		if got := zoneOf(tz, local); got != local {
			t.Errorf("TZ=%q is %v, want %v", tz, got, local)
		}
	}
}

// A time of day means nothing in a zone that is not known, a moment with an offset does.
func TestAZoneThatIsNotKnownIsRefusedWhereItCounts(t *testing.T) {
	for _, tz := range []string{"Mars/Base", "Europe/Nowhere", "UTC-", "14", "<+14", "/no/such/file", "UTC-14\nUTC", "UTC+999"} {
		w := newWorld(t)
		w.now = w.now.In(zoneOf(tz, time.UTC))
		f := startPlanner(t, &fakePlanner{})
		w.fakeSpark(t, "exit 0")
		for _, args := range []string{"--pacer-by 06:00", "--pacer-by 2999-01-01T06:00", "--conf spark.pacer.by=06:00"} {
			o := w.run(t, append([]string{"submit", "--pacer-planner", f.address}, append(strings.Fields(args), "app.py")...)...)
			o.wantLine(t, command.ExitUsage, "TZ="+strconv.Quote(tz))
		}
		if o := w.run(t, "submit", "--pacer-planner", f.address, "--pacer-by", "2999-01-01T06:00:00+14:00", "app.py"); o.code != 0 {
			t.Errorf("TZ=%q, a moment with its offset: exit code %d, %s", tz, o.code, o.err)
		}
	}
}
