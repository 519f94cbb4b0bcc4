package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/cli/config"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
)

const authInitHelp = `Make the authority and the certificate of this machine's planner, or renew the certificate.

HOST are names and addresses under which others reach the planner, beside localhost, 127.0.0.1, ::1 and
this machine's name; without one the names of the last certificate stand. The files are in
the directory tls of planner.state: ca.pem is what nodes and users need (tls-ca), ca.key is the
authority itself. A planner that runs takes a new certificate at the next connection.

With --into the certificate is for another server: the HTTP address of a node, a nats-server.`

func authInitCommand(sh *shell) *cobra.Command {
	var into string
	c := &cobra.Command{Use: "init [HOST ...]", Short: "Make or renew the planner's authority and certificate",
		Long: authInitHelp,
		RunE: func(_ *cobra.Command, hosts []string) error { return sh.authInit(hosts, into) }}
	c.Flags().StringVar(&into, "into", "", "directory for server.pem and server.key")
	return c
}

func (sh *shell) authInit(hosts []string, into string) error {
	cfg, err := sh.Config()
	if err != nil {
		return err
	}
	now, dir := time.Now(), cfg.Planner.Authority()
	authority, err := bus.OpenAuthority(dir)
	if errors.Is(err, os.ErrNotExist) {
		authority, err = bus.NewAuthority(dir, now)
	}
	if err != nil {
		return command.Coded(command.ExitConfig, err)
	}
	files := bus.ServerFiles(cmp.Or(into, dir))
	if hosts, err = certified(files.Cert, hosts, into != "", cfg); err != nil {
		return err
	}
	until, err := authority.Issue(files, hosts, now)
	if err != nil {
		return command.Coded(command.ExitConfig, err)
	}
	if err := daemon.Settle(cfg.Planner.State); err != nil {
		return err
	}
	fmt.Fprintf(sh.Stdout,
		"certificate  %s\n  for        %v\n  until      %s\nauthority    %s\n  Nodes and users name a copy of it as "+
			"node.tls-ca and client.tls-ca, bare spark-submit as spark.pacer.tls.ca.\n",
		files.Cert, hosts, until.Format(time.DateOnly), authority.CA())
	return nil
}

// certified are the hosts of a new certificate in the place of the one in a file.
func certified(file string, hosts []string, foreign bool, cfg config.Config) ([]string, error) {
	if len(hosts) == 0 {
		names, err := bus.CertificateHosts(file)
		if err == nil || !errors.Is(err, os.ErrNotExist) {
			return names, err
		}
	}
	if foreign {
		if len(hosts) == 0 {
			return nil, command.Usagef("auth init --into needs the names of the other server")
		}
		return hosts, nil
	}
	own := []string{"localhost", "127.0.0.1", "::1"}
	if name, err := os.Hostname(); err == nil {
		own = append(own, name)
	}
	host, _, _ := net.SplitHostPort(cfg.Planner.Listen)
	if ip := net.ParseIP(host); host != "" && (ip == nil || !ip.IsUnspecified()) {
		own = append(own, host)
	}
	var out []string
	for _, host := range append(own, hosts...) {
		if !slices.Contains(out, host) {
			out = append(out, host)
		}
	}
	return out, nil
}
