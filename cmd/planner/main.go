package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/sparkpacer/pacer/cli"
	"github.com/sparkpacer/pacer/executor"
)

func main() { os.Exit(run()) }

func run() int {
	if len(os.Args) > 1 && os.Args[1] == executor.ShimCommand {
		fmt.Fprintf(os.Stderr, "planner: %v\n", executor.Shim(os.Args[2:]))
		return cli.ExitNotFound
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return cli.RunPlanner(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}
