// Command planner runs a planner: it answers whether deadlines can be met and plans for all nodes.
// It stops within 5 s of SIGTERM. `planner --help` lists its flags, cli/command/exit.go
// the exit codes.
package main
