package bustest

import (
	"fmt"
	"os"
	"testing"
)

// Command writes the configuration of a server that listens on address, host:port of whatever
// network it is run in, into a file, and returns the command that runs it. The caller that runs it ends it.
func Command(t testing.TB, cfg Config, address, file string) (path string, args []string) {
	t.Helper()
	text, err := cfg.text(address)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(fmt.Errorf("configure nats-server: %w", err))
	}
	if path, err = build(); err != nil {
		t.Fatal(err)
	}
	return path, []string{"-c", file}
}
