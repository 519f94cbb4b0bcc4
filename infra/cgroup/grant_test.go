package cgroup_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
)

const unprivilegedEnv = "PACER_TEST_UNPRIVILEGED"

// unprivileged is a node controller without rights: it limits a process, ends it,
// and cleans up, all as another user.
func unprivileged(t *testing.T, parent string) error {
	const nobody = 65534
	if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
		return err
	}
	h, err := cgroup.Open("", parent)
	if err != nil {
		return err
	}
	g, err := h.Group("app-1-1")
	if err != nil {
		return err
	}
	if err := g.SetQuota(0.5); err != nil {
		return err
	}
	cmd := shellIn(t, g, "exec sleep 600")
	if pids, err := g.Procs(); err != nil || len(pids) != 1 {
		return fmt.Errorf("members %v, %w", pids, err)
	}
	if err := g.Remove(t.Context()); err != nil {
		return err
	}
	if err := cmd.Wait(); err == nil {
		return errors.New("its member was not killed")
	}
	return h.Remove(t.Context())
}

// Root does to the letter what the error says, and then another user can do all
// that a node controller does.
func TestRealGrantIsEnough(t *testing.T) {
	if parent := os.Getenv(unprivilegedEnv); parent != "" {
		if err := unprivileged(t, parent); err != nil {
			t.Fatal(err)
		}
		return
	}
	h := cgrouptest.Real(t)
	if os.Geteuid() != 0 {
		t.Skip("needs root to grant")
	}
	top := fmt.Sprintf("pacer-test-%d-grant", os.Getpid())
	for _, file := range group(t, h, "x").JoinFiles() {
		root := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(file))))
		t.Cleanup(func() {
			_ = os.Remove(filepath.Join(root, top, "controller"))
			// A group of v1's memory controller is granted only below the first one.
			if err := os.Remove(filepath.Join(root, top)); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() { cgrouptest.Clear(t, h) })
	try := func(script string) (string, error) {
		cmd := exec.Command("/bin/sh", "-c", script+"exec /proc/"+fmt.Sprint(os.Getpid())+"/exe -test.run '^TestRealGrantIsEnough$'")
		cmd.Dir, cmd.Env = "/", append(os.Environ(), unprivilegedEnv+"="+top+"/node")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := try("")
	_, script, _ := strings.Cut(out, "let root grant it once: ")
	script, _, said := strings.Cut(script, " (")
	if err == nil || !said || !strings.Contains(out, "permission denied") {
		t.Fatalf("without rights: %v\n%s", err, out)
	}
	script, _, _ = strings.Cut(script, ", and start it from that shell")
	if out, err := try(script + " && "); err != nil {
		t.Errorf("after %s: %v\n%s", script, err, out)
	}
}
