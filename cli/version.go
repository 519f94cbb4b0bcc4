package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/config"
)

func versionCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs}
	form := outputFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		v := versionInfo{Version: config.Release(), Revision: revision(), Protocol: api.Version, Go: runtime.Version()}
		if form.encodes() {
			return form.print(sh.Stdout, v)
		}
		_, err := fmt.Fprintf(sh.Stdout, "pacer %s (revision %s, protocol %d, %s)\n", v.Version, v.Revision, v.Protocol, v.Go)
		return err
	}
	return c
}

type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Protocol int    `json:"protocol"`
	Go       string `json:"go"`
}

// built is the commit that a package is made of; the linker sets it.
var built string

// revision is the commit that the binary was built from.
func revision() string {
	if built != "" {
		return built
	}
	revision, dirty := "unknown", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				revision = s.Value[:min(12, len(s.Value))]
			case "vcs.modified":
				if s.Value == "true" {
					dirty = "+changes"
				}
			}
		}
	}
	return revision + dirty
}
