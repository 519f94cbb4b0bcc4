package main

import (
	"os"

	"github.com/sparkpacer/pacer/command"
)

func main() { os.Exit(command.Main("nodecontroller", command.RunNode)) }
