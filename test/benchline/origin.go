package benchline

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// beside are the directories of the module that the product is not made of: what
// tests and measures it, and what tells of it.
var beside = []string{".ci", ".git", "bin", "docs", "out", "scripts", "target", "test", "testdata"}

// Sources is a hash of what the product and the applications that measure it are made
// of below root: Go without tests, Scala, Maven's and Go's build files.
func Sources(root string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && slices.Contains(beside, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || !made(d.Name()):
			return nil
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		fmt.Fprintf(sum, "%q %d\n", filepath.ToSlash(name), len(body))
		sum.Write(body)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("hash the sources: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)[:6]), nil
}

// made reports whether the product is made of files of that name.
func made(name string) bool {
	switch filepath.Ext(name) {
	case ".go":
		return !strings.HasSuffix(name, "_test.go")
	case ".scala", ".py":
		return true
	}
	return name == "pom.xml" || name == "go.mod" || name == "go.sum"
}

// Commit is the commit of the tree at root, with "-dirty" behind it where files
// differ from it, "none" outside a repository. Files of figures make no tree dirty.
func Commit(root string) string {
	git := func(args ...string) (string, error) {
		c := exec.Command("git", args...)
		c.Dir = root
		out, err := c.Output()
		return strings.TrimSpace(string(out)), err
	}
	commit, err := git("rev-parse", "--short=12", "HEAD")
	if err != nil {
		return None
	}
	if changed, err := git("status", "--porcelain", "--", ".", ":!docs/figures.*"); err != nil || changed != "" {
		commit += "-dirty"
	}
	return commit
}

// Machine is the machine's part of an Origin: what runs here, with the Spark in the
// directory spark ("" for none) and the java of PATH.
func Machine(spark string) Origin {
	o := Origin{Spark: None, Java: None, Kernel: None, Cores: runtime.NumCPU()}
	const prefix, suffix = "spark-core_2.13-", ".jar"
	if found, _ := filepath.Glob(filepath.Join(spark, "jars", prefix+"*"+suffix)); spark != "" && len(found) > 0 {
		o.Spark = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(found[0]), prefix), suffix)
	}
	// It says its version on the standard error: openjdk version "17.0.17" 2025-10-21.
	if out, err := exec.Command("java", "-version").CombinedOutput(); err == nil {
		if parts := strings.SplitN(string(out), `"`, 3); len(parts) == 3 {
			o.Java = parts[1]
		}
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		o.Kernel = unix.ByteSliceToString(name.Release[:])
	}
	return o
}
