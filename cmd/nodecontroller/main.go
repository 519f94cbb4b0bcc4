package main

import (
	"os"

	"github.com/sparkpacer/pacer/cli"
)

func main() { os.Exit(cli.Main("nodecontroller", cli.RunNode)) }
