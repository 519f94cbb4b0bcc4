package cli

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/units"
)

const authHelp = `Say who may ask the planner for what, and how others know that it is the planner.

Everybody who connects has a credential: a file that nobody else may read. A planner that
starts gives one, with the role operate, to who starts it, in
~/.config/pacer/credentials/HOST:PORT, where commands and drivers look for it; a node
controller beside it gets its own. All others have theirs by pacer auth issue.

An address that other machines reach has a certificate, which pacer auth init makes.`

func authCommand(sh *shell) *cobra.Command {
	of := authCommands{sh}
	c := group("auth", "Who may do what, and how servers are known", authInitCommand(sh), of.authority(), of.issue(),
		of.principals(), of.revoke(),
		of.nats(), of.token())
	c.Long = authHelp
	return c
}

// authCommands are the sub-commands of `pacer auth` that speak with a planner or know it.
type authCommands struct{ sh *shell }

// issueFlags are what issue is told.
type issueFlags struct {
	node, user, role, out, memory, valid string
	classes, nodes                       []string
	cores                                float64
	running, queued, times               int
	join                                 bool
}

func (of authCommands) issue() *cobra.Command {
	var f issueFlags
	c := &cobra.Command{
		Use:   "issue --node NODE | --user USER --role ROLE | --join",
		Short: "Issue a credential to a node, a user, or all machines that are to become nodes",
		Args:  cobra.NoArgs,
		Long: "Issue a credential to a node or a user and print its file, or write that. Older\n" +
			"credential files of this user stay valid, with the new role and limits. The user puts the file to\n" +
			"~/.config/pacer/credentials/HOST:PORT, the node's is node.credentials.\n\n" +
			"A join credential is one file for all machines of a cluster: with it as node.credentials a\n" +
			"node has a credential of its own issued, which it keeps in node.state, and needs the file no\n" +
			"more. Nodes that have joined stay when the join credential ends or is revoked.",
		Example: "  pacer auth issue --join --nodes 'worker-*' --for 24h --out join.key\n" +
			"  pacer auth issue --user ann --role submit --max-memory 64g --out ann.key",
	}
	flags := c.Flags()
	flags.StringVar(&f.node, "node", "", "the node's name")
	flags.StringVar(&f.user, "user", "", "the user's name")
	flags.BoolVar(&f.join, "join", false, "a credential by which machines become nodes")
	flags.StringSliceVar(&f.nodes, "nodes", nil,
		"patterns of the names of nodes that join, such as worker-* (default: all)")
	flags.IntVar(&f.times, "times", 0,
		"how many credentials of nodes it is good for (default: without a bound)")
	flags.StringVar(&f.role, "role", string(api.RoleSubmit),
		"what the user may do: view, submit (also own applications) or operate (everything)")
	flags.StringVar(&f.out, "out", "", "file to be written (default: standard output)")
	flags.StringVar(&f.valid, "for", "", "how long it is taken, such as 720h (default: until it is revoked)")
	flags.StringSliceVar(&f.classes, "classes", nil, "classes that the user may ask for (default: all)")
	flags.Float64Var(&f.cores, "max-cores", 0, "most cores of each of the user's applications on a node, in every mode")
	flags.StringVar(&f.memory, "max-memory", "",
		"most memory of the executors of all the user's applications, such as 64g")
	flags.IntVar(&f.running, "max-running", 0, "most applications of the user that run at a time")
	flags.IntVar(&f.queued, "max-queued", 0, "most applications of the user that wait")
	c.RunE = func(c *cobra.Command, _ []string) error {
		p, err := f.principal(of.sh.now)
		if err != nil {
			return err
		}
		own := bus.NewCredential(p.Login())
		own.Issued, own.Until = of.sh.now.UTC().Truncate(time.Second), p.Until
		reply, err := of.sh.ask(c.Context(), api.VerbIssue,
			api.ControlRequest{Issue: &api.Issue{Principal: p, Key: own.Key()}})
		if err != nil {
			return err
		}
		return handOut(of.sh.Stdout, f.out, own, reply.Message)
	}
	return c
}

// principal is who the flags name.
func (f issueFlags) principal(now time.Time) (api.Principal, error) {
	var p api.Principal
	switch {
	case f.join && f.node == "" && f.user == "":
		p = api.Principal{Kind: api.PrincipalJoin, Name: strings.ToLower(rand.Text()[:8]),
			Join: api.Join{Nodes: f.nodes, Times: f.times}}
	case f.join, (f.node == "") == (f.user == ""):
		return p, command.Usagef("give one of --node, --user and --join")
	case f.node != "":
		p = api.Principal{Kind: api.PrincipalNode, Name: f.node}
	default:
		p = api.Principal{Kind: api.PrincipalUser, Name: f.user, Role: api.Role(f.role)}
		p.Bounds = api.Bounds{Cores: units.Cores(f.cores), Running: f.running, Queued: f.queued}
		for _, class := range f.classes {
			p.Bounds.Classes = append(p.Bounds.Classes, api.Class(class))
		}
		if f.memory != "" {
			most, err := units.ParseBytes(f.memory, 1)
			if err != nil {
				return p, command.Usagef("--max-memory: %w", err)
			}
			p.Bounds.Memory = most
		}
	}
	if f.valid != "" {
		d, err := units.ParseDuration(f.valid)
		if err != nil || d <= 0 {
			return p, command.Usagef("--for %q: want a time such as 720h", f.valid)
		}
		p.Until = now.Add(d).UTC().Truncate(time.Second)
	}
	if err := p.Validate(); err != nil {
		return p, command.Usagef("%w", err)
	}
	return p, nil
}

// handOut writes a credential's file, or prints it.
func handOut(w io.Writer, path string, own bus.Credential, message string) error {
	if path == "" {
		_, err := w.Write(own.Encode())
		return err
	}
	if err := bus.WriteSecret(path, own.Encode()); err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	fmt.Fprintf(w, "%s: %s\n", message, path)
	return nil
}

func (of authCommands) principals() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "Show who has credentials", Args: cobra.NoArgs,
		Long: "Show which LOGIN has how many CREDENTIALS: of a user, a node, a planner or a join credential (KIND), what\n" +
			"it MAY do, when the newest was ISSUED, and UNTIL when it is good."}
	form := outputFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		reply, err := of.sh.ask(c.Context(), api.VerbPrincipals, api.ControlRequest{})
		if err != nil {
			return err
		}
		if form.encodes() {
			return form.print(of.sh.Stdout, map[string]any{"principals": append([]api.PrincipalSummary{}, reply.Principals...)})
		}
		rows := make([][]string, 0, len(reply.Principals))
		for _, p := range reply.Principals {
			until := "-"
			if !p.Until.IsZero() {
				until = p.Until.In(of.sh.now.Location()).Format(time.DateTime)
			}
			may := string(p.Role)
			if p.Kind == api.PrincipalJoin {
				may = joining(p)
			}
			rows = append(rows, []string{p.Login, string(p.Kind), p.Name, dash(may), strconv.Itoa(p.Credentials),
				p.Issued.In(of.sh.now.Location()).Format(time.DateTime), until})
		}
		return table(of.sh.Stdout, []string{"LOGIN", "KIND", "NAME", "MAY", "CREDENTIALS", "ISSUED", "UNTIL"}, rows)
	}
	return c
}

// joining says which nodes a join credential lets in, and how many times it did.
func joining(p api.PrincipalSummary) string {
	text := "nodes " + cmp.Or(strings.Join(p.Join.Nodes, " "), "*") + ", used " + strconv.Itoa(p.Joined)
	if p.Join.Times > 0 {
		text += " of " + strconv.Itoa(p.Join.Times)
	}
	return text
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (of authCommands) revoke() *cobra.Command {
	return orders(&cobra.Command{
		Use: "revoke LOGIN", Short: "Take a login's credentials no more, and end its connections", Args: cobra.ExactArgs(1),
		Long: "Take a login's credentials no more, and end its connections. A user's queued applications\n" +
			"are refused; the running ones are told, and ended a minute later, unless the user is issued\n" +
			"other credentials within that. A node counts as lost, as do its executors.",
		RunE: func(c *cobra.Command, args []string) error {
			return of.sh.order(c, api.VerbRevoke, api.ControlRequest{Login: args[0]})
		},
	})
}

func (of authCommands) authority() *cobra.Command {
	return &cobra.Command{
		Use: "ca", Short: "Print the authority by which commands here know the planner", Args: cobra.NoArgs,
		Long: "Print the certificate of the authority by which commands on this machine know the planner: client.tls-ca,\n" +
			"and on the planner's machine what pacer auth init made. Nodes and users name a copy of it as tls-ca.",
		Example: "  kubectl -n pacer exec pacer-planner-0 -- pacer auth ca >ca.pem",
		RunE: func(*cobra.Command, []string) error {
			cfg, err := of.sh.Config()
			if err != nil {
				return err
			}
			if cfg.Client.TLS.CA == "" {
				return command.Coded(command.ExitConfig, errors.New("there is none: pacer auth init makes one"))
			}
			text, err := os.ReadFile(cfg.Client.TLS.CA)
			if err == nil {
				_, err = of.sh.Stdout.Write(text)
			}
			return err
		},
	}
}

func (of authCommands) nats() *cobra.Command {
	return &cobra.Command{
		Use: "nats", Short: "Print what a nats-server's configuration needs to ask this planner whom it may let in",
		Args: cobra.NoArgs,
		Long: "Print the block of a nats-server's configuration by which it knows the planner of this\n" +
			"machine's planner.state and asks it about everybody else (planner.nats-url). The planner's\n" +
			"credential is made where it is not there yet. The block has no secret.",
		RunE: func(*cobra.Command, []string) error {
			cfg, err := of.sh.Config()
			if err != nil {
				return err
			}
			path := cmp.Or(cfg.Planner.Credentials, daemon.PlannerPath(cfg.Planner.State))
			own, err := bus.LoadCredential(path, api.PrincipalPlanner)
			if errors.Is(err, fs.ErrNotExist) {
				own = bus.NewCredential(api.Principal{Kind: api.PrincipalPlanner}.Login())
				err = errors.Join(bus.WriteSecret(path, own.Encode()), daemon.Settle(cfg.Planner.State))
			}
			if err != nil {
				return err
			}
			block, err := own.ServerAuthorization()
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(of.sh.Stdout, block)
			return err
		},
	}
}
