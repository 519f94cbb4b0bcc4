package command

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// KeepIgnored has this process, and what it starts, go on to ignore what its caller has it ignore.
// Go sees to SIGHUP and SIGINT, and has forgotten the rest by now. A shell without job control has
// what it runs in the background ignore SIGINT and SIGQUIT, so one stands for both.
func KeepIgnored() {
	if signal.Ignored(syscall.SIGINT) {
		signal.Ignore(syscall.SIGQUIT)
	}
}

// Heeded are those of signals that the caller of this process does not have it ignore, as nohup
// does SIGHUP and a shell SIGINT for what it runs in the background. To catch one of the others
// would be to overrule that.
func Heeded(signals ...os.Signal) []os.Signal {
	return slices.DeleteFunc(signals, signal.Ignored)
}
