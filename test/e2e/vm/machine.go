package vm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// qemu is the emulator of the kind of machine that scripts/vm.sh gets a kernel for.
const qemu = "qemu-system-x86_64"

// Parts are what a machine is made of beside its image: paths.
type Parts struct {
	Qemu, Kernel, BusyBox string
	// Disk is the kernel's module of RAM disks, an empty file where there is none.
	Disk string
}

// Find looks for the parts where scripts/vm.sh puts them; an error says what is
// missing and how to get it.
func Find() (Parts, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return Parts{}, fmt.Errorf("vm: the machine is of kind amd64 and this one is %s", runtime.GOARCH)
	}
	cache, err := cacheDir()
	if err != nil {
		return Parts{}, fmt.Errorf("vm: %w", err)
	}
	dir := filepath.Join(cache, "vm")
	p := Parts{Kernel: filepath.Join(dir, "vmlinuz"), BusyBox: filepath.Join(dir, "busybox"),
		Disk: filepath.Join(dir, "brd.ko")}
	for _, path := range []string{p.Kernel, p.BusyBox, p.Disk} {
		if _, err := os.Stat(path); err != nil {
			return Parts{}, fmt.Errorf("vm: %w: run scripts/vm.sh", err)
		}
	}
	if p.Qemu, err = exec.LookPath(qemu); err != nil {
		return Parts{}, fmt.Errorf("vm: %w: run scripts/vm.sh", err)
	}
	return p, nil
}

// cacheDir is the Makefile's cache.
func cacheDir() (string, error) {
	if dir := os.Getenv("CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "pacer"), err
}

// Run boots image and returns what came over its second serial port when the
// machine is off, and what it said on its console. dir is for both.
func (p Parts) Run(ctx context.Context, image, dir string) (results, console []byte, err error) {
	resultsFile, consoleFile := filepath.Join(dir, "results"), filepath.Join(dir, "console")
	// Emulated even where /dev/kvm is: inside another virtual machine KVM may hang,
	// and it would save some ten seconds. The kernel ends the machine when it
	// panics, as it does when /init ends.
	cmd := exec.CommandContext(ctx, p.Qemu, "-nodefaults", "-no-reboot", "-display", "none", "-machine", "pc,accel=tcg",
		"-cpu", "max",
		"-smp", "2", "-m", "768", "-kernel", p.Kernel, "-initrd", image,
		"-append", "console=ttyS0 panic=-1 loglevel=4 rdinit=/init mitigations=off random.trust_cpu=on",
		"-serial", "file:"+consoleFile, "-serial", "file:"+resultsFile)
	text, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = fmt.Errorf("vm: still running: %w", ctx.Err())
	} else if err != nil {
		err = fmt.Errorf("vm: %s: %w: %s", qemu, err, text)
	}
	var err1, err2 error
	results, err1 = os.ReadFile(resultsFile)
	console, err2 = os.ReadFile(consoleFile)
	return results, console, errors.Join(err, err1, err2)
}
