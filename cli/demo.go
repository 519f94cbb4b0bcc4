package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/cli/demo"
)

// demoCommand is what `make demo` and `make bench` call; it is not listed.
func demoCommand(sh *shell) *cobra.Command {
	cfg := demo.Default()
	c := &cobra.Command{Use: "demo", Short: "Run a real application under two deadlines on this machine", Hidden: true,
		Args: cobra.NoArgs}
	c.Flags().StringVar(&cfg.Out, "out", cfg.Out, "directory for the report")
	c.Flags().Float64Var(&cfg.Scale, "scale", cfg.Scale, "size of the application; 1 is about 130 core-seconds")
	c.RunE = func(c *cobra.Command, _ []string) error {
		_, err := demo.Run(c.Context(), cfg, sh.Stdout, func(ctx context.Context) (demo.System, error) {
			return sh.startDemo(ctx, cfg)
		})
		return err
	}
	return c
}

// startDemo starts this very binary as `pacer up`.
func (sh *shell) startDemo(ctx context.Context, cfg demo.Config) (demo.System, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the pacer binary: %w", err)
	}
	if _, err := findSpark(ctx, sh.getenv); err != nil {
		return nil, err
	}
	local := demo.LocalConfig{
		Pacer: self, Dir: filepath.Join(cfg.Out, "demo"), Env: sh.Environ, Scale: cfg.Scale,
		Ready: 30 * time.Second, Grace: 15 * time.Second,
	}
	system, err := demo.StartLocal(ctx, local)
	if err != nil {
		return nil, err // Not system: a nil *Local is no nil System.
	}
	if code, err := system.Web(ctx); err == nil {
		if link, _, err := pageLink(code, ""); err == nil {
			fmt.Fprintf(sh.Stdout, "demo: the page that shows it: %s\n", link)
		}
	}
	return system, nil
}
