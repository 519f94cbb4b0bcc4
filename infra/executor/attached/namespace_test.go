package attached_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor/attached"
)

// observe is a node controller's container, whose name space of groups is its own: it holds the executor 1, bounds it,
// says how, and lets it go.
func observe() {
	say := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	others, err := cgroup.OpenOthers("")
	if err != nil {
		say("%v", err)
		os.Exit(1)
	}
	say("blind: %v", others.Blind())
	r, err := attached.New(attached.Config{Groups: others, Parent: parent, State: os.Args[2], Boot: "b1", CPUs: 1024})
	if err == nil {
		h, startErr := r.Start(context.Background(), spec("1"))
		if err = startErr; err == nil {
			x := r.Of(h)
			say("unpaced: %s", x.Unpaced)
			if x.Group != nil {
				say("ceiling: %v of %v", x.Group.Ceiling(), x.Cores)
				err = x.Group.SetQuota(0.25)
				quota, readErr := x.Group.Quota()
				err = errors.Join(err, readErr)
				say("in force: %.2f", quota)
			}
		}
	}
	if err = errors.Join(err, r.Close(), others.Close()); err != nil {
		say("%v", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// unable takes CAP_SYS_ADMIN from this process and has it go on as another part.
func unable() {
	runtime.LockOSThread()
	err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_ADMIN, 0, 0, 0)
	if err = errors.Join(err, os.Setenv(plays, "observer")); err == nil {
		err = syscall.Exec("/proc/self/exe", os.Args, os.Environ())
	}
	fmt.Println(err)
	os.Exit(1)
}

// podGroup is a container's as a kubelet makes it by systemd, with containerd.
var podGroup = "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + uidSlice + ".slice/cri-containerd-" + container + ".scope"

// A node controller in a container of cgroup v2, which has names of its own for groups, bounds an executor in another
// one's where it has CAP_SYS_ADMIN, and puts the quota back. Without that it says what to add.
func TestRealV2NamesOfProcessOne(t *testing.T) {
	if _, err := os.Stat(filepath.Join(cgroup.DefaultRoot, "cgroup.controllers")); err != nil || os.Getuid() != 0 {
		t.Skip("needs root and cgroup v2")
	}
	dir := filepath.Join(cgroup.DefaultRoot, podGroup)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"", "kubepods.slice", filepath.Dir(filepath.Dir(podGroup)), filepath.Dir(podGroup)} {
		write(t, filepath.Join(cgroup.DefaultRoot, part, "cgroup.subtree_control"), "+cpu")
	}
	write(t, filepath.Join(dir, "cpu.max"), "150000 100000")
	group, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = group.Close()
		for part := podGroup; part != "."; part = filepath.Dir(part) {
			_ = os.Remove(filepath.Join(cgroup.DefaultRoot, part)) // A kubelet's own stay.
		}
	}()
	jvm := &exec.Cmd{Path: "/proc/self/exe", Args: command(k8sClass, "1"), Dir: t.TempDir(), Env: append(os.Environ(), plays+"=executor"),
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, UseCgroupFD: true, CgroupFD: int(group.Fd()), Cloneflags: syscall.CLONE_NEWCGROUP}}
	stdin, err := jvm.StdinPipe()
	stdout, outErr := jvm.StdoutPipe()
	if err = errors.Join(err, outErr, jvm.Start()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close(); _ = jvm.Wait() }()
	word := make([]byte, 256)
	if n, err := stdout.Read(word); err != nil || strings.TrimSpace(string(word[:n])) != "ready" {
		t.Fatalf("it says %q, %v", word[:n], err)
	}
	for part, want := range map[string][]string{
		"observer": {"blind: <nil>", "unpaced: \n", "ceiling: 1.50 of 2.00", "in force: 0.25"},
		"unable":   {"add SYS_ADMIN and SYS_PTRACE", "unpaced: cgroup: its groups lie outside", "operation not permitted"},
	} {
		cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{"nodecontroller", "", t.TempDir()}, Env: append(os.Environ(), plays+"="+part),
			SysProcAttr: &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWCGROUP}}
		out, err := cmd.Output()
		for _, line := range want {
			if !strings.Contains(string(out), line) {
				t.Errorf("%s: %q is not in what it says:\n%s", part, line, out)
			}
		}
		if text, readErr := os.ReadFile(filepath.Join(dir, "cpu.max")); err != nil || strings.TrimSpace(string(text)) != "150000 100000" {
			t.Errorf("%s: %q is left, %v", part, text, errors.Join(err, readErr))
		}
	}
}
