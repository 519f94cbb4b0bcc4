package command

import (
	"context"
	"io"
	"os/signal"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// A command that a signal ends has the exit code that shells know for it.
func TestASignalsExitCode(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		ctx, stop := signal.NotifyContext(context.Background(), sig)
		root := &cobra.Command{Use: "pacer", RunE: func(c *cobra.Command, _ []string) error {
			if err := syscall.Kill(syscall.Getpid(), sig); err != nil {
				t.Fatal(err)
			}
			<-c.Context().Done()
			return c.Context().Err()
		}}
		sh := &Shell{Name: "pacer", Stdin: nil, Stdout: io.Discard, Stderr: io.Discard}
		if code := sh.Execute(ctx, root, nil); code != ExitSignal+int(sig) {
			t.Errorf("at %v it exits with %d", sig, code)
		}
		stop()
	}
}
