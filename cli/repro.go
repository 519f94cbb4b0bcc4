package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
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
			"is ours, and whether that lies in the claim's band. A figure that differs is no failure. Numbers that a\n" +
			"publication prints and nothing tries are listed with the reason. The publications:"}
	for _, s := range sources {
		c.ValidArgs, c.Long = append(c.ValidArgs, s.Name), c.Long+"\n  "+s.Name+"  "+s.Title
	}
	form, seeds := outputFlag(c), c.Flags().Int("seeds", 3, "how often each case is run")
	c.RunE = func(c *cobra.Command, args []string) error {
		if *seeds < 1 {
			return command.Usagef("--seeds is %d, want at least 1", *seeds)
		}
		all := map[string]tried{}
		for _, s := range sources {
			if len(args) == 1 && args[0] != s.Name {
				continue
			}
			claims, err := s.Claims(experiment.Options{Seeds: *seeds, Stop: c.Context().Done()},
				func(name string) func(done, all int) { return progress(said, s.Name+", "+name) })
			if err != nil {
				return fmt.Errorf("source %s: %w", s.Name, errors.Join(c.Context().Err(), err))
			}
			prints, err := s.Prints()
			if err != nil {
				return err
			}
			found := tried{Claims: claims}
			for _, p := range prints {
				if p.Reason != "" {
					found.NotTried = append(found.NotTried, p)
				}
			}
			if all[s.Name] = found; *form == "table" {
				if err := showClaims(out, s.Name+", "+s.Title, found); err != nil {
					return err
				}
			}
		}
		if *form == "table" {
			return nil
		}
		return form.figures(out, all)
	}
	return c
}

// tried is what came of the numbers of a source.
type tried struct {
	Claims   []experiment.Claim `json:"claims"`
	NotTried []registry.Printed `json:"not_tried"`
}

// showClaims prints claims as a table, and below it why their bands are what they are, and what nothing tries.
func showClaims(out io.Writer, source string, found tried) error {
	claims, left, untried := found.Claims, 0, [][]string(nil)
	for _, p := range found.NotTried {
		left += p.Count
		untried = append(untried, []string{p.Where, strconv.Itoa(p.Count), p.Says, p.Reason})
	}
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
	fmt.Fprintf(out, "%s: %d of %d claims hold, %d more numbers of it are not tried\n", source, experiment.Held(claims),
		len(claims), left)
	fault := table(out, []string{"TABLE", "CASE", "MEASURE", "THEIRS", "OURS", "BAND", "RESULT"}, rows)
	fmt.Fprintf(out, "The bands:\n%s", strings.Join(bands, ""))
	if len(untried) > 0 {
		fmt.Fprintln(out, "Not tried:")
		fault = errors.Join(fault, table(out, []string{"WHERE", "NUMBERS", "OF WHAT", "WHY NOT"}, untried))
	}
	return fault
}
