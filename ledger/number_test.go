package ledger_test

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
)

// A number has one id: another text for it is no executor's.
func TestAnExecutorsNumberHasOneID(t *testing.T) {
	for id, want := range map[api.ExecutorID]int{"1": 1, "10": 10, "16384": 16384, "": 0, "0": 0, "01": 0, "+1": 0, "-1": 0, " 1": 0, "1 ": 0, "1e3": 0,
		"9223372036854775808": 0} {
		if got := ledger.Number(id); got != want {
			t.Errorf("%q is executor %d, want %d", id, got, want)
		}
	}
}
