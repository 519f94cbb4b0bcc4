package api_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

// What nobody knows is null in JSON and comes back as what nobody knows.
func TestColumnsTellWhatIsNotKnown(t *testing.T) {
	in := api.Column{0, 1.256, float32(math.NaN()), 8}
	b, err := json.Marshal(in)
	if err != nil || string(b) != "[0,1.26,null,8]" {
		t.Fatalf("%s, %v", b, err)
	}
	var out api.Column
	if err := json.Unmarshal(b, &out); err != nil || len(out) != 4 || out[1] != 1.26 || !math.IsNaN(float64(out[2])) {
		t.Errorf("%v, %v", out, err)
	}
	if err := json.Unmarshal([]byte(`["x"]`), &out); err == nil {
		t.Error("a text is taken for a number")
	}
	if b, _ := json.Marshal(api.Column(nil)); string(b) != "[]" {
		t.Errorf("none is %s", b)
	}
}
