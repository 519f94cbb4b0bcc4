package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/cli/config"
	"github.com/sparkpacer/pacer/cli/doctor"
)

func doctorCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{Use: "doctor [planner|node|user]", Short: "Look at this machine and say what is in Pacer's way",
		Long: "Look at this machine as a planner's, a node's or a user's, or as all of them, and say what is\n" +
			"in the way with the command that mends it. The exit code is 1 where there is a fault.",
		Args: cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs), ValidArgs: []string{"planner", "node", "user"}}
	form := outputFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		m := doctor.Machine{Now: sh.now, Roles: []doctor.Role{doctor.Planner, doctor.Node, doctor.User}}
		if len(args) > 0 {
			m.Roles = []doctor.Role{doctor.Role(args[0])}
		}
		var err error
		m.Config, err = sh.Config()
		if m.Faults = config.Faults(m.Config, err); m.Config.Client.Planner == "" { // Its file cannot be read.
			m.Config = config.Default()
			m.Config.Client.Planner = m.Config.PlannerAddress()
		}
		found := doctor.Examine(doctor.Read(c.Context(), m, func(home string) (doctor.Program, error) {
			sp, err := spark{home: home}, error(nil)
			if home == "" {
				sp, err = findSpark(c.Context(), sh.getenv)
			}
			return doctor.Program{Dir: sp.home, Version: sp.version()}, err
		}, sh.getenv))
		if form.encodes() {
			err = form.print(sh.Stdout, map[string]any{"findings": found})
		} else {
			err = printFindings(sh.Stdout, found)
		}
		if err == nil && slices.ContainsFunc(found, func(f doctor.Finding) bool { return f.Status == doctor.Fault }) {
			err = command.Coded(command.ExitFailure, nil)
		}
		return err
	}
	return c
}

func printFindings(w io.Writer, found []doctor.Finding) error {
	var rows [][]string
	unseen := 0
	for _, f := range found {
		rows = append(rows, []string{f.Check, string(f.Status), f.Found})
		if f.Mend != "" {
			rows = append(rows, []string{"", "", "  " + f.Mend})
		}
		if f.Unseen {
			unseen++
		}
	}
	if unseen > 0 {
		rows = append(rows, []string{"", "", fmt.Sprintf("checks without the right to look: %d", unseen)})
	}
	return table(w, []string{"CHECK", "STATUS", "FOUND, AND WHAT MENDS IT"}, rows)
}
