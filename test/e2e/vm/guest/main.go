package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	groups  = "/sys/fs/cgroup"
	results = "/dev/ttyS1"
)

// suite is a test binary with its arguments, as package vm writes them to
// /suites.json.
type suite struct {
	Name string   `json:"name"`
	Args []string `json:"args"`
}

func main() {
	if os.Getpid() != 1 {
		if len(os.Args) == 2 && os.Args[1] == "run" && os.Getppid() == 1 {
			if err := runAll(); err != nil {
				fmt.Fprintln(os.Stderr, "guest:", err)
				os.Exit(1)
			}
			return
		}
		fmt.Fprintln(os.Stderr, "guest: this is /init of a virtual machine of Pacer's tests")
		os.Exit(64)
	}
	if err := boot(); err != nil {
		fmt.Println("guest:", err)
	}
	syscall.Sync()
	if err := unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF); err != nil {
		fmt.Println("guest: power off:", err)
	}
}

// boot prepares the machine, starts the runner in a service's group, and reaps
// until it has ended.
func boot() error {
	if err := errors.Join(mounts(), loopback(), disk()); err != nil {
		return err
	}
	service, err := layout()
	if err != nil {
		return err
	}
	defer service.Close()
	runner := exec.Command("/init", "run")
	runner.Stdout, runner.Stderr = os.Stdout, os.Stderr
	runner.Env = []string{"PATH=/bin", "HOME=/tmp", "TMPDIR=/tmp", "XDG_CACHE_HOME=/tmp/cache"}
	runner.SysProcAttr = &syscall.SysProcAttr{Setsid: true, UseCgroupFD: true, CgroupFD: int(service.Fd())}
	if err := runner.Start(); err != nil {
		return err
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return fmt.Errorf("wait: %w", err)
		case pid == runner.Process.Pid:
			return nil
		}
	}
}

func mounts() error {
	for _, m := range []struct{ source, target, kind, options string }{
		{"proc", "/proc", "proc", ""},
		{"sysfs", "/sys", "sysfs", ""},
		{"devtmpfs", "/dev", "devtmpfs", ""},
		{"tmpfs", "/tmp", "tmpfs", "mode=1777"},
		{"cgroup2", groups, "cgroup2", "nsdelegate,memory_recursiveprot"}, // As systemd mounts it.
	} {
		if err := os.MkdirAll(m.target, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.source, m.target, m.kind, unix.MS_NOSUID, m.options); err != nil {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
	}
	return nil
}

// loopback brings lo up.
func loopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("lo: %w", err)
	}
	return nil
}

// disk makes a RAM disk of 256 MiB, which takes memory only for what is written to it: the
// tests' files are in memory, and the kernel's page cache is of block devices. A kernel without
// the module has none.
func disk() error {
	module, err := os.ReadFile("/brd.ko")
	if err != nil || len(module) == 0 {
		return err
	}
	if err := unix.InitModule(module, "rd_nr=1 rd_size=262144"); err != nil {
		return fmt.Errorf("RAM disk: %w", err)
	}
	return nil
}

// layout makes the groups that systemd makes, as far as tests can tell, and
// returns the one for the tests, open.
func layout() (*os.File, error) {
	service := filepath.Join(groups, "system.slice", "tests.service")
	scope := filepath.Join(groups, "init.scope")
	if err := errors.Join(os.MkdirAll(service, 0o755), os.Mkdir(scope, 0o755)); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(scope, "cgroup.procs"), []byte("1"), 0o644); err != nil {
		return nil, err
	}
	// As systemd does where something accounts for memory. A kernel without it is told by a test.
	_ = os.WriteFile(filepath.Join(groups, "cgroup.subtree_control"), []byte("+memory"), 0o644)
	return os.Open(service)
}

// runAll runs the suites; each one's output is between a line "suite NAME" and a
// line "end NAME: HOW", both after a character that no test prints.
func runAll() error {
	data, err := os.ReadFile("/suites.json")
	if err != nil {
		return err
	}
	var suites []suite
	if err := json.Unmarshal(data, &suites); err != nil {
		return err
	}
	out, err := os.OpenFile(results, os.O_WRONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer out.Close()
	for _, s := range suites {
		fmt.Fprintf(out, "\x01suite %s\n", s.Name)
		fmt.Fprintf(out, "\x01end %s: %s\n", s.Name, run(s, out))
	}
	return unix.IoctlSetInt(int(out.Fd()), unix.TCSBRK, 1) // Until all is sent.
}

func run(s suite, out io.Writer) string {
	cmd := exec.Command(filepath.Join("/tests", s.Name), s.Args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", out, out
	if err := cmd.Run(); err != nil {
		return err.Error()
	}
	return "ok"
}
