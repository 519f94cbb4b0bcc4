package cgroup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/infra/cgroup"
)

func hostFile(t *testing.T, content string) (*cgroup.Host, func(string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stat")
	write := func(content string) {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(content)
	h, err := cgroup.OpenHost(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h, write
}

func TestHostWork(t *testing.T) {
	//                  user nice system idle iowait irq softirq steal guest
	h, write := hostFile(t, "cpu  100 10 50 9000 40 1 2 3 70 0\ncpu0 1 2 3\n")
	if work, err := h.Work(); err != nil || work != 1.66 {
		t.Errorf("work %v, %v, want 1.66", work, err)
	}
	write("cpu  175 10 75 9500 90 1 2 3 70 0\ncpu0 1 2 3\n")
	if work, err := h.Work(); err != nil || work != 2.66 {
		t.Errorf("work %v, %v, want 2.66", work, err)
	}
}

func TestHostWorkRefusesOtherFiles(t *testing.T) {
	h, _ := hostFile(t, "intr 1 2 3\n")
	if _, err := h.Work(); err == nil || !strings.Contains(err.Error(), "/proc/stat") {
		t.Errorf("error %v", err)
	}
}

func TestHostWorkOfThisMachine(t *testing.T) {
	h, err := cgroup.OpenHost("")
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	before, err := h.Work()
	if err != nil || before <= 0 {
		t.Fatalf("work %v, %v", before, err)
	}
	if after, err := h.Work(); err != nil || after < before {
		t.Errorf("work went from %v to %v, %v", before, after, err)
	}
	if n := testing.AllocsPerRun(20, func() { _, _ = h.Work() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestHostCPUs(t *testing.T) {
	h, write := hostFile(t, "cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 1 2 3 4 5 6 7 8 0 0\nintr 7\n")
	if got := h.CPUs(); got != 2 {
		t.Errorf("%d CPUs, want 2", got)
	}
	write("cpu  1 2 3 4 5 6 7 8 0 0\n")
	if got := h.CPUs(); got != 0 {
		t.Errorf("%d CPUs of a file that tells none", got)
	}
}
