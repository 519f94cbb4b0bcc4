package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
)

func backupCommand(sh *shell) *cobra.Command {
	return &cobra.Command{Use: "backup FILE", Short: "Copy the planner's state into a file", Args: cobra.ExactArgs(1),
		Long: "Copy the planner's state at one moment into a new file, readable by you alone: from the\n" +
			"running planner, or from planner.state where none answers. Keep it safe: it holds all that a\n" +
			"planner on a new disk needs, the authority's key and the planner's credential among it,\n" +
			"and the environment and options with which applications were started. It has not what\n" +
			"planner.credentials and planner.tls-* name elsewhere. Nodes need no backup.",
		RunE: func(c *cobra.Command, args []string) error {
			if err := sh.backup(c.Context(), args[0]); err != nil {
				return err
			}
			fmt.Fprintf(sh.Stdout, "the planner's state is in %s\n", args[0])
			return nil
		}}
}

func (sh *shell) backup(ctx context.Context, path string) error {
	cfg, err := sh.Config()
	if err != nil {
		return err
	}
	conn, done, err := dialPlanner(ctx, cfg.Client)
	if err == nil {
		defer done()
		return daemon.Backup(ctx, conn, path)
	}
	if api.KindOf(err) != api.KindTransient {
		return err
	}
	if stopped := daemon.BackupStopped(cfg.Planner.State, path); stopped != nil {
		return fmt.Errorf("%w; %w", err, stopped)
	}
	return nil
}

func restoreCommand(sh *shell) *cobra.Command {
	return &cobra.Command{Use: "restore FILE", Short: "Put a backup in the place of the planner's state",
		Args: cobra.ExactArgs(1),
		Long: "Put a backup in the place of what is in planner.state, which is kept beside it; files of\n" +
			"credentials and TLS that are there stay. No planner may run on that directory. Nodes keep\n" +
			"what runs and follow the planner that starts then. On another machine it has another\n" +
			"address: `pacer auth init HOST` makes a certificate for that, which nodes and users trust.",
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := sh.Config()
			if err != nil {
				return err
			}
			found, err := daemon.Restore(cfg.Planner.State, args[0], sh.now)
			if err != nil {
				return err
			}
			fmt.Fprintf(sh.Stdout, "%s is the planner's state in %s now\n", args[0], cfg.Planner.State)
			if found.Kept != "" {
				fmt.Fprintf(sh.Stdout, "what was there is in %s\n", found.Kept)
			}
			for _, path := range found.Left {
				fmt.Fprintf(sh.Stdout, "%s stays, and is not that of the backup\n", path)
			}
			return nil
		}}
}
