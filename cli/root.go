package cli

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/bus"
	"github.com/sparkpacer/pacer/command"
	"github.com/sparkpacer/pacer/config"
)

// shell is what pacer's commands see of the world around them.
type shell struct {
	*command.Shell
	// getenv looks a variable of the environment up.
	getenv func(string) string
	// now is the time of the call: the start of the deadline clock.
	now time.Time
	// began is the same moment since the machine's start (sinceBoot).
	began time.Duration
	// started is now with its monotonic reading, which stands still in a suspension.
	started time.Time
}

// client is what commands ask of a running planner: a *bus.Conn.
type client interface {
	Control(ctx context.Context, verb api.Verb, r api.ControlRequest) (api.ControlReply, error)
	PlanQuery(ctx context.Context, r api.PlanRequest) (api.PlanReply, error)
	Logs(ctx context.Context, node string, r api.LogRequest) (api.LogReply, error)
}

// Run runs pacer with args (without the program's name) and returns its exit
// code. It prints errors to stderr, one line each, and never ends the process.
// ctx ends what runs: daemons shut down in order, waits come back.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	sh := &shell{Shell: command.NewShell("pacer", stdin, stdout, stderr), getenv: os.Getenv, now: time.Now(), began: sinceBoot(), started: time.Now()}
	return sh.run(ctx, args)
}

func (sh *shell) run(ctx context.Context, args []string) int { return sh.Execute(ctx, sh.root(), args) }

func (sh *shell) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "pacer",
		Short: "Finishes Spark applications at the time their users ask for",
		Long: "Pacer makes Apache Spark applications finish at the time their users ask for,\n" +
			"on as little CPU and memory as that takes.",
	}
	root.PersistentFlags().StringVar(&sh.Planner, "planner", "", "planner's address, host:port, or a NATS server's URL")
	root.AddGroup(&cobra.Group{ID: "run", Title: "Run applications:"}, &cobra.Group{ID: "see", Title: "See and steer:"},
		&cobra.Group{ID: "house", Title: "House:"})
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("run", sh.submitCommand(), sh.Up(), sh.planCommand(), sh.profilesCommand())
	add("see", sh.appsCommand(), sh.nodesCommand(), sh.logsCommand(), sh.releaseCommand(), sh.deadlineCommand(),
		sh.identifyCommand())
	add("house", sh.jarCommand(), sh.configCommand(), sh.versionCommand())
	add("house", sh.simulateCommand(), sh.replayCommand())
	root.AddCommand(sh.demoCommand())
	root.SetHelpCommandGroupID("house")
	root.SetCompletionCommandGroupID("house")
	return root
}

// group returns a command that only holds others; without one of them it is a
// wrong command line.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		return command.Usagef("%s needs a sub-command (see %s --help)", c.CommandPath(), c.CommandPath())
	}}
	c.AddCommand(subs...)
	return c
}

// dial connects to the planner of the configuration and checks that it answers.
// The caller calls the function returned when it is done.
func (sh *shell) dial(ctx context.Context) (client, func(), error) {
	cfg, err := sh.Config()
	if err != nil {
		return nil, nil, err
	}
	return dialPlanner(ctx, cfg.Client)
}

// dialPlanner connects and pings; its error is one line that names the address.
func dialPlanner(ctx context.Context, cfg config.Client) (client, func(), error) {
	conn, err := bus.Dial(bus.Options{Address: cfg.Planner, Role: bus.RoleOperator, Credentials: cfg.Credentials,
		TLS: cfg.TLS, Name: "pacer", Timeout: cfg.Timeout})
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	if _, err := conn.Control(ctx, api.VerbPing, api.ControlRequest{}); err != nil {
		conn.Close()
		return nil, nil, err
	}
	return conn, conn.Close, nil
}

// ask sends one control request and returns the reply.
func (sh *shell) ask(ctx context.Context, verb api.Verb, r api.ControlRequest) (api.ControlReply, error) {
	c, done, err := sh.dial(ctx)
	if err != nil {
		return api.ControlReply{}, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return c.Control(ctx, verb, r)
}

// requestTimeout bounds one request once the planner has answered a ping.
const requestTimeout = 15 * time.Second
