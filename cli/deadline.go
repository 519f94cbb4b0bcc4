package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/units"
)

// deadlineValue checks a deadline in Spark's notation.
func deadlineValue(what, text string) (units.Seconds, error) {
	d, err := units.ParseDuration(text)
	if err != nil {
		return 0, command.Usagef("%s: %w", what, err)
	}
	if d <= 0 {
		return 0, command.Usagef("%s: %q is not after the start", what, text)
	}
	return units.FromDuration(d), nil
}

// typedDeadline is deadlineValue of what a person types, who may mean minutes where no unit stands. Settings of Spark
// count seconds then, as all of Spark's do.
func typedDeadline(what, text string) (units.Seconds, error) {
	number := strings.TrimPrefix(strings.TrimSpace(text), "+")
	if number != "" && strings.Trim(number, "0123456789") == "" {
		return 0, command.Usagef("%s: %q has no unit: %ss or %sm?", what, text, number, number)
	}
	return deadlineValue(what, text)
}

// sparkTime returns text if Spark reads it as d does, else d in milliseconds.
func sparkTime(text string, d time.Duration) string {
	if digits := strings.TrimRight(text, "smhd"); len(digits) < len(text) && strings.Trim(digits, "0123456789") == "" &&
		digits != "" {
		return text
	}
	return fmt.Sprintf("%dms", d.Milliseconds())
}

// untilClock returns the time from now until the next HH:MM or HH:MM:SS in now's time zone, which has to be known. It
// also takes a full date and time, and is not above 0 for one that is past. what names the text in errors.
func untilClock(what, text string, now time.Time) (time.Duration, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.Sub(now), nil
	}
	if zone := now.Location().String(); strings.HasPrefix(zone, unknownZone) {
		return 0, command.Usagef("%s %q: the time zone of %s is not known here: want a date and time with its offset, "+
			"such as 2026-01-31T06:00:00+01:00, or a TZ that is a file of zones or in the form of POSIX, such as UTC-1",
			what, text, zone)
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		clock, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		// Days are added by date, so that 06:00 is 06:00 after a change of clocks.
		at := func(days int) time.Time {
			return time.Date(now.Year(), now.Month(), now.Day()+days, clock.Hour(), clock.Minute(), clock.Second(), 0,
				now.Location())
		}
		for days := 0; ; days++ {
			if t := at(days); t.After(now) {
				return t.Sub(now), nil
			}
		}
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t.Sub(now), nil
		}
	}
	return 0, command.Usagef("%s %q: want a time such as 06:00, or a date and time such as 2026-01-31T06:00", what, text)
}
