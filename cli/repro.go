package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/sim/registry"
)

// reproCommand tries the claims of sources and prints what came of them.
func reproCommand(out, said io.Writer, sources []registry.Source) *cobra.Command {
	c := &cobra.Command{Use: "repro [SOURCE]", Args: cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		Short: "Try what the publications claim that Pacer follows",
		Long: "Runs the experiments of publications on the simulators and says of each claim what is theirs, what\n" +
			"is ours, and whether that lies in the claim's band. One that differs is no failure. The publications:"}
	for _, s := range sources {
		c.ValidArgs, c.Long = append(c.ValidArgs, s.Name), c.Long+"\n  "+s.Name+"  "+s.Title
	}
	form, seeds := outputFlag(c), c.Flags().Int("seeds", 3, "how often each case is run")
	c.RunE = func(c *cobra.Command, args []string) error {
		if *seeds < 1 {
			return command.Usagef("--seeds is %d, want at least 1", *seeds)
		}
		tried := map[string][]experiment.Claim{}
		for _, s := range sources {
			if len(args) == 1 && args[0] != s.Name {
				continue
			}
			claims, err := s.Claims(experiment.Options{Seeds: *seeds, Stop: c.Context().Done()},
				func(name string) func(done, all int) { return progress(said, s.Name+", "+name) })
			if err == nil && *form == "table" {
				err = showClaims(out, s.Name+", "+s.Title, claims)
			}
			if tried[s.Name] = claims; err != nil {
				return fmt.Errorf("source %s: %w", s.Name, errors.Join(c.Context().Err(), err))
			}
		}
		if *form == "table" {
			return nil
		}
		return form.figures(out, tried)
	}
	return c
}

// showClaims prints claims as a table, and below it why their bands are what they are.
func showClaims(out io.Writer, source string, claims []experiment.Claim) error {
	var rows [][]string
	var bands []string
	for _, c := range claims {
		verdict := "holds"
		if !c.Holds {
			verdict = "differs: " + c.Why
		}
		if band := fmt.Sprintf("%s, %s: %s\n", c.Table, c.Measure, c.Band.Reason); !slices.Contains(bands, band) {
			bands = append(bands, band)
		}
		rows = append(rows, []string{c.Table, c.Case, c.Measure, cmp.Or(c.Says, fmt.Sprintf("%.3g", c.Theirs)),
			fmt.Sprintf("%.3g (%.3g to %.3g, n=%d)", c.Ours, c.Least, c.Most, c.Seeds), c.Band.String(), verdict})
	}
	fmt.Fprintf(out, "%s: %d of %d claims hold\n", source, experiment.Held(claims), len(claims))
	fault := table(out, []string{"TABLE", "CASE", "MEASURE", "THEIRS", "OURS", "BAND", "RESULT"}, rows)
	_, err := fmt.Fprintf(out, "The bands:\n%s", strings.Join(bands, ""))
	return errors.Join(fault, err)
}
