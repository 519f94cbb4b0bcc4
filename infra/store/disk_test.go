package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/buntdb"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/store"
)

// thinDisk mounts a file system on a disk that takes no more than some 2 MiB of the 64 that
// it says it has. What is written beyond that is lost, and only a sync is told of it.
func thinDisk(t *testing.T) string {
	t.Helper()
	below, dir := t.TempDir(), t.TempDir()
	run := func(name string, args ...string) (string, error) {
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%s %v: %w: %s", name, args, err, out)
		}
		return strings.TrimSpace(string(out)), err
	}
	undo := func(what func() error) {
		t.Cleanup(func() {
			if err := what(); err != nil {
				t.Error(err)
			}
		})
	}
	if err := syscall.Mount("pacer-store", below, "tmpfs", 0, "size=3m"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	unmount := func(dir string) func() error {
		return func() (err error) {
			for range 100 { // The kernel may still write what the test has given up.
				if err = syscall.Unmount(dir, 0); !errors.Is(err, syscall.EBUSY) {
					return err
				}
				syscall.Sync()
			}
			return err
		}
	}
	undo(unmount(below))
	image := filepath.Join(below, "image")
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, 64<<20)); err != nil {
		t.Fatal(err)
	}
	if _, err := run("mkfs.ext4", "-q", "-O", "^has_journal", "-E", "lazy_itable_init=1,nodiscard", image); err != nil {
		t.Skip(err)
	}
	loop, err := run("losetup", "-f", "--show", image)
	if err != nil {
		t.Skip(err)
	}
	undo(func() error { _, err := run("losetup", "-d", loop); return err })
	if err := syscall.Mount(loop, dir, "ext4", 0, ""); err != nil {
		t.Skipf("cannot mount %s: %v", loop, err)
	}
	undo(unmount(dir))
	return dir
}

// On a disk that does not take what is written BuntDB says that it has synced. A File says
// that it has not.
func TestADiskThatFailsAtASync(t *testing.T) {
	dir := thinDisk(t)
	noise := make([]byte, 256<<10)
	random := rand.New(rand.NewPCG(9, 9))
	db, err := buntdb.Open(filepath.Join(dir, "bunt.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // Before the disk goes.
	if err := db.SetConfig(buntdb.Config{SyncPolicy: buntdb.Always}); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(filepath.Join(dir, "s.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	refused, dropped := 0, 0
	for k := range 16 { // 4 MiB each.
		for i := range noise {
			noise[i] = byte(random.Uint32())
		}
		if err := s.Apply([]api.Pair{{Key: fmt.Sprint("v/", k), Value: noise}}); errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENOSPC) {
			refused++
		} else if err != nil {
			t.Fatal(err)
		}
		err := db.Update(func(tx *buntdb.Tx) error {
			_, _, err := tx.Set(fmt.Sprint("v/", k), string(noise), nil)
			return err
		})
		if err == nil && refused > 0 {
			dropped++
		}
	}
	if refused == 0 || dropped == 0 {
		t.Errorf("the disk took less than 8 MiB: %d changes were refused, and of BuntDB's %d none", refused, dropped)
	}
	t.Logf("%d changes were refused; meanwhile BuntDB said of %d that they are on the disk", refused, dropped)
}
