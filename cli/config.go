package cli

import (
	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/cli/config"
)

func configCommand(sh *shell) *cobra.Command {
	var defaults bool
	show := &cobra.Command{Use: "show", Short: "Print the configuration as YAML", Args: cobra.NoArgs}
	show.Long = "Print the configuration as YAML: what holds for this call by file, environment and flags,\n" +
		"or with --defaults what holds without these."
	show.Flags().BoolVar(&defaults, "defaults", false, "without file, environment and flags")
	show.Flags().Bool("effective", true, "")
	_ = show.Flags().MarkDeprecated("effective", "it holds without it")
	show.RunE = func(*cobra.Command, []string) error {
		cfg := config.Default()
		cfg.Client.Planner = cfg.PlannerAddress()
		if !defaults {
			var err error
			if cfg, err = sh.Config(); err != nil {
				return err
			}
		}
		body, err := cfg.Encode()
		if err != nil {
			return err
		}
		_, err = sh.Stdout.Write(body)
		return err
	}
	check := &cobra.Command{Use: "validate", Short: "Check the configuration and report every fault", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := config.Faults(sh.Config()); err != nil {
				return command.Coded(command.ExitConfig, err)
			}
			return nil
		}}
	return group("config", "Show and check the configuration", show, check)
}
