package daemon

import (
	"encoding/json"
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

// full has an audit log write to a disk that is full, until back is called.
func full(t *testing.T, a *audit) (back func()) {
	t.Helper()
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	good := a.file
	a.file = f
	return func() {
		a.file = good
		_ = f.Close()
	}
}

// An audit log that cannot be written is told each time that this begins, and no line is lost by it.
func TestAFullDiskIsToldEachTime(t *testing.T) {
	dir, told := t.TempDir(), 0
	a, err := openAudit(dir, func(error) { told++ })
	if err != nil {
		t.Fatal(err)
	}
	n, want := 0, ""
	line := func(times int) {
		for range times {
			n++
			a.line(auditLine{Who: fmt.Sprint("user-", n), Verb: "kill", Result: "ok"})
			want += fmt.Sprintf("user-%d ", n)
		}
	}
	for i := range 3 {
		line(2)
		back := full(t, a)
		if line(3); told != i+1 {
			t.Errorf("the disk that is full for time %d was told %d times", i+1, told)
		}
		back()
	}
	line(1)
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	if got := noted(t, filepath.Join(dir, "audit.log")); got != want {
		t.Errorf("it has %s, want %s", got, want)
	}
}

// noted is who is in an audit log, in its order.
func noted(t *testing.T, path string) (who string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var l auditLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		who += l.Who + " "
	}
	return who
}

// A file that is full is only left when there is another one.
func TestAttackARotationLosesALine(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.log")
	a, err := openAudit(dir, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path+".next", 0o700); err != nil { // No file can be made.
		t.Fatal(err)
	}
	a.line(auditLine{Who: "first"})
	a.size = mostAudit + 1
	a.line(auditLine{Who: "second"})
	if err := os.Remove(path + ".next"); err != nil {
		t.Fatal(err)
	}
	a.line(auditLine{Who: "third"})
	a.line(auditLine{Who: "fourth"})
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	if old, is := noted(t, path+".1"), noted(t, path); old != "first second " || is != "third fourth " {
		t.Errorf("the old one has %s, the new one %s", old, is)
	}
}
