package torture

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Tally counts what happened in a run of the torture.
type Tally struct {
	Date time.Time `json:"date"`
	Seed uint64    `json:"seed"`
	// Sources is the hash of the product's sources (benchline.Sources).
	Sources string        `json:"sources"`
	Took    time.Duration `json:"took_ns"`

	Faults     int `json:"faults"`
	Kills      int `json:"kills"`
	Partitions int `json:"partitions"`
	NodeLosses int `json:"node_losses"`

	// Applications have ended Right, with OwnErrors, Lost or Wrong. Those with a deadline that
	// could be met are Possible, of which LatePossible missed it.
	Applications int `json:"applications"`
	Right        int `json:"right"`
	OwnErrors    int `json:"own_errors"`
	Lost         int `json:"lost"`
	Wrong        int `json:"wrong"`
	Possible     int `json:"possible"`
	LatePossible int `json:"late_possible"`
	// Orphans are processes, groups, mounts and namespaces that were left.
	Orphans int `json:"orphans"`
}

// Take counts an application.
func (t *Tally) Take(j Judgement) {
	t.Applications++
	switch j.Ending {
	case Right:
		t.Right++
	case OwnError:
		t.OwnErrors++
	case Lost:
		t.Lost++
	case Wrong:
		t.Wrong++
	}
	if j.Possible {
		t.Possible++
		if j.Late {
			t.LatePossible++
		}
	}
}

// Sum adds tallies up; date, seed and sources are the last one's.
func Sum(all []Tally) Tally {
	var s Tally
	for _, t := range all {
		s.Date, s.Seed, s.Sources = t.Date, t.Seed, t.Sources
		s.Took += t.Took
		s.Faults += t.Faults
		s.Kills += t.Kills
		s.Partitions += t.Partitions
		s.NodeLosses += t.NodeLosses
		s.Applications += t.Applications
		s.Right += t.Right
		s.OwnErrors += t.OwnErrors
		s.Lost += t.Lost
		s.Wrong += t.Wrong
		s.Possible += t.Possible
		s.LatePossible += t.LatePossible
		s.Orphans += t.Orphans
	}
	return s
}

// Read returns the tallies of a file, one a line; none of one that is not there.
func Read(path string) ([]Tally, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read tallies: %w", err)
	}
	defer f.Close()
	var all []Tally
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var t Tally
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			return nil, fmt.Errorf("read %s, line %d: %w", path, len(all)+1, err)
		}
		all = append(all, t)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return all, nil
}

// Add writes t behind the others of a file.
func Add(path string, t Tally) error {
	line, err := json.Marshal(t)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err != nil {
		return fmt.Errorf("write a tally: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("write a tally: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write a tally: %w", err)
	}
	return nil
}
