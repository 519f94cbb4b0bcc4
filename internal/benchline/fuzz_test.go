package benchline_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/sparkpacer/pacer/internal/benchline"
)

// FuzzLog: whatever a file of figures holds, each line is a whole figure or a fault with its
// number, and what is added is read again.
func FuzzLog(f *testing.F) {
	good := line("plan.ms", 3)
	body, err := json.Marshal(good)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add(append(append(body, "\n\n{}\n"...), body[:40]...))
	f.Fuzz(func(t *testing.T, body []byte) {
		path := filepath.Join(t.TempDir(), "figures.jsonl")
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
		log, err := benchline.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		lines, faults, err := log.Read()
		if err != nil || len(lines)+len(faults) > bytes.Count(body, []byte("\n"))+1 {
			t.Fatalf("%d lines, %d faults, %v", len(lines), len(faults), err)
		}
		for _, l := range lines {
			if err := l.Check(); err != nil {
				t.Error(err)
			}
		}
		if err := benchline.Render(new(bytes.Buffer), lines, good.Sources, nil); err != nil {
			t.Error(err)
		}
		if err := log.Add(good); err != nil {
			t.Fatal(err)
		}
		if again, _, err := log.Read(); err != nil || len(again) != len(lines)+1 {
			t.Errorf("%d lines became %d, %v", len(lines), len(again), err)
		}
	})
}
