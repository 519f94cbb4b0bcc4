package spark

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// built has pacer-spark.jar, once it is built, and pacer-spark.txt, which is always
// there: a pattern that matches no file would keep a fresh clone from compiling.
//
//go:embed pacer-spark.*
var built embed.FS

// Jar is the content of pacer-spark.jar; empty in a binary that was built before
// the jar.
var Jar = carried()

// ErrNoJar is why a binary that carries no jar cannot install one.
var ErrNoJar = errors.New("this binary was built without pacer-spark.jar: run make build")

func carried() []byte {
	jar, err := built.ReadFile("pacer-spark.jar")
	if err != nil {
		return nil // It is not among the files, the only fault that there can be.
	}
	return jar
}

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
// users. Without a jar it returns ErrNoJar. Safe for concurrent use.
func Install(dir string) (string, error) {
	if len(Jar) == 0 {
		return "", ErrNoJar
	}
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
