package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
)

// However large they are, the applications of the history take no more bytes in the store than they may, but for the
// newest; the bound holds after a restart, too.
func TestTheHistoryIsBoundedInBytes(t *testing.T) {
	cfg := ledger.Config{History: 100, DetailHistory: 100, HistoryBytes: 16 << 10}
	disk := map[string][]byte{}
	var l *ledger.Ledger
	restart := func() {
		var pairs []api.Pair
		for key, value := range disk {
			pairs = append(pairs, api.Pair{Key: key, Value: value})
		}
		var err error
		if l, err = ledger.New(cfg, pairs); err != nil {
			t.Fatal(err)
		}
	}
	// ends has an application of so many stages be history, and says how much of that is kept.
	ends := func(id api.AppID, stages int) (bytes, n int) {
		f := ledger.Refused{Detail: api.AppDetail{AppSummary: api.AppSummary{ID: id, State: api.AppRefused},
			Stages: make([]api.AppStage, stages)}}
		if err := l.Record(f); err != nil {
			t.Fatal(err)
		}
		for _, pair := range l.Close().Pairs {
			if disk[pair.Key] = pair.Value; pair.Value == nil {
				delete(disk, pair.Key)
			}
		}
		for key, value := range disk {
			if strings.HasPrefix(key, "history/") {
				bytes, n = bytes+len(value), n+1
			}
		}
		if l.View().EndedApp(id) == nil || len(l.View().Ended()) != n {
			t.Errorf("of %d in the store the view has %d", n, len(l.View().Ended()))
		}
		return bytes, n
	}
	restart()
	for k := range 20 {
		if bytes, n := ends(api.AppID(fmt.Sprint("app-", k)), 5); bytes > cfg.HistoryBytes || k > 1 && n < 2 || k == 19 && n == 20 {
			t.Errorf("%d of %d applications are kept in %d bytes", n, k+1, bytes)
		}
	}
	restart()
	if bytes, n := ends("large", 200); n != 1 || bytes < cfg.HistoryBytes {
		t.Errorf("beside one that is too large %d are kept, in %d bytes", n-1, bytes)
	}
	if _, n := ends("small", 1); n != 1 {
		t.Errorf("%d are kept after that", n)
	}
}
