package executor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
)

// bootID names the machine's current boot.
func bootID() (string, error) {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("executor: boot id: %w", err)
	}
	return string(bytes.TrimSpace(data)), nil
}

// ProcessStat is what /proc/PID/stat says of a process.
type ProcessStat struct {
	// State is its letter, Parent and Session are ids of processes.
	State           byte
	Parent, Session int
	// Started is in clock ticks since the boot.
	Started uint64
}

// Ended reports whether nothing of the process runs any more.
func (s ProcessStat) Ended() bool { return s.State == 'Z' || s.State == 'X' }

// ParseStat reads a /proc/PID/stat. The name in the middle may hold spaces and parentheses.
func ParseStat(text []byte) (ProcessStat, error) {
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const parentField, sessionField, startField = 1, 3, 19
	if len(fields) <= startField {
		return ProcessStat{}, fmt.Errorf("/proc/PID/stat has %d fields", len(fields))
	}
	s := ProcessStat{State: fields[0][0]}
	var err, sessionErr, startErr error
	s.Parent, err = strconv.Atoi(string(fields[parentField]))
	s.Session, sessionErr = strconv.Atoi(string(fields[sessionField]))
	s.Started, startErr = strconv.ParseUint(string(fields[startField]), 10, 64)
	return s, errors.Join(err, sessionErr, startErr)
}

// statOf reads that of a process of this machine.
func statOf(pid int) (ProcessStat, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ProcessStat{}, err
	}
	return ParseStat(text)
}

// wait reaps a child that has ended and says how.
func wait(pid, options int) (Status, error) {
	var ws unix.WaitStatus
	for {
		got, err := unix.Wait4(pid, &ws, options, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return Status{}, os.NewSyscallError("wait4", err)
		case got != pid:
			return Status{}, fmt.Errorf("process %d has not ended", pid)
		}
		return exited(ws), nil
	}
}

func exited(ws unix.WaitStatus) Status {
	if ws.Signaled() {
		return killedBy(int(ws.Signal()))
	}
	return Status{State: api.ExecutorExited, Exit: "exit status " + strconv.Itoa(ws.ExitStatus()),
		ExitCode: ws.ExitStatus()}
}

func killedBy(signal int) Status {
	return Status{State: api.ExecutorExited, Exit: "killed by signal " + strconv.Itoa(signal),
		ExitCode: api.Signalled + signal}
}
