package main

import (
	"bufio"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// skips are the tests that may be skipped in a tier.
type skips []skip

type skip struct{ pkg, test string }

// readSkips reads the lines of a file that belong to tier. A line has the tiers,
// joined by commas, a package's directory in the module, a pattern of path.Match for
// the name of a test without its sub-tests, and the reason, which is for the reader
// and has to be there. # begins a comment.
func readSkips(file, tier string) (skips, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out skips
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		if len(fields) < 4 {
			return nil, fmt.Errorf("%s:%d: want tiers, package, test and reason", file, n)
		}
		if _, err := path.Match(fields[2], ""); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		if slices.Contains(strings.Split(fields[0], ","), tier) {
			out = append(out, skip{fields[1], fields[2]})
		}
	}
	return out, lines.Err()
}

// has reports whether a test of a package, given by its import path, is listed.
func (s skips) has(pkg, test string) bool {
	name, _, _ := strings.Cut(test, "/")
	return slices.ContainsFunc(s, func(x skip) bool {
		ok, _ := path.Match(x.test, name) // readSkips has tried the pattern.
		return ok && (pkg == x.pkg || strings.HasSuffix(pkg, "/"+x.pkg))
	})
}
