package planner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// However large they are, the ended applications that are kept take no more bytes in the store
// than they may, but for the newest; the bound holds after a restart, too.
func TestTheHistoryIsBoundedInBytes(t *testing.T) {
	cfg := planner.Default()
	cfg.HistoryBytes = 16 * units.KiB
	w := newWorldOf(t, cfg, "a")
	run := func(stages int) api.AppID {
		w.hello("a")
		r := registration("", 0)
		r.Name, r.Submission = "p", fmt.Sprint("of ", stages, " stages at ", w.now)
		id := w.mustRegister(r).AppID
		for k := range stages {
			at := units.Seconds(k)
			w.tell(id, r.Submission, ready(at, k, "batch", 1, "1"), done(at+1, k, at))
		}
		w.tell(id, r.Submission, end(units.Seconds(stages)))
		w.pass(2 * time.Second)
		return id
	}
	kept := func() (bytes, n int) {
		for key, value := range w.disk {
			if strings.HasPrefix(key, "history/") {
				bytes, n = bytes+len(value), n+1
			}
		}
		return bytes, n
	}
	for range 10 {
		run(3)
		w.pass(time.Second)
	}
	bytes, n := kept()
	if bytes > int(cfg.HistoryBytes) || n < 2 {
		t.Errorf("%d applications are kept in %d bytes", n, bytes)
	}
	w.restart()
	large := run(200)
	if bytes, n = kept(); n != 1 || bytes < int(cfg.HistoryBytes) || w.app(large).State != api.AppFinished {
		t.Errorf("beside one that is too large %d are kept, in %d bytes", n-1, bytes)
	}
	small := run(1)
	if _, n = kept(); n != 1 || w.app(small).State != api.AppFinished {
		t.Errorf("%d are kept after that", n)
	}
}
