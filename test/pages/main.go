package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/sparkpacer/pacer/cli"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/cli/config"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pages DIRECTORY")
		os.Exit(64)
	}
	seconds, _ := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err := write(os.Args[1], time.Unix(seconds, 0).UTC()); err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
}

// write makes the files of all programs, with at as the day of the manual pages.
func write(dir string, at time.Time) error {
	man := filepath.Join(dir, "share/man/man1")
	if err := os.MkdirAll(man, 0o755); err != nil {
		return err
	}
	var faults []error
	for _, c := range append(command.Daemons(), cli.Program()) {
		c.DisableAutoGenTag = true
		faults = append(faults, doc.GenManTree(c, &doc.GenManHeader{Section: "1", Date: &at,
			Source: "Pacer " + config.Release(), Manual: "Pacer"}, man), completion(c, dir))
	}
	return errors.Join(faults...)
}

func completion(c *cobra.Command, dir string) error {
	var faults []error
	for path, script := range map[string]func(io.Writer) error{
		"share/bash-completion/completions/" + c.Name(): func(w io.Writer) error { return c.GenBashCompletionV2(w, true) },
		"share/zsh/site-functions/_" + c.Name():         c.GenZshCompletion,
		"share/fish/vendor_completions.d/" + c.Name() + ".fish": func(w io.Writer) error {
			return c.GenFishCompletion(w, true)
		},
	} {
		var text bytes.Buffer
		if err := script(&text); err != nil {
			faults = append(faults, err)
			continue
		}
		file := filepath.Join(dir, path)
		faults = append(faults, os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text.Bytes(), 0o644))
	}
	return errors.Join(faults...)
}
