package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/internal/realenv"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("PACER_TEST_SPARK") != "" {
		realenv.Remove()
	}
	os.Exit(code)
}

// results are the lines that an application printed as its answer.
func results(out string) string {
	var lines []string
	for _, line := range strings.Split(out, "\n") {
		if strings.HasPrefix(line, "RESULT ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
