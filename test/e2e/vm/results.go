package vm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// Result is a test's.
type Result struct {
	Test string
	// Action is pass, fail or skip; "" for a test that did not end.
	Action string
	Output string
}

// SuiteResult is what a suite's run gave.
type SuiteResult struct {
	Name string
	// Fault says how the test binary ended; "" is well.
	Fault string
	// Tests are in the order in which they began, sub-tests after their parents.
	Tests []Result
	// Output is what belongs to no test.
	Output string
}

// Parse reads what a machine's runner wrote (package guest). A suite that did not
// end has a fault.
func Parse(ctx context.Context, stream []byte) ([]SuiteResult, error) {
	text := strings.ReplaceAll(string(stream), "\r\n", "\n") // A terminal's line ends.
	var suites []SuiteResult
	for _, part := range strings.Split(text, "\x01suite ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		s := SuiteResult{Name: name, Fault: "it did not end"}
		output, end, ended := strings.Cut(rest, "\x01end "+name+": ")
		if how, _, _ := strings.Cut(end, "\n"); ended {
			s.Fault = strings.TrimPrefix(how, "ok")
		}
		if err := s.tests(ctx, output); err != nil {
			return nil, fmt.Errorf("vm: results of %s: %w", name, err)
		}
		suites = append(suites, s)
	}
	return suites, nil
}

// tests fills in the tests from the output of a test binary.
func (s *SuiteResult) tests(ctx context.Context, output string) error {
	convert := exec.CommandContext(ctx, "go", "tool", "test2json")
	convert.Stdin = strings.NewReader(output)
	events, err := convert.Output()
	if err != nil {
		return err
	}
	index := map[string]int{}
	for lines := json.NewDecoder(bytes.NewReader(events)); ; {
		var e struct{ Action, Test, Output string }
		if err := lines.Decode(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if e.Test == "" {
			s.Output += e.Output
			continue
		}
		i, known := index[e.Test]
		if !known {
			i = len(s.Tests)
			index[e.Test] = i
			s.Tests = append(s.Tests, Result{Test: e.Test})
		}
		s.Tests[i].Output += e.Output
		if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
			s.Tests[i].Action = e.Action
		}
	}
}
