package bus

import (
	"errors"
	"os"
	"path/filepath"
)

// WriteSecret writes a file that only its owner can read, and its directory; the file is
// whole or as it was.
func WriteSecret(path string, body []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return replace(path, 0o600, body)
}

// replace writes a file that is whole or as it was, and on the disk when it returns.
func replace(path string, mode os.FileMode, body []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // Of mode 0600.
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
