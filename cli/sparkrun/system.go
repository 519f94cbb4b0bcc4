package sparkrun

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// System says how one Pacer of this machine is run. Its methods start nothing.
type System struct {
	// Pacer is the path of the program pacer; those of the daemons lie beside it.
	Pacer string
	// Dir has the daemons' states; it is absolute.
	Dir string
	// Address is the planner's, host:port, or the URL of the NATS server between.
	Address string
	// Node is the node's name, hence that of its cgroup.
	Node string
	// Env is the environment of all that is run; nil is that of this process.
	Env []string
	// ExecutorUser is whom all executors run as; "" is the node's to choose.
	ExecutorUser string
	// Inside is a command behind which everything runs, such as one that enters a
	// network, Behind one for daemons and submissions, such as one that puts them into a
	// group; empty for none.
	Inside, Behind []string
}

// Up is `pacer up` with more arguments, on free ports.
func (s System) Up(args ...string) (Command, error) {
	planner, err1 := FreePort()
	node, err2 := FreePort()
	if err := errors.Join(err1, err2); err != nil {
		return Command{}, err
	}
	return s.command(s.Behind, s.Pacer, append([]string{"up", "--listen", s.Address, "--node-name", s.Node,
		"--planner-http", planner, "--node-http", node, "--state-dir", filepath.Join(s.Dir, "state")},
		slices.Concat(s.asUser(), args)...)), nil
}

// asUser are arguments of a node controller.
func (s System) asUser() []string {
	if s.ExecutorUser != "" {
		return []string{"--set", "node.executor-user=" + s.ExecutorUser}
	}
	return nil
}

// Daemon is one of the programs "planner" and "nodecontroller", on a free port that an argument
// may replace. Its state is in a directory of that name.
func (s System) Daemon(program, state string, args ...string) (Command, error) {
	http, err := FreePort()
	if err != nil {
		return Command{}, err
	}
	if program == "nodecontroller" {
		args = slices.Concat(s.asUser(), args)
	}
	path := filepath.Join(filepath.Dir(s.Pacer), program)
	own := []string{"--http", http, "--state-dir", filepath.Join(s.Dir, state)}
	return s.command(s.Behind, path, slices.Concat(own, args)), nil
}

// Submit is `pacer submit` with flags, an application and its arguments.
func (s System) Submit(args ...string) Command {
	return s.command(s.Behind, s.Pacer, append([]string{"submit", "--pacer-planner", s.Address}, args...))
}

// Ask is a command of pacer that asks the planner.
func (s System) Ask(args ...string) Command {
	return s.command(nil, s.Pacer, append([]string{"--planner", s.Address}, args...))
}

func (s System) command(behind []string, path string, args []string) Command {
	line := slices.Concat(behind, s.Inside, []string{path}, args)
	env := s.Env
	if env == nil {
		env = os.Environ()
	}
	return Command{Path: line[0], Args: line[1:], Env: append(slices.Clone(env), "PACER_CREDENTIALS_DIR="+s.Credentials())}
}

// Credentials is the directory of the credentials that the system's planner gives who runs
// it; all that is run looks there for its own.
func (s System) Credentials() string { return filepath.Join(s.Dir, "credentials") }

// given are the addresses that FreePort has returned.
var given sync.Map

// FreePort returns a loopback address whose port was free a moment ago, and never the
// same twice. It may be called by several goroutines.
func FreePort() (string, error) {
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", fmt.Errorf("find a free port: %w", err)
		}
		address := l.Addr().String()
		l.Close()
		if _, taken := given.LoadOrStore(address, true); !taken {
			return address, nil
		}
	}
}
