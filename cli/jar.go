package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/cli/command"
	pacerspark "github.com/sparkpacer/pacer/spark"
)

func jarCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{
		Use: "jar", Short: "Print the path of the jar for Spark (for --jars)", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, err := sh.jarPath()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(sh.Stdout, path)
			return err
		},
	}
	c.AddCommand(&cobra.Command{
		Use: "install SPARK_HOME", Short: "Put the jar into a Spark distribution, so that no --jars is needed",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := installJar(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(sh.Stdout, path)
			return err
		},
	})
	return c
}

// jarPath writes the jar that this binary carries to the user's cache and
// returns its path.
func (sh *shell) jarPath() (string, error) {
	cache := sh.getenv("XDG_CACHE_HOME")
	if cache == "" {
		home := cmp.Or(sh.getenv("HOME"), os.TempDir())
		cache = filepath.Join(home, ".cache")
	}
	path, err := pacerspark.Install(filepath.Join(cache, "pacer"))
	if err != nil {
		return "", fmt.Errorf("write the jar: %w", err)
	}
	return path, nil
}

// installJar puts the jar into home/jars, in one step for whoever reads there.
func installJar(home string) (string, error) {
	if len(pacerspark.Jar) == 0 {
		return "", pacerspark.ErrNoJar
	}
	jars := filepath.Join(home, "jars")
	if _, err := os.Stat(home); err != nil {
		return "", fmt.Errorf("install the jar: %w", err)
	}
	if !isDir(jars) {
		return "", command.Usagef("%s is no Spark distribution: there is no %s", home, jars)
	}
	path := filepath.Join(jars, installedJar)
	f, err := os.CreateTemp(jars, ".pacer-spark-*")
	if err != nil {
		return "", fmt.Errorf("install the jar: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // It is gone after the rename.
	_, err = f.Write(pacerspark.Jar)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", fmt.Errorf("install the jar: %w", err)
	}
	return path, nil
}

// jar returns what has to be added to --jars: nothing when the distribution holds the
// jar already, and executors are started with its jars.
func (l *launch) jar() (string, error) {
	if l.sp.home == "" {
		return l.jarPath()
	}
	path := filepath.Join(l.sp.home, "jars", installedJar)
	installed, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return l.jarPath()
	}
	if err != nil {
		return "", fmt.Errorf("installed jar: %w", err)
	}
	if !bytes.Equal(installed, pacerspark.Jar) {
		// Spark's own class path goes first, so the other version would win.
		return "", command.Usagef("%s is of another version of Pacer: run pacer jar install %s", path, l.sp.home)
	}
	if l.attaches() {
		return l.jarPath()
	}
	return "", nil
}
