package cli

import (
	"context"
	"fmt"
	"html"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
)

const webHelp = `Print a link to the planner's page. It begins a session there with what you may do at the
terminal: once, and within two minutes. The session lasts 12 hours, or until your credentials
are revoked.`

func webCommand(sh *shell) *cobra.Command {
	var open bool
	c := &cobra.Command{Use: "web", Short: "Print a link to the planner's page", Long: webHelp, Args: cobra.NoArgs}
	c.Flags().BoolVar(&open, "open", false, "open it in a browser")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := sh.Config()
		if err != nil {
			return err
		}
		reply, err := sh.ask(c.Context(), api.VerbWeb, api.ControlRequest{})
		if err != nil {
			return err
		}
		link, far, err := pageLink(reply.Web, cfg.Client.Planner)
		if err != nil {
			return err
		}
		if far != "" {
			fmt.Fprintf(sh.Stderr, "the page is on the planner's machine alone (planner.http): `%s` has it here, too\n", far)
		}
		if open {
			return browse(c.Context(), link)
		}
		fmt.Fprintln(sh.Stdout, link)
		return nil
	}
	return c
}

// pageLink is where the page is for who reaches the planner at an address. Where that is another machine, on which
// alone the page is, far is the command that brings it here.
func pageLink(code *api.WebCode, planner string) (link, far string, err error) {
	at, err := url.Parse(code.URL)
	if err != nil {
		return "", "", fmt.Errorf("the planner's page: %w", err)
	}
	host := planner
	if u, err := url.Parse(planner); err == nil && u.Host != "" {
		host = u.Host
	}
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	ip, port := net.ParseIP(at.Hostname()), at.Port()
	switch {
	case ip.IsUnspecified():
		at.Host = net.JoinHostPort(host, port)
	case bus.IsLoopback(at.Host) && !bus.IsLoopback(net.JoinHostPort(host, "0")):
		far = fmt.Sprintf("ssh -NL %s:127.0.0.1:%s %s", port, port, host)
	}
	return at.String() + "/#" + code.Code, far, nil
}

// browse opens a link in a browser, by a file that nobody else can read: everybody on the machine sees what programs
// are started with.
func browse(ctx context.Context, link string) error {
	dir, err := os.UserCacheDir()
	path := filepath.Join(dir, "pacer", "web.html")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		body := fmt.Appendf(nil, `<meta http-equiv="refresh" content="0;url=%s">`, html.EscapeString(link))
		err = bus.WriteSecret(path, body)
	}
	if err != nil {
		return fmt.Errorf("open the page: %w", err)
	}
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	if out, err := exec.CommandContext(ctx, opener, path).CombinedOutput(); err != nil {
		return fmt.Errorf("no browser opens (%s: %w %s): `pacer web` prints the link", opener, err, out)
	}
	return nil
}
