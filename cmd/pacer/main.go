package main

import (
	"os"
	"path/filepath"

	"github.com/sparkpacer/pacer/cli"
	"github.com/sparkpacer/pacer/cli/command"
)

// main is also the daemon by whose name it is started: packages and images have one binary with links to it, a third of
// the size of three.
func main() {
	switch name := filepath.Base(os.Args[0]); name {
	case "planner":
		os.Exit(command.Main(name, command.RunPlanner))
	case "nodecontroller":
		os.Exit(command.Main(name, command.RunNode))
	}
	os.Exit(command.Main("pacer", cli.Run))
}
