package benchline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Origin is what a figure was measured on.
type Origin struct {
	// Sources is the hash of the product's sources.
	Sources string `json:"sources"`
	// Spark, Java and Kernel are versions, Spark and Java "none" where there is none.
	Spark  string `json:"spark"`
	Java   string `json:"java"`
	Kernel string `json:"kernel"`
	// Cores are those of the machine.
	Cores int `json:"cores"`
}

// None is the version of a Spark or a Java that is not there.
const None = "none"

// Place is where figures of an origin were measured, sources aside.
func (o Origin) Place() string {
	return fmt.Sprintf("Spark %s, Java %s, Linux %s, %d cores", o.Spark, o.Java, o.Kernel, o.Cores)
}

// Line is one figure.
type Line struct {
	Name string `json:"name"`
	Measured
	Unit string `json:"unit"`
	// Commit is the commit of the tree, with "-dirty" behind it where files differed.
	Commit string    `json:"commit"`
	Date   time.Time `json:"date"`
	Origin
	// Machines is of how many machines the values are, where that is more than one.
	Machines int `json:"machines,omitempty"`
}

// Check says what a line lacks. JSON has no number that is not finite.
func (l Line) Check() error {
	switch {
	case l.Name == "" || l.Unit == "" || l.Date.IsZero():
		return fmt.Errorf("bench line %q: want a name, a unit and a date", l.Name)
	case l.N <= 0:
		return fmt.Errorf("bench line %q: n is %d, want 1 or more", l.Name, l.N)
	case l.Spread[0] > l.Spread[1]:
		return fmt.Errorf("bench line %q: spread %v, want the least and the greatest", l.Name, l.Spread)
	}
	return nil
}

// Read returns the newest line of each name, in order of name. There are none where
// there is no file; a line that lacks something is an error.
func Read(path string) ([]Line, error) {
	body, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read figures: %w", err)
	}
	newest, number := map[string]Line{}, 0
	for text := range bytes.SplitSeq(body, []byte("\n")) {
		if number++; len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var l Line
		err := json.Unmarshal(text, &l)
		if err == nil {
			err = l.Check()
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		if !l.Date.Before(newest[l.Name].Date) {
			newest[l.Name] = l
		}
	}
	return slices.SortedFunc(maps.Values(newest), func(a, b Line) int { return natural(a.Name, b.Name) }), nil
}

// Put has lines take the place of those of their names in a file, all of them or, when
// one lacks something, none. The file and its directory are made where they are missing.
func Put(path string, lines ...Line) error {
	there, err := Read(path)
	if err != nil {
		return err
	}
	all := map[string]Line{}
	for _, l := range append(there, lines...) {
		if err := l.Check(); err != nil {
			return err
		}
		all[l.Name] = l
	}
	var body bytes.Buffer
	out := json.NewEncoder(&body)
	out.SetEscapeHTML(false)
	for _, l := range slices.SortedFunc(maps.Values(all), func(a, b Line) int { return natural(a.Name, b.Name) }) {
		if err := out.Encode(l); err != nil {
			return fmt.Errorf("bench line %s: %w", l.Name, err)
		}
	}
	err = os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path+".new", body.Bytes(), 0o644)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fmt.Errorf("write figures: %w", err)
	}
	return nil
}
