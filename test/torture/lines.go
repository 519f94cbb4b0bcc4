package torture

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Read returns the tallies of a file, one a line; none of one that is not there.
func Read(path string) ([]Tally, error) { return read[Tally](path) }

// ReadSoaks is Read for soaks.
func ReadSoaks(path string) ([]Soak, error) { return read[Soak](path) }

// Add writes t behind the others of a file.
func Add(path string, t Tally) error { return add(path, t) }

// AddSoak is Add for soaks.
func AddSoak(path string, s Soak) error { return add(path, s) }

func read[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what was counted: %w", err)
	}
	defer f.Close()
	var all []T
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("read %s, line %d: %w", path, len(all)+1, err)
		}
		all = append(all, one)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return all, nil
}

func add(path string, one any) error {
	line, err := json.Marshal(one)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err != nil {
		return fmt.Errorf("write what was counted: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("write what was counted: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write what was counted: %w", err)
	}
	return nil
}
