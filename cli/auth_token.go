package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/units"
)

const tokenHelp = `Print a token to ask the planner with by HTTP, as what you may do at the terminal:

  curl -H "Authorization: Bearer $(pacer auth token)" http://127.0.0.1:4281/api/v1/nodes

It is good for an hour, or --for less or up to 24h, and ends with the planner that gave it and with
your credentials. One for scrapes looks only, and is good for 90 days, or up to 400.`

func (of authCommands) token() *cobra.Command {
	var out, valid string
	var r api.TokenRequest
	c := &cobra.Command{Use: "token", Short: "Print a token to ask the planner with by HTTP", Long: tokenHelp,
		Args: cobra.NoArgs}
	c.Flags().StringVar(&valid, "for", "", "how long it is good, such as 10m (default: 1h, with --scrape 2160h)")
	c.Flags().BoolVar(&r.Scrape, "scrape", false, "one that looks only, for a scraper of metrics")
	c.Flags().StringVar(&out, "out", "", "file to be written (default: standard output)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if valid != "" {
			d, err := units.ParseDuration(valid)
			if err != nil || d <= 0 {
				return command.Usagef("--for %q: want a time such as 10m", valid)
			}
			r.For = units.Seconds(d.Seconds())
		}
		reply, err := of.sh.ask(c.Context(), api.VerbToken, api.ControlRequest{Query: &api.Query{Token: r}})
		if err != nil {
			return err
		}
		if out == "" {
			fmt.Fprintln(of.sh.Stdout, reply.Token.Token)
			return nil
		}
		if err := bus.WriteSecret(out, []byte(reply.Token.Token+"\n")); err != nil {
			return fmt.Errorf("token: %w", err)
		}
		fmt.Fprintf(of.sh.Stdout, "a token for %s until %s: %s\n", reply.Token.URL,
			reply.Token.Until.In(of.sh.now.Location()).Format(time.DateTime), out)
		return nil
	}
	return c
}
