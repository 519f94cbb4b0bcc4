package cgroup_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
)

// Without permission the error says what has to be granted. The test drops its
// thread's rights on files only.
func TestPermissionFaultSaysWhatToGrant(t *testing.T) {
	for _, layout := range cgrouptest.Layouts() {
		t.Run(string(layout), func(t *testing.T) {
			tree := cgrouptest.New(t, layout)
			if os.Geteuid() == 0 {
				const nobody = 65534
				if err := os.Chmod(filepath.Dir(tree.Root), 0o755); err != nil {
					t.Fatal(err)
				}
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				if err := syscall.Setfsuid(nobody); err != nil {
					t.Fatal(err)
				}
				defer func() {
					if err := syscall.Setfsuid(0); err != nil {
						t.Fatal(err)
					}
				}()
			} else if err := os.Chmod(tree.Root, 0o500); err != nil {
				t.Fatal(err)
			}
			_, err := cgroup.Open(tree.Root, node)
			if !errors.Is(err, os.ErrPermission) {
				t.Fatalf("error %v", err)
			}
			for _, want := range []string{"as root", "chown -R", tree.Root, "Delegate"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}
