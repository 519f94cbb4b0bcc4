package eventlog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/sparkpacer/pacer/profiles"
)

// sample is a stage of the file that the driver's tests read, too (WireTest.scala).
type sample struct {
	profiles.StageCode
	Signed profiles.Signed `json:"signed"`
}

// The driver makes the same of the same: neither side of the contract can change alone.
func TestStagesAreSignedAsTheDriverSignsThem(t *testing.T) {
	body, err := os.ReadFile(filepath.Join("..", "..", "spark", "src", "test", "resources", "samples", "signatures.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []sample
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatal(err)
	}
	for i, s := range all {
		if got := s.Sign(); got != s.Signed {
			t.Errorf("stage %d, %s: %+v, want %+v", i, s.Name, got, s.Signed)
		}
	}
	if len(all) < 10 {
		t.Errorf("%d samples, want 10 at least", len(all))
	}
}
