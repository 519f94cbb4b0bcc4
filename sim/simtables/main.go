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
	if flags.NArg() < 1 {
		return errors.New("want a document")
	}
	matched := 0
	for _, path := range flags.Args() {
		n, err := writeDocument(path, *only, w)
		if err != nil {
			return err
		}
		matched += n
	}
	if matched == 0 {
		return fmt.Errorf("%s: no region's mark contains %q", strings.Join(flags.Args(), ", "), *only)
	}
	return nil
}

// writeDocument writes the regions of a document whose marks contain only, and returns how many there are.
func writeDocument(path, only string, w io.Writer) (matched int, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("read the document: %w", err)
	}
	after, err := rewrite(string(text), func(r region) (string, error) {
		if !strings.Contains(r.mark, only) {
			return r.body, nil
		}
		matched++
		began := time.Now()
		body, err := render(r)
		fmt.Fprintf(w, "%s:%d: %s: %.1f s\n", path, r.line, r.mark, time.Since(began).Seconds())
		return body, err
	})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(after), 0o644); err != nil {
		return 0, fmt.Errorf("write the document: %w", err)
	}
	return matched, nil
}
