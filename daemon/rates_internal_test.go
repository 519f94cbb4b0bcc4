package daemon

import (
	"log/slog"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

// A status says what the operator has set, from the next one on after a reload; where the machine is none of the node's
// own nothing is seen.
func TestRatesAreTold(t *testing.T) {
	r := newRates(api.NodeRates{Disk: 5}, false, slog.New(slog.DiscardHandler))
	if told := r.tell(1); told != (api.NodeRates{Disk: 5}) {
		t.Errorf("%+v", told)
	}
	r.reset(api.NodeRates{Network: 7})
	if told := r.tell(2); told != (api.NodeRates{Network: 7}) {
		t.Errorf("after a reload %+v", told)
	}
}
