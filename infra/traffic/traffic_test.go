package traffic

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/sparkpacer/pacer/units"
)

const (
	disks = "   8       0 sda 10 0 2000 5 20 0 1000 7 0 3 12\n   8       1 sda1 10 0 2000 5 20 0 1000 7 0 3 12\n" +
		" 253       0 dm-0 10 0 2000 5 20 0 1000 7 0 3 12\n   7       0 loop0 1 0 500 0 0 0 0 0 0 0 0\n short\n"
	links = "Inter-|   Receive  |  Transmit\n face |bytes packets\n    lo: 900 1 0 0 0 0 0 0 900 1 0 0 0 0 0 0\n" +
		"  eth0: 100 1 0 0 0 0 0 0 40 1 0 0 0 0 0 0\n veth1: 7 1 0 0 0 0 0 0 3 1 0 0 0 0 0 0\n"
)

func machine(devices ...string) fstest.MapFS {
	m := fstest.MapFS{"proc/diskstats": {Data: []byte(disks)}, "proc/net/dev": {Data: []byte(links)},
		"sys/block/sda/size": {}, "sys/block/dm-0/size": {}, "sys/block/loop0/size": {}}
	for _, d := range devices {
		m["sys/class/net/"+d+"/device/uevent"] = &fstest.MapFile{}
	}
	return m
}

// Whole disks count, and links that are devices: of a namespace, which has none, all but the loopback.
func TestRead(t *testing.T) {
	for want, m := range map[Moved]fstest.MapFS{
		{Disk: 3000 * 512, Received: 100, Sent: 40}: machine("eth0"),
		{Disk: 3000 * 512, Received: 107, Sent: 43}: machine(),
	} {
		if got, err := Read(m); err != nil || got != want {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
	for _, file := range []string{"proc/diskstats", "proc/net/dev"} {
		m := machine()
		delete(m, file)
		if _, err := Read(m); err == nil {
			t.Errorf("no error without %s", file)
		}
	}
}

// A peak is the highest rate between two readings: it stays where less moves, bursts are not looked at, and a counter
// that begins anew is none.
func TestPeak(t *testing.T) {
	var p Peak
	second := units.Instant(time.Second)
	for i, c := range []struct {
		at   units.Instant
		m    Moved
		disk units.Bytes
		net  units.Bytes
	}{
		{10 * second, Moved{1000, 1000, 1000}, 0, 0},
		{12 * second, Moved{3000, 1100, 1400}, 1000, 200},
		{12*second + 1, Moved{9000, 9000, 9000}, 1000, 200},
		{14 * second, Moved{3010, 1700, 1400}, 1000, 300},
		{15 * second, Moved{4015, 0, 0}, 1000, 300},
		{16 * second, Moved{6015, 10, 0}, 2000, 300},
	} {
		if p.Observe(c.m, c.at); p.Disk != c.disk || p.Network != c.net {
			t.Errorf("reading %d: %d and %d, want %d and %d", i, p.Disk, p.Network, c.disk, c.net)
		}
	}
}
