package cli

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/cli/config"
	"github.com/sparkpacer/pacer/sim/registry"
)

// Run runs pacer with args (without the program's name) and returns its exit
// code. It prints errors to stderr, one line each, and never ends the process.
// ctx ends what runs: daemons shut down in order, waits come back.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	now := time.Now().In(zoneOf(os.Getenv("TZ"), time.Local))
	sh := &shell{Shell: command.NewShell("pacer", stdin, stdout, stderr),
		clock: clock{now: now, began: sinceBoot(), started: time.Now()}, getenv: os.Getenv}
	return sh.run(ctx, args)
}

func (sh *shell) run(ctx context.Context, args []string) int { return sh.Execute(ctx, sh.root(), args) }

// Program is `pacer` with all its commands, for manual pages and completion.
func Program() *cobra.Command {
	return (&shell{Shell: command.NewShell("pacer", nil, io.Discard, io.Discard), getenv: os.Getenv}).root()
}

func (sh *shell) root() *cobra.Command {
	root := &cobra.Command{
		Use:     "pacer",
		Version: config.Release(),
		Short:   "Finishes Spark applications at the time their users ask for",
		Long: "Pacer makes Apache Spark applications finish at the time their users ask for,\n" +
			"on as little CPU and memory as that takes.",
	}
	root.PersistentFlags().StringVar(&sh.Planner, "planner", "", "planner's address, host:port, or a NATS server's URL")
	root.AddGroup(&cobra.Group{ID: "run", Title: "Run applications:"}, &cobra.Group{ID: "see", Title: "See and steer:"},
		&cobra.Group{ID: "house", Title: "Set up and look into:"})
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("run", submitCommand(sh), sh.Up(sh.ownSpark), command.Background{Shell: sh.Shell}.Down(), planCommand(sh),
		profilesCommand(sh))
	add("see", appsCommand(sh), topCommand(sh), whyCommand(sh.Stdout, sh.ask, sh.completeApps), nodesCommand(sh),
		supervisorCommand(sh), policyCommand(sh), reportCommand(sh.Stdout, sh.now, sh.ask), logsCommand(sh),
		webCommand(sh), releaseCommand(sh), deadlineCommand(sh), capCommand(sh.order, sh.completeApps),
		killCommand(sh.order, sh.completeApps), identifyCommand(sh))
	add("house", jarCommand(sh), linkCommand(sh.Stdout), configCommand(sh), authCommand(sh), backupCommand(sh),
		restoreCommand(sh), versionCommand(sh), doctorCommand(sh))
	add("house", simulateCommand(sh), replayCommand(sh), reproCommand(sh.Stdout, sh.Stderr, registry.Sources()),
		traceCommand(sh.Stdout))
	root.AddCommand(demoCommand(sh))
	exemplify(root)
	root.SetHelpCommandGroupID("house")
	root.SetCompletionCommandGroupID("house")
	return root
}
