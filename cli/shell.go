package cli

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/cli/config"
	"github.com/sparkpacer/pacer/infra/bus"
)

// shell is what pacer's commands see of the world around them.
type shell struct {
	*command.Shell
	clock
	// getenv looks a variable of the environment up.
	getenv func(string) string
}

// client is what commands ask of a running planner: a *bus.Conn.
type client interface {
	Control(ctx context.Context, verb api.Verb, r api.ControlRequest) (api.ControlReply, error)
	PlanQuery(ctx context.Context, r api.PlanRequest) (api.PlanReply, error)
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
	own, err := cfg.Credential()
	if err != nil {
		return nil, nil, command.Configured(err)
	}
	conn, err := bus.Dial(bus.Options{Address: cfg.Planner, Credential: own, TLS: cfg.TLS, Name: "pacer",
		Plaintext: cfg.Plaintext, Timeout: cfg.Timeout})
	if api.KindOf(err) == api.KindInvalid { // The configuration is wrong about TLS.
		err = command.Coded(command.ExitConfig, err)
	}
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	if _, err := conn.Control(ctx, api.VerbPing, api.ControlRequest{}); err != nil {
		conn.Close()
		if api.KindOf(err) == api.KindTransient { // A NATS server is there, or was a moment ago.
			err = api.Errorf(api.KindTransient, "no planner answers at %s: %v", cfg.Planner, err)
		}
		return nil, nil, err
	}
	return conn, conn.Close, nil
}

// ask sends one control request and returns the reply. It may name an application by the first part of its id.
func (sh *shell) ask(ctx context.Context, verb api.Verb, r api.ControlRequest) (api.ControlReply, error) {
	c, done, err := sh.dial(ctx)
	if err != nil {
		return api.ControlReply{}, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	reply, err := c.Control(ctx, verb, r)
	if r.App == "" || api.KindOf(err) != api.KindNotFound {
		return reply, err
	}
	id, many := whole(ctx, c, r.App)
	if many != nil || id == r.App {
		return reply, cmp.Or(many, err)
	}
	r.App = id
	return c.Control(ctx, verb, r)
}

// requestTimeout bounds one request once the planner has answered a ping.
const requestTimeout = 15 * time.Second
