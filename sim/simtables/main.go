package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

func main() {
	if err := write(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "simtables:", err)
		os.Exit(1)
	}
}

// write does what a command line says and tells w what it is at.
func write(args []string, w io.Writer) error {
	flags := flag.NewFlagSet("simtables", flag.ContinueOnError)
	flags.SetOutput(w)
	only := flags.String("only", "", "write the regions whose mark contains this")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("want one document")
	}
	path := flags.Arg(0)
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	matched := 0
	after, err := rewrite(string(text), func(r region) (string, error) {
		if !strings.Contains(r.mark, *only) {
			return r.body, nil
		}
		matched++
		began := time.Now()
		body, err := render(r)
		fmt.Fprintf(w, "%s:%d: %s: %.1f s\n", path, r.line, r.mark, time.Since(began).Seconds())
		return body, err
	})
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case matched == 0:
		return fmt.Errorf("%s: no region's mark contains %q", path, *only)
	}
	if err := os.WriteFile(path, []byte(after), 0o644); err != nil {
		return fmt.Errorf("write the document: %w", err)
	}
	return nil
}
