package page_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/web/page"
)

// What others have written is what scripts/vendor.sh fetched, and each file of it is listed.
func TestTheLibrariesAreThoseOfTheList(t *testing.T) {
	list, err := os.ReadFile("lib/files.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for line := range strings.Lines(string(list)) {
		if f := strings.Fields(line); len(f) == 4 && f[0] != "#" {
			listed[path.Join("lib", f[2])] = f[3]
		}
	}
	for name, want := range listed {
		body, err := os.ReadFile(name)
		if sum := sha256.Sum256(body); err != nil || hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s is not the one of lib/files.txt (%v): run scripts/vendor.sh", name, err)
		}
	}
	for _, name := range files(t) {
		if strings.HasPrefix(name, "lib/") && listed[name] == "" {
			t.Errorf("lib/files.txt does not list %s", name)
		}
	}
}

var (
	addresses = regexp.MustCompile(`(?:href|src)="([^"#]+)"|from "([^"]*)"|import\("([^"]*)"\)`)
	mapped    = regexp.MustCompile(`"([^"]+)": "\./([^"]+)"`)
)

// All that the page loads is embedded, and beside it.
func TestAllAddressesAreRelativeAndThere(t *testing.T) {
	there := map[string]bool{}
	for _, name := range files(t) {
		there[name] = true
	}
	index := read(t, "index.html")
	imports := map[string]bool{}
	for _, m := range mapped.FindAllStringSubmatch(index, -1) {
		imports[m[1]] = true
		if !there[m[2]] {
			t.Errorf("the import map has %s, which is not embedded", m[2])
		}
	}
	for _, name := range files(t) {
		if strings.HasPrefix(name, "lib/") {
			continue
		}
		for _, m := range addresses.FindAllStringSubmatch(read(t, name), -1) {
			to := m[1] + m[2] + m[3]
			if at, relative := strings.CutPrefix(to, "./"); !(relative && there[at]) && !imports[to] {
				t.Errorf("%s loads %q, which is neither beside it nor in the import map", name, to)
			}
		}
	}
}

// The policy allows the import map by its hash, and nothing else that is not the page's own.
func TestPolicy(t *testing.T) {
	p := page.Policy()
	for _, want := range []string{"default-src 'none'", "script-src 'self' 'sha256-", "style-src 'self';", "frame-ancestors 'none'",
		"require-trusted-types-for 'script'"} {
		if !strings.Contains(p, want) {
			t.Errorf("%q is not in %q", want, p)
		}
	}
	for _, no := range []string{"unsafe", "*", "data:", "http"} {
		if strings.Contains(p, no) {
			t.Errorf("%q is in %q", no, p)
		}
	}
}

func files(t *testing.T) (all []string) {
	t.Helper()
	err := fs.WalkDir(page.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, name)
		}
		return err
	})
	if err != nil || len(all) < 10 {
		t.Fatal(all, err)
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	body, err := page.Files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
