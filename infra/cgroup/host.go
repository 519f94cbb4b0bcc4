package cgroup

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sparkpacer/pacer/units"
)

// userHz is the unit of /proc/stat on every Linux port: ticks per second.
const userHz = 100

// Host measures what the whole machine uses. It is for one goroutine.
type Host struct {
	f   *os.File
	buf [512]byte
}

// OpenHost opens a file in the format of /proc/stat ("" is that file).
func OpenHost(path string) (*Host, error) {
	path = cmp.Or(path, "/proc/stat")
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cgroup: host usage: %w", err)
	}
	return &Host{f: f}, nil
}

// Work returns the CPU time that was not idle since boot, summed over the CPUs,
// to 10 ms. Time that a hypervisor took away counts: nobody here can use it.
func (h *Host) Work() (units.Work, error) {
	n, err := h.f.ReadAt(h.buf[:], 0)
	if n == 0 && err != nil {
		return 0, fmt.Errorf("cgroup: host usage: %w", err)
	}
	rest, ok := bytes.CutPrefix(h.buf[:n], []byte("cpu "))
	if !ok {
		return 0, errors.New("cgroup: host usage: no line of all CPUs at the start of /proc/stat")
	}
	// user nice system idle iowait irq softirq steal; guest time is in user.
	const columns, idle, iowait = 8, 3, 4
	var busy int64
	for column := range columns {
		rest = bytes.TrimLeft(rest, " ")
		var n int64
		for len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' {
			n, rest = 10*n+int64(rest[0]-'0'), rest[1:]
		}
		if column != idle && column != iowait {
			busy += n
		}
	}
	return units.Work(float64(busy) / userHz), nil
}

// CPUs is how many CPUs the machine has, all of which Work counts, whatever this process may use
// of them; 0 where that is not told.
func (h *Host) CPUs() int {
	data, err := io.ReadAll(io.NewSectionReader(h.f, 0, 1<<20))
	if err != nil {
		return 0
	}
	n := 0
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte("cpu")); ok && len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' {
			n++
		}
	}
	return n
}

// Close closes the file.
func (h *Host) Close() error { return h.f.Close() }
