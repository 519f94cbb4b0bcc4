package realenv

import (
	"os"
	"os/signal"
	"syscall"
)

// DefaultSignals has what this process starts take SIGHUP and SIGINT as from a terminal, though
// nohup, or a shell that runs it in the background, has it ignore them. Tests that send these
// signals call it in TestMain; a program that is started to be Pacer does not.
func DefaultSignals() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // What is caught is not ignored in children.
		}
	}
}
