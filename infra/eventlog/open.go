package eventlog

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Open returns the files of the log at a path: a file, or the directory of a log in several.
func Open(path string) ([]Source, error) {
	is, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open an event log: %w", err)
	}
	if !is.IsDir() {
		return []Source{source(path)}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("open an event log: %w", err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if names = inOrder(names); len(names) == 0 {
		return nil, fmt.Errorf("open an event log: %s has no file events_1_..., which a log in several files has", path)
	}
	var all []Source
	for _, name := range names {
		all = append(all, source(filepath.Join(path, name)))
	}
	return all, nil
}

func source(path string) Source {
	return Source{Name: path, Open: func() (io.ReadCloser, error) { return os.Open(path) }}
}

// numbered is a file of a log in several.
var numbered = regexp.MustCompile(`^events_(\d{1,9})_.*?(\.compact)?$`)

// inOrder are the names that are a log's, in the order in which they were written. A compacted one stands
// for all files up to its own number.
func inOrder(names []string) []string {
	type file struct {
		name    string
		n       int
		compact bool
	}
	var files []file
	from := 0
	for _, name := range names {
		parts := numbered.FindStringSubmatch(name)
		if parts == nil {
			continue
		}
		n, _ := strconv.Atoi(parts[1])
		if parts[2] != "" {
			from = max(from, n)
		}
		files = append(files, file{name, n, parts[2] != ""})
	}
	files = slices.DeleteFunc(files, func(f file) bool { return f.n < from || f.n == from && !f.compact && from > 0 })
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(cmp.Compare(a.n, b.n), strings.Compare(a.name, b.name)) })
	var sorted []string
	for _, f := range files {
		sorted = append(sorted, f.name)
	}
	return sorted
}

// Logs are the paths of all logs in a directory, as a history server has them: files, and directories of logs in
// several.
func Logs(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("look for event logs: %w", err)
	}
	var paths []string
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || e.IsDir() && !strings.HasPrefix(name, "eventlog_v2_") {
			continue
		}
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths, nil
}
