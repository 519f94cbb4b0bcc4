package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// SubmitNames are the names under which this binary is `pacer submit`. Orchestrators start a program by one of the
// first three, and by no other.
var SubmitNames = []string{"spark-submit", "spark2-submit", "spark3-submit", "pacer-submit"}

// linkCommand makes links to this binary under SubmitNames.
func linkCommand(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use: "link DIR", Short: "Make links by which programs that start spark-submit start pacer submit",
		Long: "Make links in DIR under which this binary is `pacer submit`: spark-submit, spark2-submit, " +
			"spark3-submit and pacer-submit. Put DIR first in the PATH of an orchestrator's workers. Spark's own " +
			"spark-submit is found behind it in PATH, or by SPARK_HOME.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			own, err := os.Executable()
			if err != nil {
				return fmt.Errorf("link: %w", err)
			}
			for _, name := range SubmitNames {
				path := filepath.Join(args[0], name)
				err := os.Symlink(own, path)
				if errors.Is(err, fs.ErrExist) && isPacer(path) {
					err = nil
				}
				if err != nil {
					return fmt.Errorf("link: %w", err)
				}
				fmt.Fprintln(stdout, path)
			}
			return nil
		},
	}
}

// isPacer reports whether a path leads to this binary.
func isPacer(path string) bool {
	own, err := os.Executable()
	if err != nil {
		return false
	}
	a, err1 := os.Stat(path)
	b, err2 := os.Stat(own)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}
