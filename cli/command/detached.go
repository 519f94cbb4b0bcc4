package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	sd "github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/cli/config"
	"github.com/sparkpacer/pacer/daemon"
)

// upLog is the file in the planner's state directory to which a detached `pacer up` writes. The next one
// begins it anew.
const upLog = "up.log"

// readyMark begins the message by which `pacer up` says that it is ready, in the form of sd_notify.
const readyMark = sd.SdNotifyReady + "\nSTATUS="

// endsEvery is how often `pacer down` looks whether `pacer up` has ended.
const endsEvery = 100 * time.Millisecond

// Background is `pacer up` without its terminal, and its end.
type Background struct{ Shell *Shell }

// ready says the line by which `pacer up` is usable to its user, and to the process that has started it and listens.
func (b Background) ready(line string) {
	b.Shell.say(line)
	_, _ = sd.SdNotify(false, readyMark+line)
}

// start runs this `pacer up` in a session of its own, so that no terminal ends it, and returns once it is ready. If
// it ends before, its words and its exit code are this command's.
func (b Background) start(ctx context.Context, cfg config.Config) error {
	sh := b.Shell
	dir := cfg.Planner.State
	if pid, err := daemon.Holder(dir, "planner"); err != nil || pid > 0 {
		return cmp.Or(err, fmt.Errorf("process %d runs with its state in %s: `pacer down` ends it", pid, dir))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	log, err := os.OpenFile(filepath.Join(dir, upLog), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("log of pacer up: %w", err)
	}
	defer log.Close()
	where, err := os.MkdirTemp("", "pacer-up")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(where) }()
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(where, "ready"), Net: "unixgram"})
	if err != nil {
		return err
	}
	defer socket.Close()
	args := []string{"up"}
	if sh.ConfigPath != "" {
		args = append(args, "--config", sh.ConfigPath)
	}
	for _, set := range sh.Sets {
		args = append(args, "--set", set)
	}
	// /proc/self/exe is this program even when another one has taken the place of its file.
	up := exec.Command("/proc/self/exe", args...)
	up.Stdout, up.Stderr = log, log
	up.Env = append(sh.Environ[:len(sh.Environ):len(sh.Environ)], "NOTIFY_SOCKET="+socket.LocalAddr().String())
	up.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := up.Start(); err != nil {
		return fmt.Errorf("start pacer up: %w", err)
	}
	said, ended := make(chan string, 1), make(chan error, 1)
	go func() { said <- heard(socket) }()
	go func() { ended <- up.Wait() }()
	select {
	case line := <-said:
		sh.say(line)
		sh.say(fmt.Sprintf("it runs on as process %d, its log is %s; `pacer down` ends it and its applications",
			up.Process.Pid, log.Name()))
		return nil
	case <-ctx.Done():
		return fmt.Errorf("not ready yet: process %d goes on, its log is %s: %w", up.Process.Pid, log.Name(), ctx.Err())
	case <-ended:
		if text, openErr := os.Open(log.Name()); openErr == nil {
			_, _ = io.Copy(Raw(sh.Stderr), text)
			_ = text.Close()
		}
		return Coded(max(up.ProcessState.ExitCode(), ExitFailure), nil)
	}
}

// heard is the line by which `pacer up` is ready, once the socket has it; it waits as long as the socket is open.
func heard(socket *net.UnixConn) string {
	message := make([]byte, 4096)
	for {
		n, err := socket.Read(message)
		if err != nil {
			return ""
		}
		if line, ok := strings.CutPrefix(string(message[:n]), readyMark); ok {
			return line
		}
	}
}

// Down returns `pacer down`.
func (b Background) Down() *cobra.Command {
	sh := b.Shell
	c := &cobra.Command{Use: "down", Short: "End `pacer up` on this machine, and its applications", Args: cobra.NoArgs,
		Long: "End the `pacer up` that has its state where this command's configuration says, detached or\n" +
			"not, and wait until it has ended. Its applications end with it, as at SIGTERM. A planner or a\n" +
			"node controller that runs by itself, as a unit does, is left alone."}
	sets := flagKeys{"state-dir": upFlags["state-dir"]}.add(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		sh.Sets = append(sh.Sets, sets()...)
		cfg, err := sh.Config()
		if err != nil {
			return err
		}
		pid, err := running(cfg)
		if err == nil {
			err = syscall.Kill(pid, syscall.SIGTERM)
		}
		if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("it runs as another user, who can end it (sudo pacer down): %w", err)
		}
		for err == nil {
			left := 0
			if left, err = daemon.Holder(cfg.Planner.State, "planner"); left != pid {
				sh.say(fmt.Sprintf("pacer has ended (process %d)", pid))
				return err
			}
			select {
			case <-c.Context().Done():
				err = fmt.Errorf("process %d still ends its applications: %w", pid, c.Context().Err())
			case <-time.After(endsEvery):
			}
		}
		return err
	}
	return c
}

// running is the process id of the `pacer up` that has its state where cfg says: it has both the planner's and the
// node's.
func running(cfg config.Config) (int, error) {
	pid, err := daemon.Holder(cfg.Planner.State, "planner")
	node, nodeErr := daemon.Holder(cfg.Node.State, "node")
	switch err := errors.Join(err, nodeErr); {
	case err != nil:
		return 0, err
	case pid == 0 && node == 0:
		return 0, fmt.Errorf("no pacer up runs with its state in %s", cfg.Planner.State)
	case pid != node:
		return 0, fmt.Errorf("no pacer up runs with its state in %s: a planner or a node controller does, "+
			"which its unit or its own SIGTERM ends (process %d)", cfg.Planner.State, max(pid, node))
	}
	return pid, nil
}
