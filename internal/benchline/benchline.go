package benchline

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"text/tabwriter"
)

// Line is one figure.
type Line struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Log is a file of lines.
type Log struct{ path string }

// Open returns the log at path; its directory is made. The file appears with the
// first line.
func Open(path string) (*Log, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("bench log: %w", err)
	}
	return &Log{path: path}, nil
}

// Reset removes the lines of earlier runs.
func (l *Log) Reset() error {
	if err := os.Remove(l.path); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("bench log: %w", err)
	}
	return nil
}

// Add appends a figure. A value that is not finite is an error: it was not
// measured.
func (l *Log) Add(name string, value float64, unit string) error {
	if name == "" || unit == "" || math.IsNaN(value) || math.IsInf(value, 0) {
		return fmt.Errorf("bench line %q: value %v, unit %q, want a name, a finite value and a unit", name, value, unit)
	}
	body, err := json.Marshal(Line{Name: name, Value: value, Unit: unit})
	if err != nil {
		return fmt.Errorf("bench line %s: %w", name, err)
	}
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("bench log: %w", err)
	}
	_, err = f.Write(append(body, '\n'))
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err != nil {
		return fmt.Errorf("bench log: %w", err)
	}
	return nil
}

// Read returns the newest line of each name, in the order in which the names
// first appeared. A log without a file is empty.
func (l *Log) Read() ([]Line, error) {
	f, err := os.Open(l.path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("bench log: %w", err)
	}
	defer f.Close()
	var lines []Line
	at := map[string]int{}
	scan := bufio.NewScanner(f)
	for n := 1; scan.Scan(); n++ {
		var line Line
		if err := json.Unmarshal(scan.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("bench log %s: line %d: %w", l.path, n, err)
		}
		if i, seen := at[line.Name]; seen {
			lines[i] = line
			continue
		}
		at[line.Name] = len(lines)
		lines = append(lines, line)
	}
	return lines, scan.Err()
}

// Table prints lines in columns.
func Table(w io.Writer, lines []Line) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "FIGURE\tVALUE\tUNIT")
	for _, l := range lines {
		fmt.Fprintf(t, "%s\t%s\t%s\n", l.Name, strconv.FormatFloat(l.Value, 'g', 4, 64), l.Unit)
	}
	return t.Flush()
}
