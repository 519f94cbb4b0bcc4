package vm

import (
	"context"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// module is what packages are named below.
const module = "github.com/sparkpacer/pacer/"

// Suite is a package's tests to run inside.
type Suite struct {
	// Package is the package's directory in the module, such as "infra/cgroup".
	Package string
	// Run selects its tests, as go test -run does.
	Run string
}

// name is that of the test binary.
func (s Suite) name() string { return path.Base(s.Package) }

// users are those that the tests look up, as Debian numbers them.
var users = map[string]string{
	"etc/passwd": "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/sh\n",
	"etc/group":  "root:x:0:\nnogroup:x:65534:\n",
	"etc/hosts":  "127.0.0.1 localhost\n",
}

// applets are the programs that the tests' shell scripts call.
var applets = []string{"sh", "sleep", "setsid", "id", "pwd", "cut", "env", "ls", "grep", "touch", "cat", "echo",
	"mkdir", "chown", "kill", "true", "head", "tr"}

// Build writes an initramfs with the suites to file. dir is for what it is made
// of. It needs the go command and is run inside the module.
func (p Parts) Build(ctx context.Context, suites []Suite, dir, file string) error {
	for _, d := range []string{"bin", "etc", "tests", "usr"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	if err := p.userland(dir); err != nil {
		return fmt.Errorf("vm: userland: %w", err)
	}
	if err := copyFile(p.Disk, filepath.Join(dir, "brd.ko"), 0o644); err != nil {
		return fmt.Errorf("vm: %w", err)
	}
	if err := compile(ctx, dir, "init", "build", module+"test/e2e/vm/guest"); err != nil {
		return err
	}
	type entry struct {
		Name string   `json:"name"`
		Args []string `json:"args"`
	}
	var list []entry
	for _, s := range suites {
		if err := compile(ctx, dir, "tests/"+s.name(), "test", "-c", module+s.Package); err != nil {
			return err
		}
		list = append(list, entry{s.name(), []string{"-test.v=test2json", "-test.timeout=8m", "-test.run=" + s.Run}})
	}
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "suites.json"), data, 0o644); err != nil {
		return err
	}
	return p.pack(ctx, dir, file)
}

// userland puts BusyBox, its names and the users into dir.
func (p Parts) userland(dir string) error {
	if err := copyFile(p.BusyBox, filepath.Join(dir, "bin", "busybox"), 0o755); err != nil {
		return err
	}
	for _, name := range applets {
		if err := os.Symlink("busybox", filepath.Join(dir, "bin", name)); err != nil {
			return err
		}
	}
	for name, text := range users {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return os.Symlink("/bin", filepath.Join(dir, "usr", "bin"))
}

// compile makes dir/name by the go command. Debug information would only have to
// be loaded. A binary that the C library is linked into at run time, which is
// cheaper to make where others of its kind are in the cache, gets it along.
func compile(ctx context.Context, dir, name string, args ...string) error {
	out := filepath.Join(dir, name)
	target := args[len(args)-1]
	args = append(args[:len(args)-1:len(args)-1], "-ldflags=-s -w", "-o", out, target)
	if text, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("vm: go %s: %w\n%s", strings.Join(args, " "), err, text)
	}
	return libraries(ctx, dir, out)
}

// libraries copies the shared libraries of a binary to where it looks for them.
func libraries(ctx context.Context, dir, binary string) error {
	file, err := elf.Open(binary)
	if err != nil {
		return fmt.Errorf("vm: %w", err)
	}
	defer file.Close()
	if !slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return nil
	}
	text, err := exec.CommandContext(ctx, "ldd", binary).Output()
	if err != nil {
		return fmt.Errorf("vm: ldd %s: %w", binary, err)
	}
	for _, word := range strings.Fields(string(text)) {
		if !strings.HasPrefix(word, "/") {
			continue
		}
		to := filepath.Join(dir, word)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := copyFile(word, to, 0o755); err != nil {
			return fmt.Errorf("vm: library: %w", err)
		}
	}
	return nil
}

// pack writes the files below dir in the kernel's archive format. They belong to
// root inside, whoever packs them.
func (p Parts) pack(ctx context.Context, dir, file string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	list, err := names(dir)
	if err != nil {
		return err
	}
	var faults strings.Builder
	cpio := exec.CommandContext(ctx, p.BusyBox, "cpio", "-o", "-H", "newc", "-R", "0:0")
	cpio.Dir, cpio.Stdin, cpio.Stdout, cpio.Stderr = dir, strings.NewReader(list), out, &faults
	if err := cpio.Run(); err != nil {
		return fmt.Errorf("vm: pack: %w: %s", err, faults.String())
	}
	return out.Close()
}

// names lists what is below dir, a line each, directories first.
func names(dir string) (string, error) {
	var list strings.Builder
	err := filepath.WalkDir(dir, func(file string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err == nil {
			fmt.Fprintln(&list, name)
		}
		return err
	})
	return list.String(), err
}

func copyFile(from, to string, mode os.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
