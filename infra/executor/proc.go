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

// procStat returns the state letter of a process and when it started, in clock
// ticks since boot. The name in the middle may hold spaces and parentheses.
func procStat(pid int) (state byte, started uint64, err error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, err
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	const stateField, startField = 0, 19
	if len(fields) <= startField {
		return 0, 0, fmt.Errorf("/proc/%d/stat: %d fields", pid, len(fields))
	}
	started, err = strconv.ParseUint(string(fields[startField]), 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("/proc/%d/stat: start time: %w", pid, err)
	}
	return fields[stateField][0], started, nil
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
	return Status{State: api.ExecutorExited, Exit: "killed by signal " + strconv.Itoa(signal), ExitCode: 128 + signal}
}
