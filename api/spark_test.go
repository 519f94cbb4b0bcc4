package api_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

func TestSparkVersions(t *testing.T) {
	for _, v := range []string{"4.0.0", "4.0.5", "4.3.0", "4.3.1-SNAPSHOT", "4.1.1"} {
		if err := api.CheckSpark(v); err != nil {
			t.Errorf("%s: %v", v, err)
		}
	}
	for _, v := range []string{"3.5.1", "4.4.0", "4.30.0", "5.0.0", "40.1.0", "4", "4.x.0", ""} {
		err := api.CheckSpark(v)
		if api.KindOf(err) != api.KindInvalid || !strings.Contains(err.Error(), v) || !strings.Contains(err.Error(), "4.0 to 4.3") {
			t.Errorf("%q: %v", v, err)
		}
	}
}
