package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/sparkpacer/pacer/cli"
	"github.com/sparkpacer/pacer/cli/command"
)

// main is also the daemon by whose name it is started: packages and images have one binary with links to it, a third of
// the size of three. Under a name of `pacer link` it is pacer submit.
func main() {
	switch name := filepath.Base(os.Args[0]); name {
	case "planner":
		os.Exit(command.Main(name, command.RunPlanner))
	case "nodecontroller":
		os.Exit(command.Main(name, command.RunNode))
	default:
		if slices.Contains(cli.SubmitNames, name) {
			os.Exit(command.Main("pacer", submit))
		}
	}
	os.Exit(command.Main("pacer", cli.Run))
}

// submit runs pacer submit.
func submit(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.Run(ctx, append([]string{"submit"}, args...), stdin, stdout, stderr)
}
