package realenv

import (
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What a process leaves behind holds its output open; Wait is patient with that for
// WaitDelay, and the time that the process took has no part in it.
func TestAProcessTookUntilItsExitWhoeverHoldsItsOutput(t *testing.T) {
	p := Start(t, nil, "/bin/sh", "-c", "sleep 600 & echo $!")
	<-p.Exited()
	took := p.Took()
	if code := p.Wait(Patience); code != 0 {
		t.Fatalf("exit %d", code)
	}
	if left, err := strconv.Atoi(strings.TrimSpace(p.Answer())); err != nil {
		t.Error(err)
	} else if err := syscall.Kill(left, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	if held := time.Since(p.Began()) - took; took <= 0 || took != p.Took() || held < p.cmd.WaitDelay {
		t.Errorf("it took %v, then %v; its output was held for %v", took, p.Took(), held)
	}
}
