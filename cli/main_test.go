package cli

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/cli/command"
	pacerspark "github.com/sparkpacer/pacer/spark"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestMain is pacer where submitHelper says so. It puts something in the jar's place
// where the jar is not built: commands hand it out without a look at what is in it.
func TestMain(m *testing.M) {
	if len(pacerspark.Jar) == 0 {
		pacerspark.Jar = []byte("not built")
	}
	if len(os.Args) > 1 && os.Args[1] == "submit" { // As pacer submit --detach starts itself.
		os.Exit(command.Main("pacer", Run))
	}
	if args := os.Getenv(submitHelper); args != "" {
		os.Exit(command.Main("pacer", func(ctx context.Context, _ []string, stdin io.Reader, stdout, stderr io.Writer) int {
			return Run(ctx, strings.Split(args, "\n"), stdin, stdout, stderr)
		}))
	}
	realenv.DefaultSignals()
	dir, err := os.MkdirTemp("", "credentials")
	if err != nil {
		panic(err)
	}
	credentials = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// credentials is the directory of those of who runs commands.
var credentials string
