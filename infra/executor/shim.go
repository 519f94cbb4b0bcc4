package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// ShimCommand is the hidden sub-command of every Pacer binary that may start
// executors: main calls Shim when it is the first argument.
const ShimCommand = "exec-in-cgroup"

// The shim's descriptors beside the standard ones.
const (
	shimRequest = 3
	shimStatus  = 4
)

// shimSpec is what the shim has to do, as it reads it from shimRequest.
type shimSpec struct {
	Join  []string   `json:"join"`
	User  Credential `json:"user"`
	Dir   string     `json:"dir"`
	Args  []string   `json:"args"`
	Env   []string   `json:"env"`
	Reads []string   `json:"reads"`
	Sight sight      `json:"sight"`
	// Exit is the file in which a parent says how the program has ended; "" runs it in this process's place.
	Exit string `json:"exit,omitempty"`
	Bounds
}

// Shim turns this process into an executor. It joins the executor's group, becomes its user, changes to its directory
// and runs its program in its own place, so that not an instruction of the program runs outside the group. The parent
// learns of success when the status pipe closes by itself, and of a fault by what is written there before. Shim returns
// only on failure: the caller exits with 127. It takes no arguments.
func Shim(args []string) error {
	syscall.CloseOnExec(shimStatus)
	// Files that it makes have to be in reach of the program's user, whatever its caller's mask.
	syscall.Umask(0o022)
	err := shim(args)
	if err == nil {
		err = errors.New("exec came back")
	}
	// The parent may be gone: then nobody wants to know.
	_, _ = os.NewFile(shimStatus, "status").WriteString(err.Error())
	return err
}

func shim(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments: it is for the node controller", ShimCommand)
	}
	request := os.NewFile(shimRequest, "request")
	data, err := io.ReadAll(request)
	if err != nil {
		return fmt.Errorf("%s is for the node controller: %w", ShimCommand, err)
	}
	request.Close()
	var s shimSpec
	if err := json.Unmarshal(data, &s); err != nil || len(s.Args) == 0 {
		return errors.Join(errors.New("start request is damaged"), err)
	}
	if err := s.join(); err != nil {
		return err
	}
	// The calls below are the thread's, which is the one that executes the program.
	runtime.LockOSThread()
	if err := s.confine(); err != nil {
		return err
	}
	if os.Geteuid() == 0 {
		if err := s.Sight.open(s.User); err != nil {
			return err
		}
	}
	var exit *os.File
	if s.Exit != "" {
		if exit, err = s.openExit(); err != nil {
			return err
		}
	}
	if err := s.become(); err != nil {
		return err
	}
	if err := s.checkReads(); err != nil {
		return err
	}
	if err := os.Chdir(s.Dir); err != nil {
		return fmt.Errorf("user %s: working directory: %w", s.User.Name, err)
	}
	if exit != nil {
		return s.parent(exit)
	}
	return fmt.Errorf("user %s: exec %s: %w", s.User.Name, s.Args[0], syscall.Exec(s.Args[0], s.Args, s.Env))
}

func (s shimSpec) join() error {
	for _, path := range s.Join {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("join group: %w", err)
		}
		_, err = f.WriteString(strconv.Itoa(os.Getpid()))
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("join group: %w", err)
		}
	}
	return nil
}

// become drops to the user, groups first, as only root may change them.
func (s shimSpec) become() error {
	if os.Geteuid() != 0 {
		if s.User.UID != uint32(os.Geteuid()) {
			return fmt.Errorf("become user %s: the node controller does not run as root", s.User.Name)
		}
		return nil
	}
	if err := syscall.Setgroups(nil); err != nil {
		return fmt.Errorf("become user %s: set groups: %w", s.User.Name, err)
	}
	if err := syscall.Setgid(int(s.User.GID)); err != nil {
		return fmt.Errorf("become user %s: set group: %w", s.User.Name, err)
	}
	if err := syscall.Setuid(int(s.User.UID)); err != nil {
		return fmt.Errorf("become user %s: %w", s.User.Name, err)
	}
	return nil
}

// checkReads says what the user may not read before a JVM says that it cannot
// find its main class.
func (s shimSpec) checkReads() error {
	for _, path := range s.Reads {
		mode := uint32(unix.R_OK)
		if isDir(path) {
			mode |= unix.X_OK
		}
		if err := unix.Access(path, mode); err != nil {
			return fmt.Errorf(
				"executor user %s cannot read %s (%w): make it readable for that user or choose another executor-user", s.User.Name,
				path, err)
		}
	}
	return nil
}
