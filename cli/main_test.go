package cli

import (
	"context"
	"os"
	"strings"
	"testing"

	pacerspark "github.com/sparkpacer/pacer/spark"
)

// TestMain is pacer where submitHelper says so. It puts something in the jar's place
// where the jar is not built: commands hand it out without a look at what is in it.
func TestMain(m *testing.M) {
	if len(pacerspark.Jar) == 0 {
		pacerspark.Jar = []byte("not built")
	}
	if len(os.Args) > 1 && os.Args[1] == "submit" { // As pacer submit --detach starts itself.
		os.Exit(Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if args := os.Getenv(submitHelper); args != "" {
		os.Exit(Run(context.Background(), strings.Split(args, "\n"), os.Stdin, os.Stdout, os.Stderr))
	}
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
