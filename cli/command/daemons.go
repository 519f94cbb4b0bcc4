package command

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"

	sd "github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/cli/config"
	"github.com/sparkpacer/pacer/daemon"
)

// flagKeys are flags that stand for configuration keys; one flag may set several.
type flagKeys map[string]struct {
	keys []string
	help string
}

var (
	upFlags = flagKeys{
		"listen": {[]string{"planner.listen"}, "planner's NATS address, host:port"},
		"nats-url": {[]string{"planner.nats-url"},
			"NATS server with JetStream to use in place of the embedded one, nats:// or tls://host:port"},
		"tls-ca":       {[]string{"planner.tls-ca"}, "authorities of that server's certificate, PEM"},
		"planner-http": {[]string{"planner.http"}, "planner's address of the page, /metrics and /healthz"},
		"node-http":    {[]string{"node.http"}, "node controller's address of /metrics and /healthz"},
		"state-dir":    {[]string{"planner.state", "node.state"}, "directory of databases, logs and executors' files"},
		"credentials": {[]string{"planner.credentials"},
			"file with the planner's credential, for a NATS server of one's own"},
		"node-name":  {[]string{"node.name"}, "the node's name"},
		"cores":      {[]string{"node.offered-cores"}, "cores that applications get (default: all but a reserve)"},
		"memory":     {[]string{"node.memory"}, "memory that executors get, such as 8g"},
		"spark-home": {[]string{"node.spark-home"}, "Spark of the executors (default: the driver's)"},
		"executor-user": {[]string{"node.executor-user"},
			"whom all executors run as (default: the submitting user where it is known)"},
		"runtime":    {[]string{"node.runtime"}, "docker, process or auto (docker where a daemon answers)"},
		"log-level":  {[]string{"log.level"}, "debug, info, warn or error"},
		"log-format": {[]string{"log.format"}, "text or json"},
	}
	plannerFlags = flagKeys{
		"listen":      {[]string{"planner.listen"}, "NATS address, host:port"},
		"nats-url":    upFlags["nats-url"],
		"tls-ca":      upFlags["tls-ca"],
		"http":        {[]string{"planner.http"}, "address of the page, /metrics and /healthz"},
		"state-dir":   {[]string{"planner.state"}, "directory of planner.db"},
		"credentials": upFlags["credentials"],
		"log-level":   upFlags["log-level"],
		"log-format":  upFlags["log-format"],
	}
	nodeFlags = flagKeys{
		"planner":     {[]string{"node.planner"}, "planner's NATS address, host:port, or a NATS server's URL"},
		"tls-ca":      {[]string{"node.tls-ca"}, "authorities of the NATS server's certificate, PEM"},
		"name":        {[]string{"node.name"}, "the node's name"},
		"http":        {[]string{"node.http"}, "address of /metrics and /healthz"},
		"state-dir":   {[]string{"node.state"}, "directory of node.db, logs and executors' files"},
		"credentials": {[]string{"node.credentials"}, "file with the node's credential (default: in the state directory)"},
		"attach": {[]string{"node.attach"},
			"find executors that YARN or Kubernetes starts, and start none (docs/attach.md)"},
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
		if name == "attach" {
			c.Flags().Lookup(name).NoOptDefVal = "true"
		}
	}
	if c.Flags().Lookup("runtime") != nil {
		_ = c.RegisterFlagCompletionFunc("runtime", cobra.FixedCompletions([]string{"docker", "process", "auto"},
			cobra.ShellCompDirectiveNoFileComp))
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
		Long: "Run a planner and this machine's node controller in one process, until SIGTERM, SIGINT\n" +
			"or SIGHUP, which ends the applications. Prints a line with `ready` once it is usable.\n" +
			"With --detach it runs on without this terminal, and `pacer down` ends it."}
	sets := upFlags.add(c)
	detach := c.Flags().Bool("detach", false, "run on without this terminal; return once it is usable")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, _, err := sh.daemonConfig(sets())
		if err != nil {
			return err
		}
		cfg.Node.OwnSpark = ownSpark(c.Context())
		up := daemon.UpConfig{Planner: cfg.Planner, Node: cfg.Node, Ready: Background{sh}.ready}
		if OnTerminal(sh.Stdout) { // A link in a log is nobody's, or anybody's.
			up.Link = func(link string) { sh.say("see it at " + link) }
		}
		if err := errors.Join(cfg.Check("planner.", "node."), up.Validate()); err != nil {
			return Coded(ExitConfig, err)
		}
		if *detach {
			return Configured(Background{sh}.start(c.Context(), cfg))
		}
		if up.RunAlone() {
			sh.say("executors run as root, for nobody else can log in to this machine or reaches Pacer " +
				"(--executor-user " + daemon.EachUser + " gives each application a user of its own)")
		}
		ctx, stop := endsOnHangup(c.Context())
		defer stop()
		return Configured(daemon.Up(ctx, up))
	}
	return c
}

// daemonConfig loads the configuration with what flags set and puts in the
// logger, which no file can say; level is what the logger goes by.
func (sh *Shell) daemonConfig(sets []string) (cfg config.Config, level *slog.LevelVar, err error) {
	// Executors are other users: what a daemon makes for them does not hang on its caller's mask, and
	// what is secret has a mode of its own.
	syscall.Umask(0o022)
	sh.Sets = append(sh.Sets, sets...)
	if cfg, err = sh.Config(); err != nil {
		return config.Config{}, nil, err
	}
	level = &slog.LevelVar{}
	log := cfg.Log.Logger(sh.Stderr, level)
	cfg.Planner.Logger, cfg.Node.Logger = log, log
	who, err := owners(sh.Environ)
	if err != nil {
		return config.Config{}, nil, err
	}
	cfg.Planner.Owners, cfg.Node.Owners = who, who
	return cfg, level, nil
}

// started has systemd know that a daemon has its state, ports and groups, where a unit of type notify has started it. A
// node counts as started before a planner answers: a planner that is down keeps no unit from starting. When ctx ends
// it says that the daemon stops.
func started(ctx context.Context) {
	_, _ = sd.SdNotify(false, sd.SdNotifyReady)
	context.AfterFunc(ctx, func() { _, _ = sd.SdNotify(false, sd.SdNotifyStopping) })
}

// tell says a line to the user, and to systemd as the daemon's state.
func (sh *Shell) tell(line string) {
	sh.say(line)
	_, _ = sd.SdNotify(false, "STATUS="+line)
}

// RunPlanner runs the planner daemon with args until ctx ends and returns its
// exit code.
func RunPlanner(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return runDaemon(ctx, "planner", plannerFlags, args, stdin, stdout, stderr,
		func(ctx context.Context, sh *Shell, r *reloader) error {
			r.cfg.Planner.Ready = sh.tell
			r.sections = []string{"planner.", "log."}
			r.check = func(c config.Config) error { return errors.Join(c.Check("planner."), c.Planner.Validate()) }
			if err := r.check(r.cfg); err != nil {
				return Coded(ExitConfig, err)
			}
			daemon.LimitPlannerMemory()
			p, err := daemon.NewPlanner(r.cfg.Planner)
			if err != nil {
				return err
			}
			r.log = r.cfg.Planner.Logger.With("component", "planner")
			r.apply = func(ctx context.Context, c config.Config) error { return p.Reload(ctx, c.Planner) }
			defer r.start(ctx)()
			started(ctx)
			return p.Run(ctx)
		})
}

// RunNode runs the node controller daemon with args until ctx ends and
// returns its exit code.
func RunNode(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return runDaemon(ctx, "nodecontroller", nodeFlags, args, stdin, stdout, stderr,
		func(ctx context.Context, sh *Shell, r *reloader) error {
			r.cfg.Node.Ready = sh.tell
			r.sections = []string{"node.", "log."}
			r.check = func(c config.Config) error { return errors.Join(c.Check("node."), c.Node.Validate()) }
			if err := r.check(r.cfg); err != nil {
				return Coded(ExitConfig, err)
			}
			daemon.LimitMemory()
			newNode := daemon.NewNode
			if os.Getenv("NOTIFY_SOCKET") != "" { // Of the manager of services that has started it.
				newNode = daemon.NewService
			}
			n, err := newNode(r.cfg.Node)
			if err != nil {
				return err
			}
			r.log = r.cfg.Node.Logger.With("component", "node", "node", r.cfg.Node.Name)
			r.apply = func(ctx context.Context, c config.Config) error { return n.Reload(ctx, c.Node) }
			defer r.start(ctx)()
			started(ctx)
			return n.Run(ctx)
		})
}

// Daemons are the programs of the daemons, for manual pages and completion: they cannot be run.
func Daemons() []*cobra.Command {
	planner, _ := daemonCommand("planner", plannerFlags)
	node, _ := daemonCommand("nodecontroller", nodeFlags)
	return []*cobra.Command{planner, node}
}

// daemonCommand is the program of a daemon, without what it runs, and what its flags set.
func daemonCommand(name string, flags flagKeys) (c *cobra.Command, sets func() []string) {
	short := map[string]string{"planner": "Run Pacer's planner",
		"nodecontroller": "Run Pacer's node controller on this machine"}[name]
	c = &cobra.Command{Use: name, Short: short, Args: cobra.NoArgs, Version: config.Release(),
		Long:    short + ", until SIGTERM or SIGINT. SIGHUP has it read its configuration again.",
		Example: "  " + name + " --config /etc/pacer/config.yaml",
		RunE:    func(*cobra.Command, []string) error { return nil }}
	return c, flags.add(c)
}

func runDaemon(ctx context.Context, name string, flags flagKeys, args []string, stdin io.Reader, stdout,
	stderr io.Writer, run func(context.Context, *Shell, *reloader) error) int {
	// From now on SIGHUP ends nothing; what comes before the daemon runs waits for that.
	hangups := catchHangups()
	defer signal.Stop(hangups)
	sh := NewShell(name, stdin, stdout, stderr)
	c, sets := daemonCommand(name, flags)
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, level, err := sh.daemonConfig(sets())
		if err != nil {
			return err
		}
		return Configured(run(c.Context(), sh, &reloader{hangups: hangups, cfg: cfg, level: level, read: sh.Config}))
	}
	return sh.Execute(ctx, c, args)
}
