// Command nodecontroller runs a node controller: it starts the executors of one machine and
// steers them. It needs the right to write cgroups.
// It stops within 5 s of SIGTERM. `nodecontroller --help` lists its flags, cli/command/exit.go
// the exit codes.
package main
