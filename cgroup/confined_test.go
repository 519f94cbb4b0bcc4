package cgroup

import (
	"os"
	"path/filepath"
	"testing"
)

// Who was put into a group of the memory controller is bound by it: executors stay there.
func TestConfined(t *testing.T) {
	for text, want := range map[string]bool{
		"9:pids:/\n4:memory:/\n1:cpu:/\n0::/\n":                  false,
		"4:memory:/user.slice/x.service\n1:cpu:/\n":              true,
		"3:cpu,memory:/\n":                                       false,
		"3:cpu,memory:/a:b\n":                                    true,
		"0::/system.slice/memory\n2:hugetlb:/memory\n1:cpu:/a\n": true, // It is not known.
		"": true,
	} {
		path := filepath.Join(t.TempDir(), "cgroup")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := confined(path); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if !confined(filepath.Join(t.TempDir(), "none")) {
		t.Error("what cannot be read")
	}
}
