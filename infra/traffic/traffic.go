package traffic

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// Moved are bytes since the machine started: over disks, and by the network in both directions.
type Moved struct{ Disk, Received, Sent uint64 }

// sector is what /proc/diskstats counts in, whatever the disk's sectors are.
const sector = 512

// Read reads the counters below root, which is the machine's /.
func Read(root fs.FS) (m Moved, err error) {
	disks, err := fs.ReadFile(root, "proc/diskstats")
	if err != nil {
		return m, fmt.Errorf("bytes of disks: %w", err)
	}
	for line := range strings.Lines(string(disks)) {
		f := strings.Fields(line)
		if len(f) < 10 || !whole(root, f[2]) {
			continue
		}
		m.Disk += sector * (count(f[5]) + count(f[9]))
	}
	links, err := fs.ReadFile(root, "proc/net/dev")
	if err != nil {
		return m, fmt.Errorf("bytes of the network: %w", err)
	}
	var all Moved
	devices := false
	for line := range strings.Lines(string(links)) {
		name, counters, is := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		f := strings.Fields(counters)
		if !is || len(f) < 9 || name == "lo" {
			continue
		}
		received, sent := count(f[0]), count(f[8])
		all.Received, all.Sent = all.Received+received, all.Sent+sent
		if there(root, "sys/class/net/"+name+"/device") {
			devices = true
			m.Received, m.Sent = m.Received+received, m.Sent+sent
		}
	}
	if !devices {
		m.Received, m.Sent = all.Received, all.Sent
	}
	return m, nil
}

// made are beginnings of the names of what is made of other disks, or of memory.
var made = []string{"loop", "ram", "dm-", "md", "zram"}

// whole reports whether a block device is a disk of its own.
func whole(root fs.FS, name string) bool {
	for _, m := range made {
		if strings.HasPrefix(name, m) {
			return false
		}
	}
	return there(root, "sys/block/"+name)
}

func there(root fs.FS, name string) bool {
	_, err := fs.Stat(root, name)
	return err == nil
}

// count reads a counter, 0 for what is none.
func count(s string) uint64 {
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}

// Peak keeps the highest rates in bytes a second.
type Peak struct {
	Disk, Network units.Bytes
	last          Moved
	at            units.Instant
}

// Between two readings lies apart at least: less of it shows bursts that no device keeps up. A peak rises by news, a
// part, at least, so that it is told seldom.
const (
	apart = 500 * time.Millisecond
	news  = 0.01
)

// Observe takes a reading in.
func (p *Peak) Observe(m Moved, at units.Instant) {
	took := at.Sub(p.at)
	if p.at > 0 && took < apart {
		return
	}
	if p.at > 0 {
		p.Disk = risen(p.Disk, m.Disk, p.last.Disk, took)
		p.Network = risen(p.Network, m.Received, p.last.Received, took)
		p.Network = risen(p.Network, m.Sent, p.last.Sent, took)
	}
	p.last, p.at = m, at
}

// risen is a peak after a counter has gone from last to now. A counter that has gone back was one of a device that is
// gone.
func risen(peak units.Bytes, now, last uint64, took time.Duration) units.Bytes {
	if now < last {
		return peak
	}
	if rate := units.Bytes(float64(now-last) / took.Seconds()); float64(rate) > (1+news)*float64(peak) {
		return rate
	}
	return peak
}
