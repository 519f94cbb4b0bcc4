package main

import (
	"os"

	"github.com/sparkpacer/pacer/command"
)

func main() { os.Exit(command.Main("planner", command.RunPlanner)) }
