package spark

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // For Jar.
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Jar is the content of pacer-spark.jar.
//
//go:embed pacer-spark.jar
var Jar []byte

// hashDigits is how many hexadecimal digits of its SHA-256 name the jar.
const hashDigits = 12

// Name returns the jar's file name, pacer-spark-HASH.jar.
func Name() string {
	sum := sha256.Sum256(Jar)
	return "pacer-spark-" + hex.EncodeToString(sum[:])[:hashDigits] + ".jar"
}

// Install puts the jar into dir, which it creates if need be, and returns its
// path. It is atomic and idempotent: processes that install at the same time end
// with one whole file, and a file that is there already with the right content
// stays untouched. Everybody may read the file, because executors run as other
// users. Safe for concurrent use.
func Install(dir string) (string, error) {
	path := filepath.Join(dir, Name())
	switch there, err := os.ReadFile(path); {
	case err == nil && bytes.Equal(there, Jar):
		return path, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("install the pacer jar: %w", err)
	}
	if err := write(dir, path); err != nil {
		return "", fmt.Errorf("install the pacer jar: %w", err)
	}
	return path, nil
}

// write creates path with the jar's content in one step, by a rename.
func write(dir, path string) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".pacer-spark-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(Jar)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
