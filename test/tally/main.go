package main

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout)) }

// event is a line of `go test -json`.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
	FailedBuild                               string
	// Key and Value are those of an attribute.
	Key, Value string
}

// repeated is the attribute of a test that makes a second attempt.
const repeated = "repeated"

type tally struct {
	w                                 io.Writer
	passed, failed, skipped, repeated int
	// may are the tests that may be skipped; nil for any. With strict another's skip
	// is a failure.
	may    skips
	listed bool
	strict bool
	// reasons are a package's listed skips, by reason.
	reasons map[string]map[string]int
	// output holds what each test and package printed until it is known whether
	// that matters; parents are tests with sub-tests, which do not count.
	output  map[string][]string
	parents map[string]bool
	// inPackage counts a package's failed tests; slow are its lines on long ones.
	inPackage map[string]int
	slow      map[string][]string
	// faults are what failed tests say of it, for the end: the output of one on real
	// Spark has pages of log.
	faults []string
}

// long is the time in seconds from which a test's own is printed.
const long = 10

func run(args []string, in io.Reader, w io.Writer) int {
	t := &tally{w: w, output: map[string][]string{}, parents: map[string]bool{}, inPackage: map[string]int{},
		slow:    map[string][]string{},
		reasons: map[string]map[string]int{}}
	flags := flag.NewFlagSet("tally", flag.ContinueOnError)
	flags.SetOutput(w)
	file := flags.String("skips", "", "`file` of the tests that may be skipped")
	tier := flags.String("tier", "", "tier of that file's lines")
	flags.BoolVar(&t.strict, "strict", false, "any other skip is a failure")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *file != "" {
		var err error
		if t.may, err = readSkips(*file, *tier); err != nil {
			fmt.Fprintln(w, "tally:", err)
			t.failed++
		}
		t.listed = true
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 1<<20), 64<<20)
	for lines.Scan() {
		t.line(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(w, "tally:", err)
		t.failed++
	}
	for _, dir := range flags.Args() {
		t.junit(dir)
	}
	for _, fault := range t.faults {
		fmt.Fprint(w, fault)
	}
	text := fmt.Sprintf("%d passed, %d failed", t.passed, t.failed)
	if t.skipped > 0 {
		text += fmt.Sprintf(", %d skipped", t.skipped)
	}
	if t.repeated > 0 {
		text += fmt.Sprintf(", %d second attempts", t.repeated)
	}
	fmt.Fprintln(w, text)
	if t.failed > 0 || t.passed == 0 {
		return 1
	}
	return 0
}

func (t *tally) line(line []byte) {
	var e event
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &e) != nil {
		fmt.Fprintf(t.w, "%s\n", line)
		return
	}
	key := e.Package + " " + e.Test
	switch e.Action {
	case "run":
		if parent := strings.LastIndexByte(e.Test, '/'); parent > 0 {
			t.parents[e.Package+" "+e.Test[:parent]] = true
		}
	case "output":
		t.output[key] = append(t.output[key], e.Output)
	case "build-output":
		fmt.Fprint(t.w, e.Output)
	case "attr":
		if e.Key == repeated {
			t.repeated++
			fmt.Fprintf(t.w, "again %s %s: %s\n", e.Package, e.Test, e.Value)
		}
	case "pass", "fail", "skip":
		t.end(e, key)
	}
}

// end counts a test, or prints a package's line.
func (t *tally) end(e event, key string) {
	if e.Test == "" {
		t.endPackage(e, key)
		return
	}
	if e.Elapsed >= long && !strings.Contains(e.Test, "/") {
		t.slow[e.Package] = append(t.slow[e.Package], fmt.Sprintf("          %-46s %6.1fs\n", e.Test, e.Elapsed))
	}
	if e.Action == "fail" {
		t.inPackage[e.Package]++
		for _, text := range t.output[key] {
			fmt.Fprint(t.w, text)
		}
		t.faults = append(t.faults, faults(e.Test, t.output[key])...)
	}
	if e.Action == "skip" {
		if !t.skip(e.Package, e.Test, reason(t.output[key])) {
			t.inPackage[e.Package]++
			e.Action = "fail"
		}
	}
	delete(t.output, key)
	if t.parents[key] && e.Action != "fail" {
		return
	}
	switch e.Action {
	case "pass":
		t.passed++
	case "skip":
		t.skipped++
	case "fail":
		t.failed++
	}
}

// skip prints that a test was skipped and reports whether it may be. What is listed
// has a line for each reason, at the end of its package.
func (t *tally) skip(pkg, test, why string) bool {
	if t.may.has(pkg, test) {
		if t.reasons[pkg] == nil {
			t.reasons[pkg] = map[string]int{}
		}
		t.reasons[pkg][why]++
		return true
	}
	word, note, may := "skip", "", true
	if t.listed {
		note = " (not in the list of skips)"
		if t.strict {
			word, may = "FAIL", false
		}
	}
	fmt.Fprintf(t.w, "%s  %s %s%s%s\n", word, pkg, test, why, note)
	return may
}

// said is how many lines of a failed test's own are printed at the end.
const said = 5

// faults are the last lines of output that a test printed itself, after its name.
func faults(test string, output []string) []string {
	lines := []string{"failed " + test + "\n"}
	for _, text := range output {
		if strings.Contains(text, "_test.go:") {
			lines = append(lines, "  "+text)
		}
	}
	return slices.Delete(lines, 1, max(1, len(lines)-said))
}

// reason is what a test that was skipped has said of it, "" for nothing: go test
// prints FILE:LINE: before.
func reason(output []string) string {
	for _, text := range output {
		if _, why, found := strings.Cut(text, ".go:"); found {
			_, why, _ = strings.Cut(why, ": ")
			return ": " + strings.TrimSpace(why)
		}
	}
	return ""
}

func (t *tally) endPackage(e event, key string) {
	if e.Action == "fail" {
		// Tests that ran when it ended have no end of their own, and what they said is why.
		for _, of := range slices.Sorted(maps.Keys(t.output)) {
			if strings.HasPrefix(of, key) {
				fmt.Fprint(t.w, strings.Join(t.output[of], ""))
			}
		}
		if t.inPackage[e.Package] == 0 {
			t.failed++ // It did not build, panicked outside a test, or ran out of time.
		}
	}
	delete(t.output, key)
	word := map[string]string{"pass": "ok  ", "fail": "FAIL", "skip": "-   "}[e.Action]
	fmt.Fprintf(t.w, "%s  %-50s %6.1fs\n", word, e.Package, e.Elapsed)
	for _, line := range t.slow[e.Package] {
		fmt.Fprint(t.w, line)
	}
	for _, why := range slices.Sorted(maps.Keys(t.reasons[e.Package])) {
		fmt.Fprintf(t.w, "          %d skipped%s\n", t.reasons[e.Package][why], why)
	}
	// The package may come again: real Spark runs do.
	delete(t.slow, e.Package)
	delete(t.reasons, e.Package)
}

// junit counts the test cases of a directory's XML reports.
func (t *tally) junit(dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, "TEST-*.xml")) // The pattern is well-formed.
	for _, name := range files {
		body, err := os.ReadFile(name)
		var suite struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Errors   int    `xml:"errors,attr"`
			Skipped  int    `xml:"skipped,attr"`
			Cases    []struct {
				Name    string    `xml:"name,attr"`
				Class   string    `xml:"classname,attr"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		}
		if err == nil {
			err = xml.Unmarshal(body, &suite)
		}
		if err != nil {
			fmt.Fprintf(t.w, "tally: %s: %v\n", name, err)
			t.failed++
			continue
		}
		bad := suite.Failures + suite.Errors
		t.failed += bad
		t.skipped += suite.Skipped
		for _, c := range suite.Cases {
			if c.Skipped != nil && !t.skip(c.Class, c.Name, "") {
				t.failed++
				t.skipped--
			}
		}
		t.passed += suite.Tests - bad - suite.Skipped
		fmt.Fprintf(t.w, "ok    %s (%d tests)\n", suite.Name, suite.Tests)
	}
}
