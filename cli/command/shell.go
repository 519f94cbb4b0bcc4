package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/cli/config"
)

// Shell is what a command sees of the world around it. Its methods are for one
// goroutine.
type Shell struct {
	// Name is the program's, in front of its errors.
	Name  string
	Stdin io.Reader
	// Stdout and Stderr escape what others say that a terminal would obey; see Raw.
	Stdout, Stderr io.Writer
	// Environ is the environment as os.Environ gives it.
	Environ []string

	// ConfigPath, Planner and Sets are what flags say: the configuration file, the
	// planner's address, and KEY=VALUE.
	ConfigPath, Planner string
	Sets                []string

	warned []string
}

// NewShell returns a shell on the process's environment.
func NewShell(name string, stdin io.Reader, stdout, stderr io.Writer) *Shell {
	return &Shell{Name: name, Stdin: stdin, Stdout: terminal{stdout}, Stderr: terminal{stderr}, Environ: os.Environ()}
}

// say prints a line for the user.
func (sh *Shell) say(line string) { fmt.Fprintln(sh.Stdout, line) }

// Config reads the configuration for this call; see config.Load for what is checked.
// Its error has the exit code ExitConfig.
func (sh *Shell) Config() (config.Config, error) {
	from := config.Sources{File: sh.ConfigPath, Environ: sh.Environ, Sets: sh.Sets}
	if sh.Planner != "" {
		from.Sets = append(from.Sets, "client.planner="+sh.Planner)
		if err := config.ValidateServer(sh.Planner); err != nil {
			return config.Config{}, Usagef("--planner %w", err)
		}
	}
	cfg, err := config.Load(from)
	for _, line := range cfg.Ignored {
		if !slices.Contains(sh.warned, line) {
			sh.warned = append(sh.warned, line)
			fmt.Fprintf(sh.Stderr, "%s: %s\n", sh.Name, line)
		}
	}
	switch {
	case unread(err):
		return cfg, Coded(ExitNoInput, err)
	case err != nil:
		return cfg, Coded(ExitConfig, err)
	}
	return cfg, nil
}

// Execute runs a root command with args, to which it adds the flags that all programs
// have, turns its error into a line and returns the exit code.
func (sh *Shell) Execute(ctx context.Context, root *cobra.Command, args []string) int {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(sh.Stdin)
	root.SetOut(sh.Stdout)
	root.SetErr(sh.Stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return Usagef("%s", wanted(err.Error())) })
	flags := root.PersistentFlags()
	flags.StringVar(&sh.ConfigPath, "config", "",
		"configuration file (default: $PACER_CONFIG, the user's, /etc/pacer/config.yaml)")
	flags.StringArrayVar(&sh.Sets, "set", nil, "override a configuration key, KEY=VALUE (repeatable)")
	wrapArgs(root)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	var c *codedError
	if errors.As(err, &c) && c.err == nil {
		return c.code
	}
	fmt.Fprintf(sh.Stderr, "%s: %s\n", sh.Name, oneLine(err))
	if c == nil && strings.HasPrefix(err.Error(), "unknown command") {
		return ExitUsage // cobra has no type for it.
	}
	if cause := context.Cause(ctx); errors.Is(err, context.Canceled) && cause != nil &&
		strings.HasPrefix(cause.Error(), syscall.SIGTERM.String()) {
		return ExitSignal + int(syscall.SIGTERM)
	}
	return ExitCode(err)
}

// suggested is where cobra lists commands that an unknown one may be.
var suggested = regexp.MustCompile(`\n+Did you mean this\?\n`)

// oneLine joins the lines of an error that lists faults.
func oneLine(err error) string {
	text := err.Error()
	if at := suggested.FindStringIndex(text); at != nil {
		text = text[:at[0]] + ": did you mean " + strings.Join(strings.Fields(text[at[1]:]), ", ") + "?"
	}
	return strings.ReplaceAll(text, "\n", "; ")
}

// parsed is what Go's parsers say of a value.
var parsed = regexp.MustCompile(`(strconv\.Parse(Int|Uint|Float|Bool)|time): .*$`)

// wanted is what is said of a flag, with the value that it wants in place of the parser's words.
func wanted(text string) string {
	return parsed.ReplaceAllStringFunc(text, func(by string) string {
		switch {
		case strings.HasPrefix(by, "time"):
			return "want a time such as 90s or 15m"
		case strings.HasPrefix(by, "strconv.ParseFloat"):
			return "want a number"
		case strings.HasPrefix(by, "strconv.ParseBool"):
			return "want true or false"
		}
		return "want a whole number"
	})
}

// wrapArgs gives errors about the number of arguments, and about flags that exclude each other, the exit code of a
// wrong command line.
func wrapArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			var c2 *codedError
			if err := cmp.Or(check(c, args), c.ValidateFlagGroups()); errors.As(err, &c2) {
				return err
			} else if err != nil {
				return Usagef("%w (see %s --help)", err, c.CommandPath())
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		wrapArgs(sub)
	}
}
