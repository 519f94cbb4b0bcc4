package cli

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // Machines without zones of their own are told of them by TZ, too.
)

// unknownZone begins the name of a location that stands for a zone which is not known: its times are those of UTC.
const unknownZone = "TZ="

// zoneOf is the time zone of this machine's user: local is what package time makes of tz, the value of TZ. That
// takes a zone which has no file for UTC; C libraries and JVMs read one that says by itself how far it is from
// UTC, in the form of POSIX.
func zoneOf(tz string, local *time.Location) *time.Location {
	name := strings.TrimPrefix(tz, ":")
	if name == "" || name == "UTC" || local.String() != "UTC" {
		return local
	}
	if zone, err := posixZone(name); err == nil {
		return zone
	}
	return time.FixedZone(unknownZone+strconv.Quote(tz), 0)
}

// posixZone is a zone such as UTC-14 or CET-1CEST,M3.5.0,M10.5.0/3. Package time reads these at the end of files
// alone, so it is made one: of version 2, without transitions, whose only type of local time is that of a rule that
// cannot be read.
func posixZone(rule string) (*time.Location, error) {
	const unread = "unread"
	head := append([]byte("TZif2"), make([]byte, 15)...)
	file := append(head, make([]byte, 6*4)...) // There is nothing of version 1.
	file = append(file, head...)
	for _, count := range []int{0, 0, 0, 0, 1, len(unread) + 1} {
		file = binary.BigEndian.AppendUint32(file, uint32(count))
	}
	file = append(file, make([]byte, 6)...) // Type 0: as UTC, named by the first text.
	file = append(file, unread+"\x00\n"+rule+"\n"...)
	zone, err := time.LoadLocationFromTZData(rule, file)
	if err != nil {
		return nil, fmt.Errorf("zone %q: %w", rule, err)
	}
	name, _ := time.Unix(0, 0).In(zone).Zone()
	if name == unread || strings.ContainsFunc(rule, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("zone %q: want a name with an offset, as UTC-14", rule)
	}
	return zone, nil
}
