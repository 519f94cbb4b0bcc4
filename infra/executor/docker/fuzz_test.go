package docker

import (
	"path/filepath"
	"testing"
)

// FuzzMounts: whatever a list of mounts says, it is refused, or each of them is a place of
// its own below the root.
func FuzzMounts(f *testing.F) {
	f.Add("/data,/srv/models:ro /scratch:rw")
	f.Add("relative,/,/..:rw,/a:rwx,/a/../..")
	f.Fuzz(func(t *testing.T, list string) {
		mounts, err := ParseMounts(list)
		for _, m := range mounts {
			if !filepath.IsAbs(m.Path) || m.Path == "/" || m.Path != filepath.Clean(m.Path) {
				t.Errorf("%+v, %v", m, err)
			}
		}
	})
}
