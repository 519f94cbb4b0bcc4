package cli

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/cli/command"
)

// catchSignals catches the signals that are passed on to spark-submit, but those that are ignored:
// so are they there. They stay caught until the caller stops them, so that a closed terminal does
// not keep the exit from being reported.
func catchSignals() chan os.Signal {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, command.Heeded(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2)...)
	return signals
}

// pass sends a signal on to a child. A signal that a terminal sends to all that it runs goes to the children of a
// session's leader, too: a Python program is one.
func pass(child *exec.Cmd, sig os.Signal) {
	if !child.SysProcAttr.Setsid || sig != syscall.SIGINT && sig != syscall.SIGHUP {
		_ = child.Process.Signal(sig)
	} else if child.Process.Signal(syscall.Signal(0)) == nil { // It is not waited for: nobody else has its id.
		_ = syscall.Kill(-child.Process.Pid, sig.(syscall.Signal))
	}
}

// terminal is the controlling terminal of this process, nil for none.
type terminal struct{ file *os.File }

func openTerminal() *terminal {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	return &terminal{file}
}

func (t *terminal) close() {
	if t != nil {
		_ = t.file.Close()
	}
}

// sends reports whether a signal that has come is taken for one that the terminal has sent to all of
// this process's group. A SIGINT that is sent to this process alone while that is in the foreground is not told apart
// from Ctrl-C. A hang-up does not count: it may be for the session's leader alone, and twice does no harm.
func (t *terminal) sends(sig os.Signal) bool {
	if t == nil || sig != syscall.SIGINT && sig != syscall.SIGQUIT {
		return false
	}
	group, err := unix.IoctlGetInt(int(t.file.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
