package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/infra/bus"
)

// Whoever tries for ever to connect leaves a bounded number of lines, which say how many there are
// not, and those of others are all there.
func TestRefusedConnectionsDoNotFillTheAuditLog(t *testing.T) {
	dir := t.TempDir()
	a, err := openAudit(dir, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for i := range 5000 {
		a.refused(bus.Refusal{Login: fmt.Sprint("user-", i), From: "10.0.0.1", What: bus.RefusedConnect, Why: errors.New("no")})
	}
	a.refused(bus.Refusal{Login: "user-ann", What: "pacer.v1.control.kill", Why: errors.New("no")})
	a.line(auditLine{Who: "user-tester", Verb: "node-drain", Result: "ok"})
	most := 20 + int(5*time.Since(began).Seconds()) + 1
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), `"verb":"connect"`); n < 20 || n > most {
		t.Errorf("%d lines of 5000, want 20 to %d", n, most)
	}
	for _, want := range []string{"user-ann", "node-drain"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no line with %s", want)
		}
	}
}
