package field

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/sparkpacer/pacer/internal/realenv"
)

func TestMain(m *testing.M) {
	if signal.Ignored(syscall.SIGHUP) { // By nohup: children would ignore it too.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	code := m.Run()
	if os.Getenv("PACER_TEST_SPARK") != "" {
		realenv.Remove()
	}
	os.Exit(code)
}
