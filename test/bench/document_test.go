package main

import (
	"bytes"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/test/benchline"
)

var sourcesLine = regexp.MustCompile(`(?m)^The sources are (\S+)\.`)

// docs/figures.md is what `make figures` makes of docs/figures.jsonl, not edited since:
// with the sources of the day when it was written, which are not today's.
func TestTheDocumentIsWrittenFromTheLines(t *testing.T) {
	document, err := os.ReadFile("../../docs/figures.md")
	if os.IsNotExist(err) {
		document = nil
	} else if err != nil {
		t.Fatal(err)
	}
	lines, err := benchline.Read("../../docs/figures.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile("../../docs/figures.jsonl")
	if n := bytes.Count(body, []byte("\n")); err != nil || n != len(lines) {
		t.Errorf("docs/figures.jsonl has %d lines for %d figures (%v): run make figures", n, len(lines), err)
	}
	m := sourcesLine.FindSubmatch(document)
	if m == nil {
		if len(document) > 0 || len(lines) > 0 {
			t.Errorf("docs/figures.md does not say of which sources it is, with %d lines there: run make figures", len(lines))
		}
		return
	}
	var text bytes.Buffer
	if err := benchline.Render(&text, lines, string(m[1]), goals()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(text.String(), string(document)); d != "" {
		t.Errorf("docs/figures.md was edited, or make figures was not run: %s", d)
	}
}
