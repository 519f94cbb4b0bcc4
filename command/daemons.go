package command

import (
	"context"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/config"
	"github.com/sparkpacer/pacer/daemon"
)

// flagKeys are flags that stand for configuration keys; one flag may set several.
type flagKeys map[string]struct {
	keys []string
	help string
}

var (
	upFlags = flagKeys{
		"listen":        {[]string{"planner.listen"}, "planner's NATS address, host:port"},
		"nats-url":      {[]string{"planner.nats-url"}, "NATS server to use in place of the embedded one, nats:// or tls://host:port"},
		"tls-ca":        {[]string{"planner.tls-ca"}, "authorities of that server's certificate, PEM"},
		"planner-http":  {[]string{"planner.http"}, "planner's address of /metrics and /healthz"},
		"node-http":     {[]string{"node.http"}, "node controller's address of /metrics and /healthz"},
		"state-dir":     {[]string{"planner.state", "node.state"}, "directory of databases, logs and executors' files"},
		"credentials":   {[]string{"planner.credentials"}, "file with the planner's credential, for a NATS server of one's own"},
		"node-name":     {[]string{"node.name"}, "the node's name"},
		"cores":         {[]string{"node.offered-cores"}, "cores that applications get (default: all but a reserve)"},
		"memory":        {[]string{"node.memory"}, "memory that executors get, such as 8g"},
		"spark-home":    {[]string{"node.spark-home"}, "Spark of the executors (default: the driver's)"},
		"executor-user": {[]string{"node.executor-user"}, "whom all executors run as (default: the submitting user where it is known)"},
		"runtime":       {[]string{"node.runtime"}, "docker, process or auto (docker where a daemon answers)"},
		"log-level":     {[]string{"log.level"}, "debug, info, warn or error"},
		"log-format":    {[]string{"log.format"}, "text or json"},
	}
	plannerFlags = flagKeys{
		"listen":      {[]string{"planner.listen"}, "NATS address, host:port"},
		"nats-url":    upFlags["nats-url"],
		"tls-ca":      upFlags["tls-ca"],
		"http":        {[]string{"planner.http"}, "address of /metrics and /healthz"},
		"state-dir":   {[]string{"planner.state"}, "directory of planner.db"},
		"credentials": upFlags["credentials"],
		"log-level":   upFlags["log-level"],
		"log-format":  upFlags["log-format"],
	}
	nodeFlags = flagKeys{
		"planner":       {[]string{"node.planner"}, "planner's NATS address, host:port, or a NATS server's URL"},
		"tls-ca":        {[]string{"node.tls-ca"}, "authorities of the NATS server's certificate, PEM"},
		"name":          {[]string{"node.name"}, "the node's name"},
		"http":          {[]string{"node.http"}, "address of /metrics and /healthz"},
		"state-dir":     {[]string{"node.state"}, "directory of node.db, logs and executors' files"},
		"credentials":   {[]string{"node.credentials"}, "file with the node's credential (default: in the state directory)"},
		"cores":         upFlags["cores"],
		"memory":        upFlags["memory"],
		"spark-home":    upFlags["spark-home"],
		"executor-user": upFlags["executor-user"],
		"runtime":       upFlags["runtime"],
		"log-level":     upFlags["log-level"],
		"log-format":    upFlags["log-format"],
	}
)

// add declares the flags on c. The function returned turns those that were given
// into settings of configuration keys.
func (f flagKeys) add(c *cobra.Command) func() []string {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		c.Flags().String(name, "", f[name].help)
	}
	return func() []string {
		var sets []string
		for _, name := range slices.Sorted(maps.Keys(f)) {
			if flag := c.Flags().Lookup(name); flag.Changed {
				for _, key := range f[name].keys {
					sets = append(sets, key+"="+flag.Value.String())
				}
			}
		}
		return sets
	}
}

// Up returns `pacer up`. ownSpark returns the home of the Spark that the user's own `pacer
// submit` takes, "" for none.
func (sh *Shell) Up(ownSpark func(context.Context) string) *cobra.Command {
	c := &cobra.Command{Use: "up", Short: "Run a planner and this machine's node controller", Args: cobra.NoArgs,
		Long: "Run a planner and this machine's node controller in one process, until SIGTERM or\n" +
			"SIGINT, which ends the applications. Prints a line with `ready` once it is usable."}
	sets := upFlags.add(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := sh.daemonConfig(sets())
		if err != nil {
			return err
		}
		cfg.Node.OwnSpark = ownSpark(c.Context())
		up := daemon.UpConfig{Planner: cfg.Planner, Node: cfg.Node, Ready: sh.say}
		if err := up.Validate(); err != nil {
			return Coded(ExitConfig, err)
		}
		return daemon.Up(c.Context(), up)
	}
	return c
}

// daemonConfig loads the configuration with what flags set and puts in the
// logger, which no file can say.
func (sh *Shell) daemonConfig(sets []string) (config.Config, error) {
	sh.Sets = append(sh.Sets, sets...)
	cfg, err := sh.Config()
	if err != nil {
		return config.Config{}, err
	}
	log := cfg.Log.Logger(sh.Stderr)
	cfg.Planner.Logger, cfg.Node.Logger = log, log
	who, err := owners(sh.Environ)
	if err != nil {
		return config.Config{}, err
	}
	cfg.Planner.Owners, cfg.Node.Owners = who, who
	return cfg, nil
}

// RunPlanner runs the planner daemon with args until ctx ends and returns its
// exit code.
func RunPlanner(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return runDaemon(ctx, "planner", "Run Pacer's planner", plannerFlags, args, stdin, stdout, stderr,
		func(ctx context.Context, sh *Shell, cfg config.Config) error {
			cfg.Planner.Ready = sh.say
			if err := cfg.Planner.Validate(); err != nil {
				return Coded(ExitConfig, err)
			}
			return daemon.Planner(ctx, cfg.Planner)
		})
}

// RunNode runs the node controller daemon with args until ctx ends and
// returns its exit code.
func RunNode(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return runDaemon(ctx, "nodecontroller", "Run Pacer's node controller on this machine", nodeFlags, args, stdin, stdout, stderr,
		func(ctx context.Context, sh *Shell, cfg config.Config) error {
			cfg.Node.Ready = sh.say
			if err := cfg.Node.Validate(); err != nil {
				return Coded(ExitConfig, err)
			}
			return daemon.Node(ctx, cfg.Node)
		})
}

func runDaemon(ctx context.Context, name, short string, flags flagKeys, args []string, stdin io.Reader, stdout, stderr io.Writer,
	run func(context.Context, *Shell, config.Config) error) int {
	sh := NewShell(name, stdin, stdout, stderr)
	c := &cobra.Command{Use: name, Short: short, Args: cobra.NoArgs, Version: config.Release()}
	sets := flags.add(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := sh.daemonConfig(sets())
		if err != nil {
			return err
		}
		return run(c.Context(), sh, cfg)
	}
	return sh.Execute(ctx, c, args)
}
