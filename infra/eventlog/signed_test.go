package eventlog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

// Runs under Pacer have a log and the profile that was recorded of it (e2e.TestALogIsSignedAsItsRun makes them): both
// know the same stages.
func TestLogAndDriverAreSignedAlike(t *testing.T) {
	logs, err := filepath.Glob("testdata/signed/*/*.zstd")
	if err != nil {
		t.Fatal(err)
	}
	alike, all, versions := 0, 0, map[string]bool{}
	for _, path := range logs {
		body, err := os.ReadFile(path + ".json")
		if err != nil {
			t.Fatal(err)
		}
		recorded, err := api.DecodeProfile(strings.NewReader(string(body)))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		sources, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		app, err := Read(sources, nil)
		if err != nil || len(app.Stages) != len(recorded.Stages) {
			t.Fatalf("%s: %d stages, %d were recorded: %v", path, len(app.Stages), len(recorded.Stages), err)
		}
		versions[app.Spark] = true
		for i, want := range recorded.Stages {
			s := app.Stages[i]
			if all++; s.Signature == want.Signature && s.Lineage == want.Lineage {
				alike++
			} else {
				t.Errorf("%s: stage %d, %s: %s and %s, the driver says %s and %s", path, s.ID, s.Name, s.Signature, s.Lineage, want.Signature,
					want.Lineage)
			}
		}
	}
	t.Logf("eventlog.signatures_pct %.4g pct (%d stages)", 100*float64(alike)/float64(max(1, all)), all)
	if all < 15 || len(versions) < 2 {
		t.Errorf("%d stages of versions %v, want 15 of two at least", all, versions)
	}
}
