package cgroup

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// PressureDir is where Linux shows how long tasks wait.
const PressureDir = "/proc/pressure"

// MachinePressure reads which part of the last ten seconds tasks of the machine have waited for CPU, memory and disks.
// dir has the kernel's files of it, as PressureDir. A kernel without them is os.ErrNotExist; one that was started
// without psi=1 has files that cannot be read.
func MachinePressure(dir string) (p api.Pressure, err error) {
	for _, f := range []struct {
		name string
		into *units.Fraction
	}{{"cpu", &p.CPU}, {"memory", &p.Memory}, {"io", &p.IO}} {
		if *f.into, err = some(filepath.Join(dir, f.name)); err != nil {
			return api.Pressure{}, err
		}
	}
	return p, nil
}

// waits is which part of the last ten seconds some task of the group dir has waited for memory, 0 where the kernel does
// not count that, as in v1.
func waits(dir string) units.Fraction {
	p, err := some(filepath.Join(dir, pressureV2))
	if err != nil {
		return 0
	}
	return p
}

// some reads the mean of ten seconds of the line "some" of a file of pressure.
func some(path string) (units.Fraction, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("cgroup: pressure: %w", err)
	}
	_, rest, found := bytes.Cut(data, []byte("some avg10="))
	text, _, _ := bytes.Cut(rest, []byte(" "))
	percent, err := strconv.ParseFloat(string(text), 64)
	if !found || err != nil || !(percent >= 0 && percent <= 100) {
		return 0, fmt.Errorf("cgroup: pressure: %s does not say how long some task waited", path)
	}
	return units.Fraction(percent / 100), nil
}
