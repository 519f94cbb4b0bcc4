package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/sparkpacer/pacer/units"
)

const procsFile = "cgroup.procs"

// Weight is a group's share among its siblings when CPU is short, as a multiple
// of the kernel's default (cpu.shares 1024, cpu.weight 100).
type Weight float64

// WeightDefault is what the kernel gives a new group.
const WeightDefault Weight = 1

// parentPerCPU is Pacer's weight against one busy thread of the root group on
// each CPU: four parts in five are Pacer's (docs/decisions/023).
const parentPerCPU = 4

// ParentWeight is the weight of Pacer's parent group on a machine with that many
// CPUs. The kernel spreads a group's weight over the CPUs it runs on.
func ParentWeight(cpus int) Weight { return Weight(parentPerCPU * max(1, cpus)) }

// controls are the open files of a group; the two versions differ in nothing
// else. All methods work in buf and allocate nothing.
type controls interface {
	// writeQuota sets us per Period, noQuota for none.
	writeQuota(buf []byte, us int64) error
	// writePeriod sets Period where that is a write of its own.
	writePeriod(buf []byte) error
	// put sets a quota in us per period, whatever that is, by way of nothing that allows more than
	// what was in force and what is to be.
	put(buf []byte, us, period int64) error
	// readQuota returns the quota (noQuota for none) and the period in us.
	readQuota(buf []byte) (us, period int64, err error)
	used(buf []byte) (units.Work, error)
	usage(buf []byte) (units.Work, time.Duration, error)
	// quotaFiles are those whose content is the quota.
	quotaFiles() []*file
	close() error
}

func (h *Hierarchy) open(cpu, acct string) (controls, error) {
	if h.version == V2 {
		return openV2(h.kernel, cpu)
	}
	return openV1(h.kernel, cpu, acct)
}

// openQuota opens of the group dir what its quota is in.
func (h *Hierarchy) openQuota(dir string) (controls, error) {
	if h.version == V2 {
		limit, err := openFile(h.kernel, dir, "cpu.max", true)
		if err != nil {
			return nil, err
		}
		return &v2{max: limit}, nil
	}
	quota, err := openFile(h.kernel, dir, "cpu.cfs_quota_us", true)
	if err != nil {
		return nil, err
	}
	period, err := openFile(h.kernel, dir, "cpu.cfs_period_us", true)
	if err != nil {
		return nil, errors.Join(err, quota.close())
	}
	return &v1{quota: quota, period: period}, nil
}

// weightOf is the group's weight, 0 where that cannot be read.
func (h *Hierarchy) weightOf(dir string) Weight {
	name, unit := "cpu.shares", 1024.0
	if h.version == V2 {
		name, unit = "cpu.weight", 100
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseFloat(string(bytes.TrimSpace(data)), 64)
	return Weight(n / unit)
}

// setWeight writes w in the version's own unit, limited to what it takes.
func (h *Hierarchy) setWeight(dir string, w Weight) error {
	if !(w > 0) || math.IsInf(float64(w), 0) {
		return fmt.Errorf("cgroup: weight is %v, want a finite number > 0", float64(w))
	}
	name, value := "cpu.shares", min(262144, max(2, float64(w)*1024))
	if h.version == V2 {
		name, value = "cpu.weight", min(10000, max(1, float64(w)*100))
	}
	f, err := openFile(h.kernel, dir, name, true)
	if err != nil {
		return err
	}
	return errors.Join(f.write(strconv.AppendInt(nil, int64(math.Round(value)), 10)), f.close())
}

// SetWeight sets the weight of the executors of this node against one busy thread of the
// rest of the machine on each CPU. The weight that counts is that of Pacer's parent group, the first element of its
// path. Nodes of one machine share that in proportion to their weights, and it has that of the node that has most.
// Groups that no node controller has claimed do not count: one that was killed leaves its weight behind.
func (h *Hierarchy) SetWeight(w Weight) error {
	top := filepath.Join(h.roots[0], h.top())
	if h.cpu != top {
		if err := h.setWeight(h.cpu, w); err != nil {
			return err
		}
		nodes, err := os.ReadDir(top)
		if err != nil {
			return fmt.Errorf("cgroup: %w", err)
		}
		for _, n := range nodes {
			if dir := filepath.Join(top, n.Name()); n.IsDir() && dir != h.cpu && claimed(dir) {
				w = max(w, h.weightOf(dir))
			}
		}
	}
	return h.setWeight(top, w*Weight(runtime.NumCPU()))
}

// v1 controls: quota and period in us, usage and throttled_time in ns.
type v1 struct{ quota, period, stat, acct *file }

func openV1(kernel bool, cpu, acct string) (controls, error) {
	var v v1
	var err error
	for _, f := range []struct {
		to        **file
		dir, name string
		write     bool
	}{
		{&v.quota, cpu, "cpu.cfs_quota_us", true}, {&v.period, cpu, "cpu.cfs_period_us", true},
		{&v.stat, cpu, "cpu.stat", false}, {&v.acct, acct, "cpuacct.usage", false},
	} {
		if *f.to, err = openFile(kernel, f.dir, f.name, f.write); err != nil {
			return nil, errors.Join(err, v.close())
		}
	}
	return &v, nil
}

func (v *v1) writeQuota(buf []byte, us int64) error {
	return v.quota.write(strconv.AppendInt(buf, us, 10))
}

func (v *v1) writePeriod(buf []byte) error {
	return v.period.write(strconv.AppendInt(buf, Period.Microseconds(), 10))
}

func (v *v1) put(buf []byte, us, period int64) error {
	before, per, err := v.readQuota(buf)
	if err != nil {
		return err
	}
	first, second := v.period, v.quota
	a, b := period, us
	// Of both orders one is by way of less than the greater of the two: their product is the same.
	if us == noQuota || before != noQuota && float64(us)*float64(period) < float64(before)*float64(per) {
		first, second, a, b = v.quota, v.period, us, period
	}
	if err := first.write(strconv.AppendInt(buf[:0], a, 10)); err != nil {
		return err
	}
	return second.write(strconv.AppendInt(buf[:0], b, 10))
}

func (v *v1) readQuota(buf []byte) (us, period int64, err error) {
	data, err := v.period.read(buf)
	if err != nil {
		return 0, 0, err
	}
	if period, err = number(v.period, data, 100000); err != nil {
		return 0, 0, err
	}
	if data, err = v.quota.read(buf); err != nil {
		return 0, 0, err
	}
	us, err = number(v.quota, data, noQuota)
	return us, period, err
}

func (v *v1) used(buf []byte) (units.Work, error) {
	data, err := v.acct.read(buf)
	if err != nil {
		return 0, err
	}
	ns, err := number(v.acct, data, 0)
	return units.Work(float64(ns) / 1e9), err
}

func (v *v1) usage(buf []byte) (units.Work, time.Duration, error) {
	used, err := v.used(buf)
	if err != nil {
		return 0, 0, err
	}
	data, err := v.stat.read(buf)
	if err != nil {
		return 0, 0, err
	}
	throttled, err := field(v.stat, data, "throttled_time ")
	return used, time.Duration(throttled), err
}

func (v *v1) quotaFiles() []*file { return []*file{v.quota, v.period} }

func (v *v1) close() error {
	return errors.Join(v.quota.close(), v.period.close(), v.stat.close(), v.acct.close())
}

// v2 controls: cpu.max holds quota and period in us, cpu.stat counts in us.
type v2 struct{ max, stat *file }

func openV2(kernel bool, dir string) (controls, error) {
	limit, err := openFile(kernel, dir, "cpu.max", true)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil,
				fmt.Errorf("%w in %s", err, "a group without the cpu controller: is +cpu in its parent's cgroup.subtree_control?")
		}
		return nil, err
	}
	stat, err := openFile(kernel, dir, "cpu.stat", false)
	if err != nil {
		return nil, errors.Join(err, limit.close())
	}
	return &v2{max: limit, stat: stat}, nil
}

func (v *v2) writeQuota(buf []byte, us int64) error { return v.put(buf, us, Period.Microseconds()) }

func (v *v2) put(buf []byte, us, period int64) error {
	buf = buf[:0]
	if us == noQuota {
		buf = append(buf, "max"...)
	} else {
		buf = strconv.AppendInt(buf, us, 10)
	}
	return v.max.write(strconv.AppendInt(append(buf, ' '), period, 10))
}

// writePeriod does nothing: each write of the quota carries the period.
func (v *v2) writePeriod([]byte) error { return nil }

func (v *v2) readQuota(buf []byte) (us, period int64, err error) {
	data, err := v.max.read(buf)
	if err != nil {
		return 0, 0, err
	}
	quota, rest, _ := bytes.Cut(bytes.TrimSpace(data), []byte{' '})
	if period, err = number(v.max, rest, 100000); err != nil {
		return 0, 0, err
	}
	if string(quota) == "max" {
		return noQuota, period, nil
	}
	us, err = number(v.max, quota, noQuota)
	return us, period, err
}

func (v *v2) used(buf []byte) (units.Work, error) {
	data, err := v.stat.read(buf)
	if err != nil {
		return 0, err
	}
	used, err := field(v.stat, data, "usage_usec ")
	return units.Work(float64(used) / 1e6), err
}

func (v *v2) usage(buf []byte) (units.Work, time.Duration, error) {
	data, err := v.stat.read(buf)
	if err != nil {
		return 0, 0, err
	}
	used, err := field(v.stat, data, "usage_usec ")
	if err != nil {
		return 0, 0, err
	}
	throttled, err := field(v.stat, data, "throttled_usec ")
	return units.Work(float64(used) / 1e6), time.Duration(throttled) * time.Microsecond, err
}

func (v *v2) quotaFiles() []*file { return []*file{v.max} }

func (v *v2) close() error { return errors.Join(v.max.close(), v.stat.close()) }

// number reads a decimal number, def for an empty file.
func number(f *file, data []byte, def int64) (int64, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return def, nil
	}
	negative := data[0] == '-'
	if negative {
		data = data[1:]
	}
	var n int64
	for _, c := range data {
		if c < '0' || c > '9' || n > (math.MaxInt64-9)/10 {
			return 0, fmt.Errorf("cgroup: %s holds no number", f.name)
		}
		n = 10*n + int64(c-'0')
	}
	if len(data) == 0 {
		return 0, fmt.Errorf("cgroup: %s holds no number", f.name)
	}
	if negative {
		n = -n
	}
	return n, nil
}

// field returns the number behind key, which ends with a space, at the start of
// a line; 0 when the key is missing, as the kernel leaves out what it does not
// count.
func field(f *file, data []byte, key string) (int64, error) {
	for len(data) > 0 {
		line := data
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			line, data = data[:i], data[i+1:]
		} else {
			data = nil
		}
		if len(line) > len(key) && string(line[:len(key)]) == key {
			return number(f, line[len(key):], 0)
		}
	}
	return 0, nil
}
