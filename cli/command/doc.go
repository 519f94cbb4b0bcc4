// Package command is what the command lines of Pacer's programs share. That is what a binary does with its process, the
// flags that all have, how an error becomes a line and an exit code, and the commands that run daemons.
//
// # Concepts
//
// A program's main calls Main with the function that runs its command line. That function makes a Shell of the streams
// that it is given and has it Execute a root command. Nothing here but Main looks at the process, so tests call the
// rest as a shell would. RunPlanner and RunNode are whole programs; Shell.Up is `pacer up`. The other commands of pacer
// are package cli's, which no daemon links.
//
// # What the caller must do
//
// A command returns its error: Coded gives it an exit code, Usagef that of a wrong
// command line, and an error of package api has the code of its kind. Exit codes are
// listed in exit.go and nowhere else.
package command
