package cli

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The settings by which Spark has driver and executors authenticate each other.
const (
	confAuthenticate = "spark.authenticate"
	confSecret       = "spark.authenticate.secret"
)

// authentication are the settings by which the driver takes nobody but its executors for
// one of them, with a secret of this application's own, as far as the user has not set
// them.
func (l *launch) authentication() map[string]string {
	get := func(key string) string { return cmp.Or(l.line.conf[key], l.files[key]) }
	out := map[string]string{}
	switch on := get(confAuthenticate); {
	case on == "":
		out[confAuthenticate] = "true"
	case !strings.EqualFold(on, "true"):
		return nil
	}
	if get(confSecret) == "" {
		out[confSecret] = rand.Text() + rand.Text() // 256 bits.
	}
	return out
}

// optionProperties is spark-submit's option for a file of settings.
const optionProperties = "--properties-file"

// privateProperties writes settings that no command line may show into a properties file
// that only the user can read, and returns its path, "" where it is not needed. A file that
// the user gives stands in it too, since spark-submit takes one. remove removes it, when
// spark-submit has ended.
func (l *launch) privateProperties(settings map[string]string) (path string, remove func(), err error) {
	remove = func() {}
	if len(settings) == 0 {
		return "", remove, nil
	}
	var text strings.Builder
	if theirs, given := l.line.last[optionProperties]; given {
		read, err := os.ReadFile(theirs)
		if err != nil {
			return "", remove, nil //nolint:nilerr // spark-submit says so.
		}
		text.Write(read)
		text.WriteByte('\n') // Its last line may have none.
	}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&text, "%s=%s\n", key, settings[key])
	}
	dir, err := os.MkdirTemp("", "pacer-submit-")
	if err != nil {
		return "", remove, fmt.Errorf("properties file: %w", err)
	}
	remove = func() { _ = os.RemoveAll(dir) }
	path = filepath.Join(dir, "spark.properties")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		remove()
		return "", func() {}, fmt.Errorf("properties file: %w", err)
	}
	return path, remove, nil
}
