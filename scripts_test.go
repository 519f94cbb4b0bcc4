package pacer_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// setUp runs scripts/setup.sh as far as its first virtual environment, venv: all that it would
// look for or install before is a script, and its python3 has no packages. It returns what it
// said, and what it has called with which arguments.
func setUp(t *testing.T, venv string) (said, called string, err error) {
	t.Helper()
	bin, calls := t.TempDir(), filepath.Join(t.TempDir(), "calls")
	for name, script := range map[string]string{
		"go": "echo go1.26.0", "java": "", "javac": "echo javac 17", "mvn": "", "ip": "", "iptables": "", "dockerd": "",
		"python3": `echo "$@" >>` + calls + "; case $1 in -m) exit 3;; esac", "apt-get": "exit 4",
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("scripts/setup.sh")
	c.Env = append(os.Environ(), "PATH="+bin+":/usr/bin:/bin", "CACHE="+t.TempDir(), "VENV="+venv, "OLDEST=", "OTHERS=", "AS_ROOT=")
	out, err := c.CombinedOutput()
	lines, _ := os.ReadFile(calls)
	return string(out), string(lines), err
}

// Set-up leaves an environment that somebody else has made as it is, though there is no pip in it,
// and makes one of its own anew that was interrupted.
func TestSetUpRemovesWhatItHasMadeOnly(t *testing.T) {
	for _, c := range []struct {
		name, file string
		says, runs string
		kept       bool
	}{
		{"one of uv's", "pyvenv.cfg", "is not of set-up's making", "", true},
		{"one of its own", ".made-by-pacer", "making the virtual environment", "-m venv", false},
	} {
		venv := filepath.Join(t.TempDir(), "venv")
		other := filepath.Join(venv, "lib", "other")
		if err := errors.Join(os.MkdirAll(filepath.Dir(other), 0o755), os.WriteFile(other, nil, 0o600), os.WriteFile(filepath.Join(venv, c.file), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		said, called, err := setUp(t, venv)
		if err == nil || !strings.Contains(said, c.says) || !strings.Contains(called, c.runs) || c.runs == "" && called != "" {
			t.Errorf("%s: %v, it says %q and runs python3 with %q", c.name, err, said, called)
		}
		if _, err := os.Stat(other); (err == nil) != c.kept {
			t.Errorf("%s: what was in it: %v", c.name, err)
		}
	}
}

// Whatever pip installs is of a file that has its hash: who answers for the index decides on nothing. Each Spark that the
// Makefile names has one.
func TestAttackAPackageOfAnothersMaking(t *testing.T) {
	setup, err := os.ReadFile("scripts/setup.sh")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(setup)) {
		if strings.Contains(line, "/pip\" install") && !strings.Contains(line, "--require-hashes") {
			t.Errorf("without hashes: %s", line)
		}
	}
	lists, err := filepath.Glob("scripts/requirements/*.txt")
	if err != nil || len(lists) < 4 {
		t.Fatalf("%v, %v", lists, err)
	}
	pinned, last := regexp.MustCompile(`^[a-z0-9-]+==[0-9][0-9a-z.]* \\$`), regexp.MustCompile(`^    --hash=sha256:[0-9a-f]{64}( \\)?$`)
	for _, list := range lists {
		body, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(body)) {
			if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "# ") && !pinned.MatchString(line) && !last.MatchString(line) {
				t.Errorf("%s: %q is neither a version nor its hash", list, line)
			}
		}
	}
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^(NEWEST|EARLIEST|BETWEEN) *:= (.*)$`).FindAllStringSubmatch(string(makefile), -1) {
		for _, version := range strings.Fields(m[2]) {
			if _, err := os.Stat("scripts/requirements/pyspark-" + version + ".txt"); err != nil {
				t.Errorf("pyspark %s has no hash: %v", version, err)
			}
		}
	}
}
