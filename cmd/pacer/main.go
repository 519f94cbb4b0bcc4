package main

import (
	"os"

	"github.com/sparkpacer/pacer/cli"
	"github.com/sparkpacer/pacer/cli/command"
)

func main() { os.Exit(command.Main("pacer", cli.Run)) }
