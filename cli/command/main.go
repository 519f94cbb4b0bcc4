package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/executor"
)

// Main is what a binary does with its process. It runs run with the arguments and the standard streams, ends its
// context on SIGINT and SIGTERM, if they are not ignored, and returns the exit code. A binary that was started again as
// the shim of an executor becomes that executor instead (package executor), one that was started as a node controller's
// guard becomes that (package daemon). name is the binary's.
func Main(name string, run func(ctx context.Context, args []string, stdin io.Reader, stdout,
	stderr io.Writer) int) int {
	if len(os.Args) > 1 && os.Args[1] == executor.ShimCommand {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, executor.Shim(os.Args[2:]))
		return ExitNotFound
	}
	if len(os.Args) > 1 && os.Args[1] == daemon.GuardCommand {
		if err := daemon.Guard(os.Args[2:]); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			return ExitFailure
		}
		return ExitOK
	}
	KeepIgnored()
	ctx, stop := signal.NotifyContext(context.Background(), Heeded(syscall.SIGINT, syscall.SIGTERM)...)
	defer stop()
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}
