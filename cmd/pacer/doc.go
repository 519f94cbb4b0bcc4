// Command pacer is the command line: it submits applications, shows and steers
// them, and with `pacer up` runs a planner and a node controller in one process.
// `pacer --help` lists the sub-commands, cli/command/exit.go the exit codes.
package main
