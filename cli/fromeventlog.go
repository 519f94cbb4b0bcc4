package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/cli/fromlog"
	"github.com/sparkpacer/pacer/infra/eventlog"
)

func (of profileCommands) fromEventLog() *cobra.Command {
	sh := of.sh
	var name, all string
	var put bool
	c := &cobra.Command{Use: "from-eventlog PATH...", Short: "Make profiles of Spark's event logs, without a run",
		Long: "Make profiles of the event logs of Spark 3.5 to 4.3 (docs/profile.md): files, directories of\n" +
			"logs in several files, - for standard input, or with --all each log in a directory. The oldest\n" +
			"run comes first, and each is merged as a run is, under the name that it would have. It prints the\n" +
			"profiles, and what became of each log to standard error. With --put it stores them; without, it\n" +
			"needs no planner."}
	c.Flags().StringVar(&name, "name", "", "one name for all (default: the applications', without dates and ids)")
	c.Flags().StringVar(&all, "all", "", "directory of which each log is read, as a history server has it")
	c.Flags().BoolVar(&put, "put", false, "merge into what the planner has stored, and store it")
	c.RunE = func(c *cobra.Command, paths []string) error {
		if all != "" {
			more, err := eventlog.Logs(all)
			if err != nil {
				return err
			}
			paths = append(paths, more...)
		}
		if len(paths) == 0 {
			return command.Usagef("want the path of an event log, - or --all DIR")
		}
		if err := there(paths); err != nil {
			return err
		}
		known := func(string) (*api.Profile, error) { return nil, nil }
		if put {
			known = func(name string) (*api.Profile, error) { return of.stored(c.Context(), name) }
		}
		made, became, err := fromlog.Shelve(readLogs(sh.Stdin, paths), name, known)
		if err != nil {
			return err
		}
		if len(became) == 1 && became[0].As == fromlog.Skipped {
			return command.Usagef("%s makes no profile: %s", became[0].Path, became[0].Why)
		}
		out := sh.Stderr
		if put {
			out = sh.Stdout
		}
		if err := printBecame(out, became); err != nil {
			return err
		}
		if !slices.ContainsFunc(became, func(b fromlog.Became) bool { return b.As != fromlog.Skipped }) {
			return command.Usagef("no log of %d makes a profile", len(became))
		}
		for i := range made {
			if put {
				err = sh.order(c, api.VerbProfilePut, api.ControlRequest{Profile: made[i].Name, Body: &made[i]})
			} else {
				err = writeProfile(sh.Stdout, &made[i])
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

// stored is the profile of that name that counts for the caller, nil where there is none.
func (of profileCommands) stored(ctx context.Context, name string) (*api.Profile, error) {
	p, err := of.one(ctx, api.ControlRequest{Profile: name})
	switch {
	case api.KindOf(err) == api.KindNotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &p, nil
}

func writeProfile(w io.Writer, p *api.Profile) error {
	body, err := p.Encode()
	if err != nil {
		return err
	}
	_, err = w.Write(body)
	return err
}

// readLogs reads the logs at paths, "-" for standard input; those that cannot be read have the fault.
func readLogs(in io.Reader, paths []string) []fromlog.Log {
	logs := make([]fromlog.Log, len(paths))
	for i, path := range paths {
		sources := []eventlog.Source{{Name: path, Open: func() (io.ReadCloser, error) { return io.NopCloser(in), nil }}}
		var err error
		if path != "-" {
			sources, err = eventlog.Open(path)
		}
		logs[i].Path = path
		if err == nil {
			logs[i].Application, err = eventlog.Read(sources, nil)
		}
		logs[i].Fault = err
	}
	return logs
}

func printBecame(w io.Writer, became []fromlog.Became) error {
	rows := make([][]string, 0, len(became))
	for _, b := range became {
		rows = append(rows, []string{b.Path, dash(b.Name), b.As, dash(b.Why)})
	}
	return table(w, []string{"LOG", "PROFILE", "BECAME", "WHY"}, rows)
}

// there returns an error for the first event log that is not there.
func there(paths []string) error {
	for _, path := range paths {
		if _, err := os.Stat(path); path != "-" && errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("event log: %w", err)
		}
	}
	return nil
}
