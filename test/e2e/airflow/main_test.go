package airflow

import (
	"os"
	"testing"

	"github.com/sparkpacer/pacer/test/realenv"
)

func TestMain(m *testing.M) {
	realenv.DefaultSignals()
	code := m.Run()
	if os.Getenv("PACER_TEST_SPARK") != "" {
		realenv.Remove()
	}
	os.Exit(code)
}
