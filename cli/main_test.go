package cli

import (
	"os"
	"testing"

	pacerspark "github.com/sparkpacer/pacer/spark"
)

// TestMain puts something in the jar's place where the jar is not built: commands
// hand it out without a look at what is in it.
func TestMain(m *testing.M) {
	if len(pacerspark.Jar) == 0 {
		pacerspark.Jar = []byte("not built")
	}
	os.Exit(m.Run())
}
